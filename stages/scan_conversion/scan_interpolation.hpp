// How scan conversions look up between the pixels of their input.
#pragma once

#include <cstdint>

#include "base/interval.hpp"

namespace echoform {

enum class ScanInterpolation : std::uint8_t { nearest, bilinear, cubic };

/// Of the free parameter of cubic convolution, Keys' alpha.
inline constexpr Interval cubic_alphas{-3.0, 0.0};

}  // namespace echoform
