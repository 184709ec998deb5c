// How upsampled values are made of samples in the shared memory of a tile of lines (line_tile_kernels.cuh).
//
// Whole numbers of 16 bits are filtered by products of matrices. A row of the left one are 16 samples that follow each other, two
// further from row to row; a column of the right one is a phase's filter, for the first of the row's samples or for the one
// behind it; the sample itself is a phase whose filter is 1. Samples come as 64 upper + lower, and each coefficient as the sum of
// two numbers in half precision: all four products are exact, their sums are single precision, and what a coefficient loses is
// 2^-22 of it.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_layout.cuh"

namespace echoform::gpu {
namespace {

/// Whether filters are short enough.
__host__ __device__ constexpr bool fits_matrix(unsigned taps) {
  return taps == 8 || taps == 12;
}

/// Coefficients for a thread of a warp, by how mma.m16n8k16 (PTX ISA, 9.7.14.5.8) spreads them.
struct MatrixFilters {
  std::uint32_t upper[2][2];  // [more and less significant, samples 0 .. 7 and 8 .. 15]: two each
  std::uint32_t lower[2][2];
};

template <unsigned taps>
struct MatrixShape {
  static constexpr unsigned left = (taps - 1) / 2;
  static constexpr unsigned before = left + left % 2;  // samples of a row before its first output's: even, as pairs are loaded
  static_assert(fits_matrix(taps) && taps + before - left + 1 <= 16 && before <= halo);
};

template <unsigned taps>
__device__ __forceinline__ MatrixFilters matrix_filters(const LineTiles& tiles) {
  using Shape = MatrixShape<taps>;
  const unsigned column = threadIdx.x % 32 / 4;
  const int behind = static_cast<int>(column / 4);
  const unsigned phase = column % 4;
  const auto coefficient = [&](unsigned k) {
    const int tap = static_cast<int>(k) - static_cast<int>(Shape::before - Shape::left) - behind;
    if (phase == 0) return tap == static_cast<int>(Shape::left) ? 1.0F : 0.0F;
    return tap >= 0 && tap < static_cast<int>(taps) ? tiles.phases[phase - 1][tap] : 0.0F;
  };
  const auto pair = [&](std::uint32_t(&parts)[2][2], unsigned of, float scale) {
    const unsigned k = 8 * of + 2 * (threadIdx.x % 4);
    const float first = scale * coefficient(k);
    const float second = scale * coefficient(k + 1);
    const __half2 more = __floats2half2_rn(first, second);
    const __half2 less = __floats2half2_rn(first - __low2float(more), second - __high2float(more));
    parts[0][of] = reinterpret_cast<const std::uint32_t&>(more);
    parts[1][of] = reinterpret_cast<const std::uint32_t&>(less);
  };
  MatrixFilters filters;
#pragma unroll
  for (unsigned of = 0; of < 2; ++of) {
    pair(filters.upper, of, 64.0F);
    pair(filters.lower, of, 1.0F);
  }
  return filters;
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// `from`: TileFill::store_parts(). A warp makes the values of 32 samples at a time, of one receiver.
template <unsigned taps, unsigned groups>
__device__ __forceinline__ void upsample_by_matrix(const MatrixFilters& filters, const float* from, float* to) {
  using Shape = MatrixShape<taps>;
  constexpr unsigned at_once = receivers_at_once(taps, groups);
  constexpr unsigned pieces = (tile_window + 1 + 31) / 32;  // of a receiver: one sample more for the last plane
  constexpr unsigned words = brought(taps) / 2;
  constexpr unsigned sharing = group_warps * groups / at_once;  // warps of a receiver
  static_assert(sharing * at_once == group_warps * groups && 32 * pieces <= plane_pitch && plane_pitch % 16 == 8);
  const unsigned receiver = threadIdx.x / 32 / sharing;
  const unsigned first = threadIdx.x / 32 % sharing;
  const unsigned row = threadIdx.x % 32 / 4;
  const unsigned of_four = threadIdx.x % 4;
  const auto* const uppers =
      reinterpret_cast<const std::uint32_t*>(from) + receiver * words + 16 * first + (halo - Shape::before) / 2 + row + of_four;
  const std::uint32_t* const lowers = uppers + at_once * words;
  float* const out =
      to + receiver * (planes * plane_pitch) + 32 * first + of_four % 2 * (2 * plane_pitch) + 2 * row + of_four / 2;
#pragma unroll
  for (unsigned k = 0; k < pieces; k += sharing) {
    if (k + first >= pieces) break;
    const std::uint32_t upper[4] = {uppers[16 * k], uppers[16 * k + 8], uppers[16 * k + 4], uppers[16 * k + 12]};
    const std::uint32_t lower[4] = {lowers[16 * k], lowers[16 * k + 8], lowers[16 * k + 4], lowers[16 * k + 12]};
    float sum[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    multiply_add(sum, lower, filters.lower[1]);
    multiply_add(sum, upper, filters.upper[1]);
    multiply_add(sum, lower, filters.lower[0]);
    multiply_add(sum, upper, filters.upper[0]);
    float* const at = out + 32 * k;
    at[0] = sum[0];
    at[plane_pitch] = sum[1];
    at[16] = sum[2];
    at[plane_pitch + 16] = sum[3];
    if (of_four % 2 == 0) {
      // Before the first one lies the end of the plane before, which nobody reads.
      at[4 * plane_pitch - 1] = sum[0];
      at[4 * plane_pitch + 15] = sum[2];
    }
  }
}

/// Of each sample the values behind it, by filters whose ends that are 0 are left out.
template <unsigned taps>
__device__ __forceinline__ void upsample_four(const float (&s)[20], const LineTiles& tiles, float* to) {
  constexpr unsigned left = (taps - 1) / 2;
  float phase[3][4];
#pragma unroll
  for (unsigned p = 0; p < 3; ++p) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) phase[p][k] = 0.0F;
#pragma unroll
    for (unsigned tap = p == 2 ? 1 : 0; tap < (p == 0 ? taps - 1 : taps); ++tap) {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) phase[p][k] = fmaf(tiles.phases[p][tap], s[halo + k - left + tap], phase[p][k]);
    }
  }
  *reinterpret_cast<float4*>(to) = {s[halo], s[halo + 1], s[halo + 2], s[halo + 3]};
#pragma unroll
  for (unsigned p = 0; p < 3; ++p) {
    *reinterpret_cast<float4*>(to + (p + 1) * plane_pitch) = {phase[p][0], phase[p][1], phase[p][2], phase[p][3]};
  }
  *reinterpret_cast<float4*>(to + 4 * plane_pitch) = {s[halo + 1], s[halo + 2], s[halo + 3], s[halo + 4]};
}

template <unsigned taps, unsigned groups>
__device__ __forceinline__ void upsample_all(const LineTiles& tiles, const float* from, float* to) {
  constexpr unsigned quads = tile_window / 4;
  for (unsigned item = threadIdx.x; item < receivers_at_once(taps, groups) * quads; item += tile_threads * groups) {
    const unsigned receiver = item / quads;
    const unsigned quad = item % quads;
    const auto* const samples = reinterpret_cast<const float4*>(from + receiver * brought(taps)) + quad;
    float s[20];
#pragma unroll
    for (unsigned k = 0; k < 5; ++k) {
      const float4 four = samples[k];
      s[4 * k] = four.x;
      s[4 * k + 1] = four.y;
      s[4 * k + 2] = four.z;
      s[4 * k + 3] = four.w;
    }
    upsample_four<taps>(s, tiles, to + receiver * planes * plane_pitch + 4 * quad);
  }
}

}  // namespace
}  // namespace echoform::gpu
