#include "methods/unmixing_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "acquisition/transmit_event.hpp"
#include "base/errors.hpp"
#include "base/interval.hpp"
#include "config/key_types.hpp"
#include "methods/wavelength_name.hpp"
#include "simulators/absorption_table.hpp"
#include "simulators/haemoglobin.hpp"

namespace echoform {
namespace {

bool is_known(std::string_view component) {
  return component == oxygenated_name || component == deoxygenated_name;
}

AbsorptionTable spectra_of(const ImagingSettings& settings, const UnmixingSection& section) {
  if (!section.spectra.empty()) {
    const std::size_t count = section.components.size();
    return read_absorption_table(section.spectra, settings.place("[unmixing] spectra"), count,
                                 fmt::format("the absorption of {} component{}", count, count == 1 ? "" : "s"));
  }
  const HaemoglobinSpectra& known = haemoglobin_spectra();
  AbsorptionTable spectra{known.wavelengths, {}};
  for (const std::string& component : section.components) {
    spectra.absorption.push_back(component == oxygenated_name ? known.oxygenated : known.deoxygenated);
  }
  return spectra;
}

/// For each wavelength's name, the mean energy of its pulses relative to that of all pulses; 1 where an energy is not known.
std::map<std::string, double> energies_of(const Acquisition& acquisition) {
  struct Sum {
    double energy = 0.0;
    double pulses = 0.0;
  };
  std::map<std::string, Sum> sums;
  bool known = true;
  for (const TransmitEvent& event : acquisition.events) {
    const auto& pulse = std::get<PassiveEvent>(event.form);
    known = known && pulse.pulse_energy > 0.0;
    Sum& sum = sums[name_of_wavelength(pulse.wavelength)];
    sum.energy += pulse.pulse_energy;
    sum.pulses += 1.0;
  }
  double mean = 0.0;
  for (const auto& [name, sum] : sums) mean += sum.energy / sum.pulses / static_cast<double>(sums.size());
  std::map<std::string, double> energies;
  for (const auto& [name, sum] : sums) energies[name] = known ? sum.energy / sum.pulses / mean : 1.0;
  return energies;
}

}  // namespace

void add_unmixing_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(text_list(
      {"unmixing", "components", "",
       "What takes up light, an image of each. HbO2 and Hb are known, and give an image \"saturation\" too; others are named by "
       "the columns of spectra.",
       "nothing is unmixed", LiveEffect::imaging},
      0, most_unmixed_components, [](auto& c) -> auto& { return unmixing(c).components; }));
  Key file = text(
      {"unmixing", "spectra", "",
       "CSV file with the absorption of the components: wavelength in nm, then a column for each of them, linear "
       "between lines. Relative to the configuration's folder.",
       "the molar absorption of HbO2 and Hb"},
      "", any_text, [](auto& c) -> auto& { return unmixing(c).spectra; });
  file.names_file = true;
  // The file is resolved once, from the configuration's folder: live changes belong to no file.
  file.read = [expected = file.expected()](ImagingSettings& into, const toml::node& node, std::string_view where) {
    const std::string name = read_text(node, where, expected);
    unmixing(into).spectra = name.empty() ? name : named_file(into, name).string();
  };
  k.push_back(std::move(file));
  k.push_back(boolean(
      {"unmixing", "non_negative", "", "Whether concentrations are fitted that are at least 0.", {}, LiveEffect::display},
      [](auto& c) -> auto& { return unmixing(c).non_negative; }));
  k.back().only_where = "unmixing.components";
  k.push_back(number(
      {"unmixing",
       "threshold",
       "",
       "The saturation is shown where HbO2 + Hb is more than this part of the image's greatest.",
       {},
       LiveEffect::display},
      within(Interval{0.0, 1.0}), [](auto& c) -> auto& { return unmixing(c).threshold; }));
  k.back().only_where = "unmixing.components";
}

