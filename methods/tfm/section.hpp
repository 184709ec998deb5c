// The part of a configuration that belongs to the total focusing method alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/beamform/apodization_options.hpp"
#include "stages/beamform/interpolation.hpp"

namespace echoform {

enum class CropWish : std::uint8_t {
  live,    ///< live runs are cropped to the gate, recordings are not
  always,  ///< recordings too
  never,
};

/// How travel times of rays through and off surfaces are computed.
enum class TravelTimes : std::uint8_t {
  exact,         ///< a ray for every element and pixel
  interpolated,  ///< between fewer rays, where the times of a pair stay within a hundredth of the probe's period
};

/// Keys of [imaging], and [apodization].
struct TfmSection {
  std::string delay_law = "contact";
  TravelTimes travel_times = TravelTimes::exact;
  std::vector<std::string> views{"LL"};
  Interpolation interpolation = Interpolation::linear;
  double accuracy = 1e-3;  ///< ImagingPlan::accuracy
  CropWish crop = CropWish::live;
  std::vector<std::size_t> events;  ///< events of a frame that are imaged; empty: all
  std::size_t compounded = 0;       ///< how many of them, evenly spread; 0: all
  ApodizationWindow event_window = ApodizationWindow::none;
  std::size_t guard = 64;  ///< samples on either side of the gate; methods/tfm/gate.hpp states the reason
  Apodization apodization;
  AdaptiveOptions adaptive;               ///< its window follows from the one below
  std::optional<double> adaptive_window;  ///< periods of the centre frequency; none: the kind's usual one
};

/// The section in a configuration, to read or to change.
[[nodiscard]] inline const TfmSection& tfm(const ImagingSettings& settings) {
  return section<TfmSection>(settings);
}
[[nodiscard]] inline TfmSection& tfm(ImagingSettings& settings) {
  return section<TfmSection>(settings);
}

}  // namespace echoform
