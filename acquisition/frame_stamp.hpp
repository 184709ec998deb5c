// The metadata of a frame.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.hpp"

namespace echoform {

/// Count of the probe's encoder: raw, as the instrument reads it. The code that uses a count defines its meaning. Any number
/// but `no_position` is valid.
using EncoderCount = std::int64_t;

/// Stands for "none" in fields that must hold a number; it is refused as a count.
inline constexpr EncoderCount no_position = std::numeric_limits<EncoderCount>::min();

/// Places that have no word for a part of it leave that out.
struct FrameStamp {
  std::uint64_t sequence = 0;
  WallTime acquisition_time{0};               ///< 0: unknown
  std::optional<EncoderCount> position = {};  ///< where the probe was; none: unknown
};

}  // namespace echoform
