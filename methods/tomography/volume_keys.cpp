// The keys of [tomography] that `reconstruct` uses, and those that it refuses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "config/key.hpp"
#include "methods/reconstructed_volumes.hpp"
#include "methods/registry.hpp"
#include "methods/tomography/keys.hpp"
#include "methods/tomography/plan.hpp"
#include "methods/tomography/section.hpp"
#include "methods/unread_keys.hpp"

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

/// Whether sound in the object is as fast as around it. Also true where the velocity around it is not known yet.
bool object_is_as_fast(const ImagingSettings& settings, MetresPerSecond velocity) {
  const auto& object = tomography(settings).object_velocity;
  return object && (velocity.value == 0.0 || *object == velocity);
}

/// Refuses keys that `reconstruct` does not use. `velocity` is 0 where data may state it.
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

}  // namespace

std::span<const VolumeKey> volume_keys() {
  return keys_of_volumes;
}

void check_volume_settings(const Configuration& configuration, std::optional<MetresPerSecond> velocity) {
  check_tomography(configuration);
  // Only keys without which the volume would be wrong are refused; other keys without effect on volumes are not reported.
  static_cast<void>(find_unread_keys(configuration, *find_method(tomography_name), "`reconstruct`"));
  if (!velocity) velocity = configuration.material.longitudinal_velocity;
  refuse_undone_keys(configuration, velocity.value_or(MetresPerSecond(0.0)));
}

}  // namespace echoform
