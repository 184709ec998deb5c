// What the keys of live optoacoustic images mean for volumes that a model explains (`echoform reconstruct`): those that are done
// there too, and those that are refused since no model does them. Each is declared once, where the keys are.
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

/// A key of the section of live images, and what volumes make of it.
struct VolumeKey {
  std::string_view name;
  /// What stands in its place; empty where volumes do what it says.
  std::string_view instead;
};
/// Every key of that section.
[[nodiscard]] std::span<const VolumeKey> volume_keys();

/// What a detector makes of a pressure: at sample n SUM over k of samples[k] p[n + zero - k].
struct DetectorResponse {
  std::vector<double> samples;  ///< at the rate of the data; finite
  std::size_t zero = 0;         ///< which of them is at the time of the pressure
};

/// What that section asks of volumes.
struct VolumeSettings {
  std::vector<Metres> wavelengths;           ///< of light, whose volumes are made; empty: none is named
  std::string wavelengths_place;             ///< how messages name that key
  std::vector<float> event_gains;            ///< by event, of its A-scans, for the energy of its light; empty: 1 of all
  std::optional<DetectorResponse> response;  ///< of the detectors, where it is stated
  ShownPart shown = ShownPart::signed_values;
};

/// Throws InputError, naming configuration and key: values that contradict each other, and those that volumes cannot do. Values
/// that ask for what volumes do in any case pass: the defaults, and an object in which sound is as fast as around it.
/// `velocity` is that of sound around the object where data state it; absent: as the configuration has it, if it does.
void check_volume_settings(const Configuration& configuration, std::optional<MetresPerSecond> velocity = {});

/// Of data of passive events like `acquisition`, overridden already. Throws InputError for a file of a response that is none, a
/// Gaussian response that the sample rate does not hold, and events without an energy by which A-scans are to be divided.
[[nodiscard]] VolumeSettings volume_settings(const ImagingSettings& settings, const Acquisition& acquisition);

}  // namespace echoform
