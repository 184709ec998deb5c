// The places of a tile's lookups. The same arithmetic serves when windows are found and when samples are looked up in them.
#pragma once

#include "stages/scan_lines/line_tile_launch.hpp"

namespace echoform::gpu {

/// 1.5 x 2^23: a number added to it becomes a whole number, and the low bits of the sum are that whole number.
inline constexpr float whole_magic = 12582912.0F;

/// The error is at most 1 unit in the last place; subnormal numbers count as 0.
__device__ __forceinline__ float quick_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float quick_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// rest + |p - e| - r, which is scan_lines::longer_way_to() with approximate roots. Its relative error is at most 3e-7.
__device__ __forceinline__ float tile_place(const TilePlace& place, float range, float rest) {
  const float x = range - place.along;
  const float square = fmaf(x, x, place.across_square);
  const float distance = square * quick_inverse_root(square);
  const float longer = fmaf(place.minus_twice, range, place.square);
  return fmaf(longer, quick_reciprocal(distance + range), rest);
}

}  // namespace echoform::gpu
