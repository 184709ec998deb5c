// Images by the direct sum in double precision on the GPU, for errors. For *_cuda.cpp files.
#pragma once

#include <complex>
#include <vector>

#include "acquisition/pair_rows.hpp"
#include "benchmarks/device_kernels.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform::benchmarks {

struct DirectImage {
  std::vector<std::complex<double>> image;  ///< [z, y, x], scaled as the conventions say: by 1 / N^2, of waves by 1 / pairs
  double lookups = 0.0;                     ///< within the A-scan
};

/// The image of contact view `view` of a plan with a linear or matrix array at z = 0 and start time 0. `pairs` describes the
/// rows: summed pairs, pairs in both directions, or plane waves that all elements record. Weights are those of the plan,
/// which must be the same on both sides; plane waves have no weights. Waits for the result.
[[nodiscard]] DirectImage direct_image(const ImagingPlan& plan, std::size_t view, const DeviceRows& rows, const PairRows& pairs,
                                       cudaStream_t stream);

}  // namespace echoform::benchmarks
