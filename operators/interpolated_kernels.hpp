// The loops of the interpolated model: the samples of one ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"
#include "operators/interpolated_math.hpp"

namespace echoform::interpolated {

struct RingTask {
  Ring ring;
  Pieces pieces;
  std::size_t row = 0;    ///< floats from a voxel to the next along y
  std::size_t plane = 0;  ///< along z
  float low[3] = {};      ///< samples from here ...
  float high[3] = {};     ///< ... to before here: the image with its border, or a slab of it
};

/// The kernels of an instruction set; all sets give the same bits.
struct RingKernels {
  /// Sum of the image at the samples.
  double (*gather)(const RingTask& task, const float* image) = nullptr;
  /// Adds `value` by the same weights, in the order of samples, to planes first <= z < last alone.
  void (*scatter)(const RingTask& task, float value, float* image, std::int32_t first, std::int32_t last) = nullptr;
};

[[nodiscard]] RingKernels ring_kernels(SimdLevel level);
extern const RingKernels ring_kernels_portable;
extern const RingKernels ring_kernels_avx2;
extern const RingKernels ring_kernels_avx512;

}  // namespace echoform::interpolated
