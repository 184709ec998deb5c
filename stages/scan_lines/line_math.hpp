// Arithmetic of sums along lines for kernels on a GPU, one place at a time.
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::scan_lines {

/// The path difference |p - e| - r, in samples, of a receiver described as in LineReceiver; 0 where all lengths are 0.
ECHOFORM_HOST_DEVICE float longer_way_to(float range, float along, float square, float across_square) {
  const float x = range - along;
  const float distance = sqrtf(fmaf(x, x, across_square));
  return fmaf(-2.0F * along, range, square) / fmaxf(distance + range, 1e-20F);
}

/// A place as a whole sample and a fraction: whole + floor(t), t - floor(t).
struct SamplePlace {
  std::int32_t whole;
  float fraction;
};
ECHOFORM_HOST_DEVICE SamplePlace place_of(std::int32_t whole, float t) {
  const float below = floorf(t);
  return {whole + static_cast<std::int32_t>(below), t - below};
}

/// The piece of TapTable in which a fraction lies, and the place within the piece. A fraction just below 1 may have been
/// rounded to 1, which is the end of the last one.
struct TapPiece {
  std::int32_t index;
  float within;
};
ECHOFORM_HOST_DEVICE TapPiece tap_piece(float fraction, std::int32_t pieces) {
  const float g = fraction * static_cast<float>(pieces);
  const float piece = fminf(floorf(g), static_cast<float>(pieces - 1));
  return {static_cast<std::int32_t>(piece), g - piece};
}

}  // namespace echoform::scan_lines
