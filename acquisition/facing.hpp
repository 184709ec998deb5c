// Which way detectors look, in words.
#pragma once

#include <span>
#include <string>

#include "acquisition/detectors.hpp"
#include "base/units.hpp"

namespace echoform {

/// What follows "they look": "towards -z", "towards (0, 0.6, 0.8)" where all do so to a degree; "towards their middle", "away
/// from their middle", or else "in different directions". Of at least one detector.
[[nodiscard]] std::string facing_text(std::span<const Detector> detectors);

/// How far the farthest one is from the middle of all: 0 without any.
[[nodiscard]] Metres spread_of(std::span<const Detector> detectors);

}  // namespace echoform
