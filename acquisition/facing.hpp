// The directions in which detectors face, in words.
#pragma once

#include <span>
#include <string>

#include "acquisition/detectors.hpp"
#include "base/units.hpp"

namespace echoform {

/// The text that completes "they look ...": "towards -z" or "towards (0, 0.6, 0.8)" if all directions agree to a degree;
/// "towards their middle", "away from their middle", or else "in different directions". There must be at least one detector.
[[nodiscard]] std::string facing_text(std::span<const Detector> detectors);

/// Distance of the farthest detector from the middle of all; 0 without any.
[[nodiscard]] Metres spread_of(std::span<const Detector> detectors);

}  // namespace echoform
