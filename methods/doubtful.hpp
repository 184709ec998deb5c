// Values that are legal and cannot be meant: told with a guess at the mistake, wherever they come from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/detectors.hpp"
#include "config/configuration.hpp"

namespace echoform {

/// Of a configuration alone, a line each that names it and the key: velocities below 300 or above 12000 m/s, shear waves that are
/// not slower than longitudinal ones, places, pitches and sizes a thousand times off, frequencies that look like MHz and times
/// that look like us, sampling below twice the upper end of the probe's band, balls whose sound
/// lasts fewer than 4 samples.
[[nodiscard]] std::vector<std::string> doubtful_settings(const Configuration& configuration);

/// The same of what frames are imaged with, `acquisition` and `material` as the configuration has replaced what data state: of
/// those values that come from the data; `wedge_velocity` as StatedByData has it.
[[nodiscard]] std::vector<std::string> doubtful_data(const ImagingSettings& settings, const Acquisition& acquisition,
                                                     const Material& material, MetresPerSecond wedge_velocity = {});

/// A line that names `where`, of a frequency that looks like MHz or kHz; nothing of others, and of none.
[[nodiscard]] std::vector<std::string> doubtful_frequency(std::string_view where, std::optional<Hertz> value);

/// What places of detectors that are farther than 1 m from their middle are likely to be, as what is expected: "metres: mm, for
/// 0.04 m?". Nothing of others.
[[nodiscard]] std::optional<std::string> doubtful_places(std::span<const Detector> detectors);

}  // namespace echoform
