// The loops of the scan conversion: a row of the output is a blend of input rows, resampled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"

namespace echoform {

inline constexpr std::size_t most_taps = 4;

template <class Pixel>
struct BlendRows {
  const Pixel* rows[most_taps]{};
  float weights[most_taps]{};
};

/// Taps of output pixels: tap k of pixel n is at [k * stride + n].
struct ColumnTaps {
  const std::int32_t* index = nullptr;
  const float* weight = nullptr;
  std::size_t stride = 0;
};

struct ResampleKernels {
  /// out[n] = sum over taps of weights[k] * rows[k][n].
  void (*blend_levels)(const BlendRows<std::uint8_t>& from, std::size_t taps, float* out, std::size_t count);
  void (*blend_floats)(const BlendRows<float>& from, std::size_t taps, float* out, std::size_t count);
  /// out[n] = sum over taps of weight[k][n] * row[index[k][n]].
  void (*pick_levels)(const float* row, const ColumnTaps& columns, std::size_t taps, std::uint8_t* out, std::size_t count);
  void (*pick_floats)(const float* row, const ColumnTaps& columns, std::size_t taps, float* out, std::size_t count);
};

/// All levels give the same bits.
[[nodiscard]] ResampleKernels resample_kernels(SimdLevel level);

[[nodiscard]] ResampleKernels resample_kernels_portable();
[[nodiscard]] ResampleKernels resample_kernels_avx2();
[[nodiscard]] ResampleKernels resample_kernels_avx512();

}  // namespace echoform
