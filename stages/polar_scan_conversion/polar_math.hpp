// Arithmetic of the polar scan conversion, the same bits on host and device.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::polar {

/// Where a pixel lies on an axis of `count` samples, as a fixed-point number: bit_width(count) bits of cell, then the offset
/// within it. Since cells are below `count`, all ones is never a place: as a place along the beam it means "outside".
inline constexpr std::uint32_t outside = 0xffffffffu;

/// Size of the tile of the image that a block of threads of a GPU makes. A thread makes four pixels side by side. A warp is
/// two threads wide and 16 high, since pixels below each other use the same beams and so the same cache lines. Four warps
/// stand side by side.
inline constexpr std::uint32_t tile_columns = 32;
inline constexpr std::uint32_t tile_rows = 16;

ECHOFORM_HOST_DEVICE std::uint32_t cell_of(std::uint32_t place, unsigned cell_bits) {
  return place >> (32u - cell_bits);
}
/// Offset within the cell in [0, 1), to 2^-23. It becomes the fraction bits of a float in [1, 2).
ECHOFORM_HOST_DEVICE float offset_of(std::uint32_t place, unsigned cell_bits) {
  return __builtin_bit_cast(float, 0x3f800000u | ((place << cell_bits) >> 9)) - 1.0F;
}

ECHOFORM_HOST_DEVICE float lerp(float a, float b, float offset) {
  return a + offset * (b - a);
}

/// Keys' kernel at 1 + v, v, 1 - v and 2 - v, in factors: a (x - 1) (x - 2)^2 for 1 <= x < 2.
struct CubicWeights {
  float w0, w1, w2, w3;
};
ECHOFORM_HOST_DEVICE CubicWeights cubic_weights(float v, float alpha) {
  const float c = 1.0F - v;
  const float p = alpha + 2.0F;
  const float q = alpha + 3.0F;
  const float ends = alpha * (v * c);
  return {ends * c, (p * v - q) * (v * v) + 1.0F, (p * c - q) * (c * c) + 1.0F, ends * v};
}
ECHOFORM_HOST_DEVICE float cubic_sum(const CubicWeights& w, float a, float b, float c, float d) {
  return (w.w0 * a + w.w1 * b) + (w.w2 * c + w.w3 * d);
}

}  // namespace echoform::polar
