// A pixel of an image that fades.
#pragma once

#include "gpu/host_device.hpp"
#include "stages/raw_rows/sample_math.hpp"

namespace echoform {

/// What is shown of x where `before` was kept: their mean by the share of the latter, or x itself where that is no finite number.
ECHOFORM_HOST_DEVICE float faded(float before, float x, float share) {
  const float mixed = share * before + (1.0F - share) * x;
  return is_invalid_float(__builtin_bit_cast(std::uint32_t, mixed)) ? x : mixed;
}

/// What is kept then.
ECHOFORM_HOST_DEVICE float kept_of(float before, float shown) {
  return is_invalid_float(__builtin_bit_cast(std::uint32_t, shown)) ? before : shown;
}

}  // namespace echoform
