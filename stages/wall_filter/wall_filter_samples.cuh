// How kernels of the wall filter read the samples of ensembles. This header is for *.cu files.
#pragma once

#include "stages/wall_filter/wall_filter_launch.hpp"

namespace echoform {

/// Sample `row`, counted over all lines, at range k.
template <bool planar>
__device__ __forceinline__ float2 wall_filter_sample(const WallFilterSamples& of, std::size_t row, std::size_t k) {
  const float* const samples = of.in + row * of.stride;
  if constexpr (planar) return {__ldg(samples + k), __ldg(samples + of.quadrature + k)};
  return __ldg(reinterpret_cast<const float2*>(samples) + k);
}

}  // namespace echoform
