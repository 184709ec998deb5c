// The loops of the compression.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"
#include "stages/compression/compression_math.hpp"

namespace echoform {

struct CompressionKernels {
  /// Bits of the largest finite envelope of a row, 0 if there is none above 0.
  std::uint32_t (*peak)(const std::uint32_t* envelope, std::size_t count);
  std::uint32_t (*peak_of_magnitudes)(const std::uint32_t* values, std::size_t count);
  void (*compress)(const std::uint32_t* envelope, std::uint8_t* out, std::size_t count, CompressionCurve curve);
  void (*compress_masked)(const std::uint32_t* envelope, std::uint8_t* out, std::size_t count, CompressionCurve curve);
  void (*levels_of_numbers)(const std::uint32_t* values, std::uint8_t* out, std::size_t count, CompressionCurve curve);

  [[nodiscard]] auto levels(LevelKind kind) const {
    return kind == LevelKind::numbers ? levels_of_numbers : kind == LevelKind::masked_decibels ? compress_masked : compress;
  }
};

/// All levels give the same bits.
[[nodiscard]] CompressionKernels compression_kernels(SimdLevel level);

[[nodiscard]] CompressionKernels compression_kernels_portable();
[[nodiscard]] CompressionKernels compression_kernels_avx2();
[[nodiscard]] CompressionKernels compression_kernels_avx512();

}  // namespace echoform
