// [unmixing]: the concentrations of light-absorbing components, from images at several wavelengths.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/units.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixing/unmixing.hpp"

namespace echoform {

/// The components that are known without a file, and the image of their quotient, HbO2 / (HbO2 + Hb).
inline constexpr std::string_view oxygenated_name = "HbO2";
inline constexpr std::string_view deoxygenated_name = "Hb";
inline constexpr std::string_view saturation_image = "saturation";

struct UnmixingSection {
  std::vector<std::string> components;  ///< empty: nothing is unmixed
  std::string spectra;                  ///< name of a file; empty: the spectra of haemoglobin
  bool non_negative = false;
  double threshold = 0.1;  ///< threshold of the saturation
};

[[nodiscard]] inline const UnmixingSection& unmixing(const ImagingSettings& settings) {
  return section<UnmixingSection>(settings);
}
[[nodiscard]] inline UnmixingSection& unmixing(ImagingSettings& settings) {
  return section<UnmixingSection>(settings);
}

void add_unmixing_keys(std::vector<Key>& keys);
/// Checks [unmixing] before any data is there. Throws InputError, naming configuration and key.
void check_unmixing_section(const ImagingSettings& settings);
/// Names of the images that [unmixing] makes; none where it makes none.
[[nodiscard]] std::vector<std::string> unmixed_images(const UnmixingSection& section);

struct UnmixingPlan {
  std::vector<std::string> components;
  UnmixingOptions options;                        ///< for the images of the wavelengths, in their order
  std::optional<UnmixedImageOptions> saturation;  ///< where both forms of haemoglobin are components
};

/// The light of an image that is unmixed.
struct UnmixedLight {
  Metres wavelength;    ///< 0 where unknown
  double energy = 1.0;  ///< mean of its pulses, over that of all wavelengths; 1 where one is not known
};
/// The light of each of these wavelengths; some passive event of the acquisition has it.
[[nodiscard]] std::vector<UnmixedLight> lights_of(const Acquisition& acquisition, std::span<const Metres> wavelengths);

/// How images of these wavelengths are unmixed; nothing where they are not. Images are assumed to be energy times
/// absorption. So where the energy of every wavelength's pulses is known, absorptions are multiplied by it, relative to the
/// mean energy of all wavelengths. Throws InputError, naming configuration and key, for wavelengths that are unknown, too
/// few, beyond the spectra, or unable to distinguish the components.
[[nodiscard]] std::optional<UnmixingPlan> resolve_unmixing(const ImagingSettings& settings, std::span<const UnmixedLight> lights);

}  // namespace echoform
