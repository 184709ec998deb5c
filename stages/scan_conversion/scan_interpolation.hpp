// How scan conversions interpolate between the pixels of their input.
#pragma once

#include <cstdint>

#include "base/interval.hpp"

namespace echoform {

enum class ScanInterpolation : std::uint8_t { nearest, bilinear, cubic };

/// The range of the free parameter of cubic convolution, Keys' alpha.
inline constexpr Interval cubic_alphas{-3.0, 0.0};

}  // namespace echoform
