// Back-projection onto whole volumes on a GPU, from terms in device memory. In builds with CUDA code.
#pragma once

#include "benchmarks/tomography.hpp"
#include "methods/tomography/section.hpp"

namespace echoform::benchmarks {

struct ProjectionOnGpu {
  double pairs = 0.0;       ///< of a voxel and a detector
  Spread seconds;           ///< by the stage alone: from terms to the image, by events of the device
  Spread rate;              ///< pairs a second
  double difference = 0.0;  ///< relative L2 of some voxels, from sums in double precision
};

/// Measures all planes of the case. Its `plain_planes` and `threads` are ignored.
[[nodiscard]] ProjectionOnGpu measure_projection_on_gpu(const ProjectionCase& test, TomographyAlgorithm algorithm);

}  // namespace echoform::benchmarks
