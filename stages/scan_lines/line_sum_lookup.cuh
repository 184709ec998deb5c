// A sample of a row in device memory at a place between two samples, by any delay filter: one thread per place.
#pragma once

#include <cstdint>

#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_math.hpp"

namespace echoform::gpu {
namespace {

/// A number of a row, real or complex, and the operations on it.
template <bool complex>
struct Number;

template <>
struct Number<false> {
  float re = 0.0F;
  __device__ void add(float c, const float* row, std::int32_t n) { re = fmaf(c, __ldg(row + n), re); }
};

template <>
struct Number<true> {
  float re = 0.0F;
  float im = 0.0F;
  __device__ void add(float c, const float* row, std::int32_t n) {
    const float2 z = __ldg(reinterpret_cast<const float2*>(row) + n);
    re = fmaf(c, z.x, re);
    im = fmaf(c, z.y, im);
  }
};

template <scan_lines::Lookup lookup, bool complex>
__device__ __forceinline__ Number<complex> value_at(const float* row, std::int32_t samples, std::int32_t whole, float t,
                                                    const scan_lines::TapTable& table) {
  Number<complex> value;
  if constexpr (lookup == scan_lines::Lookup::nearest) {
    const scan_lines::SamplePlace at = scan_lines::place_of(whole, t + 0.5F);
    if (static_cast<std::uint32_t>(at.whole) < static_cast<std::uint32_t>(samples)) value.add(1.0F, row, at.whole);
    return value;
  }
  scan_lines::SamplePlace at = scan_lines::place_of(whole, t);
  if (static_cast<std::uint32_t>(at.whole) >= static_cast<std::uint32_t>(samples - 1)) return value;
  if constexpr (lookup == scan_lines::Lookup::linear) {
    value.add(1.0F - at.fraction, row, at.whole);
    value.add(at.fraction, row, at.whole + 1);
    return value;
  }
  at = scan_lines::place_of(whole, t + table.offset);
  const scan_lines::TapPiece piece =
      scan_lines::tap_piece(at.fraction, static_cast<std::int32_t>(scan_lines::coefficient_pieces));
  for (std::uint32_t tap = 0; tap < table.taps; ++tap) {
    const std::int32_t n = at.whole - table.left + static_cast<std::int32_t>(tap);
    if (static_cast<std::uint32_t>(n) >= static_cast<std::uint32_t>(samples)) continue;
    const auto& k = table.cubic[tap];
    float c = fmaf(k[3][piece.index], piece.within, k[2][piece.index]);
    c = fmaf(c, piece.within, k[1][piece.index]);
    value.add(fmaf(c, piece.within, k[0][piece.index]), row, n);
  }
  return value;
}

/// Copies the filter into the block's own table. All threads of the block take part.
__device__ __forceinline__ void share_taps(const scan_lines::TapTable* taps, scan_lines::TapTable& table) {
  const auto* const from = reinterpret_cast<const std::uint32_t*>(taps);
  auto* const to = reinterpret_cast<std::uint32_t*>(&table);
  for (unsigned n = threadIdx.x; n < sizeof(scan_lines::TapTable) / sizeof(std::uint32_t); n += blockDim.x) to[n] = from[n];
  __syncthreads();
}

}  // namespace
}  // namespace echoform::gpu
