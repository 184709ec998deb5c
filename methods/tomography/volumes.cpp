#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "config/key.hpp"
#include "methods/reconstructed_volumes.hpp"
#include "methods/tomography/keys.hpp"
#include "methods/tomography/raw_data.hpp"
#include "methods/tomography/section.hpp"
#include "stages/analytic_signal/row_response.hpp"

namespace echoform {
namespace {

constexpr std::string_view by_back_projection = "which back-projection alone has: [reconstruction] model and solver find volumes";
constexpr std::string_view unweighted = "models weigh no detectors; [reconstruction] rectangular_elements counts their sizes";
constexpr std::string_view no_directivity =
    "models have the directivity of elements' sizes: [reconstruction] rectangular_elements";
constexpr std::string_view one_speed = "models have one speed of sound, [material] longitudinal_velocity";
constexpr std::string_view no_deconvolution = "models convolve by the response, and nothing is deconvolved";

constexpr std::array keys_of_volumes{
    VolumeKey{"algorithm", by_back_projection},
    VolumeKey{"normalise", by_back_projection},
    VolumeKey{"solid_angle", by_back_projection},
    VolumeKey{"detector_sizes", unweighted},
    VolumeKey{"pulse_energy", {}},
    VolumeKey{"directivity_power", no_directivity},
    VolumeKey{"directivity_angle", no_directivity},
    VolumeKey{"object_velocity", one_speed},
    VolumeKey{"object_centre", one_speed},
    VolumeKey{"object_radii", one_speed},
    VolumeKey{"shown", {}},
    VolumeKey{"wavelengths", {}},
    VolumeKey{"impulse_response", {}},
    VolumeKey{"impulse_zero", {}},
    VolumeKey{"impulse_centre", {}},
    VolumeKey{"impulse_bandwidth", {}},
    VolumeKey{"impulse_noise", no_deconvolution},
    VolumeKey{"impulse_cutoff", no_deconvolution},
};

const std::vector<Key>& section_keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> keys;
    add_tomography_keys(keys);
    return keys;
  }();
  return all;
}

/// An object in which sound is as fast as around it; also where it cannot be told yet what is around it.
bool object_is_as_fast(const Configuration& configuration, MetresPerSecond velocity) {
  const auto& object = tomography(configuration).object_velocity;
  return object && (velocity.value == 0.0 || *object == velocity);
}

/// `velocity` is 0 where data may state it.
void refuse_undone_keys(const Configuration& configuration, MetresPerSecond velocity) {
  const Configuration untouched;
  for (const Key& key : section_keys()) {
    const auto use = std::ranges::find(keys_of_volumes, key.name, &VolumeKey::name);
    if (use == keys_of_volumes.end() || use->instead.empty()) continue;
    if (use->instead == one_speed && object_is_as_fast(configuration, velocity)) continue;
    const std::string value = key.show(configuration);
    if (value == key.show(untouched)) continue;
    throw InputError(configuration.place(fmt::format("[{}] {}", key.section, key.name)), value,
                     fmt::format("no such key for `reconstruct`: {}", use->instead));
  }
}

/// A Gaussian one in samples, as far as it is more than a millionth of its greatest.
DetectorResponse sampled_response(const DeconvolutionOptions& options) {
  if (options.response) return {*options.response, options.zero};
  // Its spectrum in bins that are narrow against it: what it is in time is over long before half of their period.
  constexpr double bins_of_width = 64.0;
  constexpr std::size_t most = DeconvolutionOptions::most_samples;
  const double wanted = bins_of_width * options.sample_rate.value / options.bandwidth.value;
  const auto period = static_cast<std::size_t>(std::min(std::ceil(0.5 * wanted), 0.5 * static_cast<double>(most))) * 2;
  const std::vector<double> response = impulse_response(detector_spectrum(options, period), period);
  const auto at = [&](std::size_t n) { return std::max(std::abs(response[n]), std::abs(response[(period - n) % period])); };
  double greatest = 0.0;
  for (const double value : response) greatest = std::max(greatest, std::abs(value));
  std::size_t reach = period / 2 - 1;
  while (reach > 0 && at(reach) <= 1e-6 * greatest) --reach;
  DetectorResponse sampled{{}, reach};
  for (std::size_t k = 0; k <= 2 * reach; ++k) sampled.samples.push_back(response[(k + period - reach) % period]);
  return sampled;
}

}  // namespace

std::span<const VolumeKey> volume_keys() {
  return keys_of_volumes;
}

void check_volume_settings(const Configuration& configuration) {
  check_tomography(configuration);
  refuse_undone_keys(configuration, configuration.material.longitudinal_velocity.value_or(MetresPerSecond(0.0)));
}

VolumeSettings volume_settings(const Configuration& configuration, const Acquisition& acquisition, MetresPerSecond velocity) {
  check_tomography(configuration);
  refuse_undone_keys(configuration, velocity);
  VolumeSettings settings;
  settings.wavelengths = tomography(configuration).wavelengths;
  settings.wavelengths_place = "[tomography] wavelengths";
  settings.event_gains = gains_of_events(configuration, acquisition);
  if (const auto response = stated_detector_response(configuration, acquisition.sample_rate)) {
    if (!response->response) refuse_coarse_response(configuration, *response);
    settings.response = sampled_response(*response);
  }
  settings.shown = tomography(configuration).shown;
  return settings;
}

}  // namespace echoform
