// Values that are legal but cannot be meant. They are reported with a guess at the mistake, wherever they come from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/detectors.hpp"
#include "config/configuration.hpp"

namespace echoform {

/// Warnings about a configuration alone, a line each, which names the configuration and the key. They concern:
/// - velocities below 300 or above 12000 m/s, and shear waves that are not slower than longitudinal ones,
/// - places, pitches and sizes that are wrong by a factor of a thousand,
/// - frequencies that look like MHz and times that look like us,
/// - sampling below twice the upper end of the probe's band,
/// - balls whose sound lasts fewer than 4 samples.
[[nodiscard]] std::vector<std::string> doubtful_settings(const Configuration& configuration);

/// The same warnings about the values that frames are imaged with, as far as they come from the data. The configuration has
/// already replaced what the data state in `acquisition` and `material`. `wedge_velocity` is that of StatedByData.
[[nodiscard]] std::vector<std::string> doubtful_data(const ImagingSettings& settings, const Acquisition& acquisition,
                                                     const Material& material, MetresPerSecond wedge_velocity = {});

/// A warning that names `where`, if the frequency looks like MHz or kHz; otherwise nothing, also where there is no
/// frequency.
[[nodiscard]] std::vector<std::string> doubtful_frequency(std::string_view where, std::optional<Hertz> value);

/// A guess at the unit of places of detectors that are farther than 1 m from their middle, in the form of an expectation:
/// "metres: mm, for 0.04 m?". Nothing for other places.
[[nodiscard]] std::optional<std::string> doubtful_places(std::span<const Detector> detectors);

}  // namespace echoform
