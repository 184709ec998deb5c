// Arithmetic of one pixel of an image that fades.
#pragma once

#include "gpu/host_device.hpp"
#include "stages/raw_rows/sample_math.hpp"

namespace echoform {

/// The value shown for x where `before` was kept: their mean, in which `before` has the weight `share`, or x itself where
/// the mean is not finite.
ECHOFORM_HOST_DEVICE float faded(float before, float x, float share) {
  const float mixed = share * before + (1.0F - share) * x;
  return is_invalid_float(__builtin_bit_cast(std::uint32_t, mixed)) ? x : mixed;
}

/// The value that is kept for the next frame.
ECHOFORM_HOST_DEVICE float kept_of(float before, float shown) {
  return is_invalid_float(__builtin_bit_cast(std::uint32_t, shown)) ? before : shown;
}

}  // namespace echoform
