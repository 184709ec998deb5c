// The meaning of the keys of live optoacoustic images for volumes that a model explains (`echoform reconstruct`). Some have
// the same effect there; others are refused, since no model supports them. Each is declared once, where the keys are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/units.hpp"
#include "config/configuration.hpp"
#include "stages/mean_image/mean_image.hpp"

namespace echoform {

/// A key of the section of live images, and its effect on volumes.
struct VolumeKey {
  std::string_view name;
  /// What to use in its place; empty where volumes support the key.
  std::string_view instead;
};
/// Every key of that section.
[[nodiscard]] std::span<const VolumeKey> volume_keys();

/// The response of a detector to a pressure p: its sample n is the SUM over k of samples[k] p[n + zero - k].
struct DetectorResponse {
  std::vector<double> samples;  ///< at the rate of the data; finite
  std::size_t zero = 0;         ///< index of the sample that is at the time of the pressure
};

/// What that section requests of volumes.
struct VolumeSettings {
  std::vector<Metres> wavelengths;  ///< of light, whose volumes are made; empty: none is named
  std::string wavelengths_place;    ///< how messages name that key
  std::vector<float> event_gains;   ///< factor of the A-scans of each event, for the energy of its light; empty: 1 for all
  std::optional<DetectorResponse> response;  ///< response of the detectors, where it is stated
  ShownPart shown = ShownPart::signed_values;
};

/// Throws InputError, naming configuration and key, for values that contradict each other, and for values that volumes do
/// not support. Values that request what volumes do in any case are accepted: the defaults, and an object in which sound is
/// as fast as around it. `velocity` is that of sound around the object where data state it; absent: as the configuration
/// states it, if it does.
void check_volume_settings(const Configuration& configuration, std::optional<MetresPerSecond> velocity = {});

/// The settings of volumes for data of passive events like `acquisition`, in which overrides have been applied. Throws
/// InputError for a file that is no response, a Gaussian response that the sample rate does not hold, and events without an
/// energy by which A-scans are to be divided.
[[nodiscard]] VolumeSettings volume_settings(const ImagingSettings& settings, const Acquisition& acquisition);

}  // namespace echoform
