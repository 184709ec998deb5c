// How values become 8 bits.
#pragma once

#include <compare>
#include <cstdint>

#include "base/interval.hpp"
#include "base/value_scale.hpp"

namespace echoform {

enum class ReferenceMode : std::uint8_t { fixed, running };

struct Compression {
  static constexpr Interval dynamic_ranges{1.0, 200.0};  // dB
  static constexpr Interval gains{-200.0, 200.0};        // dB
  static constexpr Interval running_fractions{1e-6, 1.0};

  double dynamic_range_db = 40.0;
  double gain_db = 0.0;
  ReferenceMode reference = ReferenceMode::running;
  double reference_value = 1.0;  ///< envelope shown as 0 dB with a fixed reference; > 0, a normal float
  /// The part of the distance that the running reference moves towards a frame's peak when that is lower. It takes a higher
  /// peak at once, so nothing saturates. 1 follows every frame.
  double running_fraction = 0.1;
  ScaleKind scale = ScaleKind::decibels;  ///< follows from the kind of values; users do not choose it
  double end = 0.0;                       ///< end of a scale of numbers; 0: the reference less the gain is the end

  bool masked = false;  ///< decibels only: pixels may have no value (NaN), which alone becomes level 0

  auto operator<=>(const Compression&) const = default;
};

}  // namespace echoform
