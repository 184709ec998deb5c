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
  /// Of the running reference: the part of the way that it moves towards each frame's peak when that is lower. A higher
  /// peak is taken at once, so nothing saturates. 1 follows every frame.
  double running_fraction = 0.1;
  ScaleKind scale = ScaleKind::decibels;  ///< by what the values are; nothing that users choose
  double end = 0.0;  ///< of scales of numbers: what is shown as their end instead of the reference less the gain; 0: that is

  bool masked = false;  ///< of decibels: pixels may have no value (NaN), which is level 0, and nothing else is

  auto operator<=>(const Compression&) const = default;
};

}  // namespace echoform
