// How one element of the analytic signal is written on CUDA. For *.cu files.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"

namespace echoform::gpu {

/// Factors of the half path, for values and for differences.
struct HalfScale {
  float value = 1.0F;
  float slope = 0.0F;
};

__device__ __forceinline__ std::uint32_t scale_exponent(const AnalyticRows& rows) {
  const std::uint32_t exponent = half_path_exponent(*rows.peak_bits);
  return exponent > rows.headroom ? exponent - rows.headroom : 1;
}

__device__ __forceinline__ HalfScale half_scale(const AnalyticRows& rows) {
  const float k = power_of_two(scale_exponent(rows));
  return {k, rows.nearest ? 0.0F : k * 16384.0F};
}

__device__ __forceinline__ std::uint32_t saturated_half2(float re, float im) {
  const __half2 largest = __halves2half2(__ushort_as_half(0x7bff), __ushort_as_half(0x7bff));
  const __half2 value = __hmin2(__hmax2(__floats2half2_rn(re, im), __hneg2(largest)), largest);
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Element n of a row: s and its quadrature there, and at n + 1 (used on the half path with linear interpolation alone).
template <bool Half>
__device__ __forceinline__ uint2 element(float s, float q, float next_s, float next_q, HalfScale scale) {
  if constexpr (Half) {
    return make_uint2(saturated_half2(s * scale.value, q * scale.value),
                      saturated_half2((next_s - s) * scale.slope, (next_q - q) * scale.slope));
  } else {
    return make_uint2(__float_as_uint(s), __float_as_uint(q));
  }
}

/// One block writes the zeros before row 0 and the facts after the last row.
template <bool Half>
__device__ __forceinline__ void write_surroundings(const AnalyticRows& rows) {
  for (unsigned n = threadIdx.x; n < rows.lead; n += blockDim.x) rows.output[n] = make_uint2(0, 0);
  if constexpr (Half) {
    const float inverse = inverse_power_of_two(scale_exponent(rows));
    if (threadIdx.x < 16) rows.trailer[threadIdx.x] = threadIdx.x == 0 ? __float_as_uint(inverse) : 0;
  }
}

}  // namespace echoform::gpu
