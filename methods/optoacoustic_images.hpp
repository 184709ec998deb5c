// What optoacoustic images hold, and how they are shown: live images, images of recordings and reconstructions alike.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "base/meaning.hpp"
#include "base/value_scale.hpp"
#include "stages/mean_image/mean_image.hpp"

namespace echoform {

struct ImageQuantity {
  Meaning pixels;
  ValueScale scale{};
};

/// The quantity of an image that shows numbers with a sign, their magnitudes (in decibels), or only values of at least 0.
/// Its unit is that of the samples, which recordings do not state.
[[nodiscard]] inline ImageQuantity quantity_of(std::string_view name, ShownPart shown) {
  switch (shown) {
    case ShownPart::magnitude:
      return {{std::string(name) + ", magnitude", ""}, {ScaleKind::decibels}};
    case ShownPart::non_negative:
      return {{std::string(name), ""}, {ScaleKind::from_zero}};
    case ShownPart::signed_values:
      break;
  }
  return {{std::string(name), ""}, {ScaleKind::symmetric}};
}

/// The part of a value that is shown. NaN stays.
[[nodiscard]] inline float shown_value(float value, ShownPart shown) {
  switch (shown) {
    case ShownPart::magnitude:
      return std::abs(value);
    case ShownPart::non_negative:
      return value < 0.0F ? 0.0F : value;
    case ShownPart::signed_values:
      break;
  }
  return value;
}

[[nodiscard]] inline ImageQuantity initial_pressure(ShownPart shown) {
  return quantity_of("initial pressure", shown);
}
[[nodiscard]] inline ImageQuantity concentration(ShownPart shown) {
  return quantity_of("concentration", shown);
}
/// Oxygen saturation, from 0 to 1. A pixel has no value where there is too little blood to measure it.
[[nodiscard]] inline ImageQuantity oxygen_saturation() {
  return {{"oxygen saturation", ""}, {.kind = ScaleKind::from_zero, .end = 1.0, .masked = true}};
}

}  // namespace echoform