void check_unmixing_section(const ImagingSettings& settings) {
  const UnmixingSection& section = unmixing(settings);
  const auto refuse = [&](std::string_view key, const std::string& found, const std::string& expected) {
    throw InputError(settings.place(fmt::format("[unmixing] {}", key)), found, expected);
  };
  if (section.components.empty() && !section.spectra.empty()) {
    refuse("components", "none, with spectra", "a name for each column of the file behind the first");
  }
  for (std::size_t m = 0; m < section.components.size(); ++m) {
    const std::string& component = section.components[m];
    const auto allowed = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
    };
    if (component.empty() || component == tomogram || component == saturation_image || !std::ranges::all_of(component, allowed)) {
      refuse("components", fmt::format("\"{}\"", component),
             fmt::format("names of letters, digits, - and _ other than \"{}\" and \"{}\"", tomogram, saturation_image));
    }
    if (section.spectra.empty() && !is_known(component)) {
      refuse("components", fmt::format("\"{}\"", component),
             fmt::format("\"{}\" and \"{}\", or spectra beside it", oxygenated_name, deoxygenated_name));
    }
    if (std::ranges::count(section.components, component) > 1) {
      refuse("components", fmt::format("\"{}\" twice", component), "each once");
    }
  }
}

std::vector<std::string> unmixed_images(const UnmixingSection& section) {
  std::vector<std::string> images = section.components;
  const auto has = [&](std::string_view name) { return std::ranges::find(section.components, name) != section.components.end(); };
  if (has(oxygenated_name) && has(deoxygenated_name)) images.emplace_back(saturation_image);
  return images;
}

std::vector<UnmixedLight> lights_of(const Acquisition& acquisition, std::span<const Metres> wavelengths) {
  const std::map<std::string, double> energies = energies_of(acquisition);
  std::vector<UnmixedLight> lights;
  for (const Metres wavelength : wavelengths) lights.push_back({wavelength, energies.at(name_of_wavelength(wavelength))});
  return lights;
}

std::optional<UnmixingPlan> resolve_unmixing(const ImagingSettings& settings, std::span<const UnmixedLight> lights) {
  const UnmixingSection& section = unmixing(settings);
  if (section.components.empty()) return std::nullopt;
  const std::size_t count = section.components.size();
  const std::size_t images = lights.size();
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw InputError(settings.place("[unmixing] components"), found, expected);
  };
  if (images < count || images > most_unmixed_wavelengths) {
    refuse(fmt::format("{} of images at {} wavelength{}", count, images, images == 1 ? "" : "s"),
           fmt::format("as many wavelengths as components at least, and at most {}", most_unmixed_wavelengths));
  }
  const AbsorptionTable spectra = spectra_of(settings, section);
  UnmixingPlan found;
  found.components = section.components;
  found.options.components = count;
  found.options.non_negative = section.non_negative;
  for (const UnmixedLight& light : lights) {
    const std::string name = name_of_wavelength(light.wavelength);
    const auto& at = spectra.wavelengths;
    // A wavelength written in m and one converted from nm may differ in the last digit.
    constexpr double rounding = 1e-15;
    if (!(light.wavelength.value >= at.front().value - rounding && light.wavelength.value <= at.back().value + rounding)) {
      refuse(fmt::format("an image at {}", name), fmt::format("wavelengths of {:g} to {:g} nm, where the absorption is known",
                                                              1e9 * at.front().value, 1e9 * at.back().value));
    }
    for (const std::vector<double>& values : spectra.absorption) {
      found.options.absorption.push_back(light.energy * absorption_at(at, values, light.wavelength));
    }
  }
  try {
    check_unmixing(found.options);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", settings.place("[unmixing] components"), error.what()));
  }
  const auto place_of = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(found.components, name) - found.components.begin());
  };
  const std::size_t oxygenated = place_of(oxygenated_name);
  const std::size_t deoxygenated = place_of(deoxygenated_name);
  if (oxygenated < count && deoxygenated < count) {
    found.saturation = UnmixedImageOptions{UnmixedKind::share, count, oxygenated, deoxygenated, section.threshold};
  }
  return found;
}

}  // namespace echoform
