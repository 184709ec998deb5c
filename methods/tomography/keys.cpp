#include "methods/tomography/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "config/key_types.hpp"
#include "methods/tomography/section.hpp"
#include "methods/unmixing_settings.hpp"

namespace echoform {
namespace {

/// The key of a text that names a file. The file is resolved once, from the configuration's folder: live changes belong to no
/// file.
Key file_key(Key key, std::string TomographySection::*place) {
  key.names_file = true;
  key.read = [expected = key.expected(), place](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string name = keys::read_text(node, where, expected);
    tomography(into).*place = name.empty() ? name : named_file(into, name).string();
  };
  return key;
}

void add_sizes_key(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(file_key(
      text(
          {"tomography", "detector_sizes", "",
           "CSV file with what each detector stands for of the surface around the object, a number a line: m^2, or m of "
           "what lies in a plane; for each element, or for each A-scan of a frame. Relative to the configuration's folder."},
          "by how the detectors lie", any_text, [](auto& c) -> auto& { return tomography(c).detector_sizes; }),
      &TomographySection::detector_sizes));
}

void add_impulse_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(file_key(
      text(
          {"tomography", "impulse_response", "",
           "CSV file with the impulse response of the detectors, a number a line, at the sample rate of the data: A-scans are "
           "deconvolved by it. Relative to the configuration's folder."},
          "", any_text, [](auto& c) -> auto& { return tomography(c).impulse_response; }),
      &TomographySection::impulse_response));
  k.push_back(integer(
      {"tomography", "impulse_zero", "", "Which sample of impulse_response, from 0, is at the time of the pressure.",
       "that of the greatest magnitude", LiveEffect::imaging},
      within(0, static_cast<double>(DeconvolutionOptions::most_samples - 1)),
      [](auto& c) -> auto& { return tomography(c).impulse_zero; }));
  k.push_back(number(
      {"tomography", "impulse_centre", "Hz", "Of a Gaussian impulse response instead of a file.", "0, with impulse_bandwidth",
       LiveEffect::imaging},
      within(0.0, 1e9), [](auto& c) -> auto& { return tomography(c).impulse_centre; }));
  k.push_back(number(
      {"tomography", "impulse_bandwidth", "Hz", "Of a Gaussian impulse response, between half amplitudes.", "no Gaussian",
       LiveEffect::imaging},
      within(1.0, 1e9), [](auto& c) -> auto& { return tomography(c).impulse_bandwidth; }));
  k.push_back(number(
      {"tomography", "impulse_noise", "",
       "Of the deconvolution: power of noise against that of the response where it is strongest.", "0.01", LiveEffect::imaging},
      within(DeconvolutionOptions::noises), [](auto& c) -> auto& { return tomography(c).impulse_noise; }));
  k.push_back(number(
      {"tomography", "impulse_cutoff", "Hz", "Of the deconvolution: where its Hann window over frequencies ends.",
       "half the sample rate", LiveEffect::imaging},
      within(1.0, 1e9), [](auto& c) -> auto& { return tomography(c).impulse_cutoff; }));
}

}  // namespace

std::vector<Section> tomography_sections() {
  return {{"tomography", "Optoacoustic tomography ([imaging] method = \"tomography\", docs/tomography.md)."},
          {"unmixing",
           "Spectral unmixing of images at several wavelengths ([imaging] method = \"tomography\", docs/tomography.md) and of "
           "volumes "
           "(`echoform reconstruct`, docs/reconstruct.md)."}};
}

void add_tomography_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(word(
      {"tomography",
       "algorithm",
       "",
       "fbp: filtered back-projection, for detectors on a sphere or a ring; ubp: universal back-projection, for those on a plane "
       "or anywhere too; delay_and_sum: the mean of what detectors received.",
       {},
       LiveEffect::imaging},
      words::tomography_algorithm, [](auto& c) -> auto& { return tomography(c).algorithm; }));
  k.push_back(word(
      {"tomography",
       "normalise",
       "",
       "What sums are divided by. ideal: the whole solid angle; actual: what the detectors take up of it, seen from each voxel, "
       "which evens out views that are limited; of delay_and_sum their number, or the sum of their directivities.",
       {},
       LiveEffect::imaging},
      words::share_divisor, [](auto& c) -> auto& { return tomography(c).normalise; }));
  k.push_back(word(
      {"tomography",
       "solid_angle",
       "",
       "The whole solid angle: full, 4 pi, of arrays all around; half, 2 pi, of planes and hemispheres; in a plane 2 pi and pi. "
       "auto: by how the detectors lie.",
       {},
       LiveEffect::imaging},
      words::whole_angle, [](auto& c) -> auto& { return tomography(c).solid_angle; }));
  add_sizes_key(k);
  k.push_back(word(
      {"tomography",
       "pulse_energy",
       "",
       "divided: A-scans are brought to the mean energy of the pulses of light, which events must state; ignored: they are taken "
       "as they are.",
       {},
       LiveEffect::imaging},
      words::pulse_energy_use, [](auto& c) -> auto& { return tomography(c).pulse_energy; }));
  k.push_back(integer(
      {"tomography",
       "directivity_power",
       "",
       "Detectors count with this power of the cosine between their normal and the way to the voxel.",
       {},
       LiveEffect::imaging},
      within(0, BackProjectionOptions::most_cosine_power), [](auto& c) -> auto& { return tomography(c).directivity_power; }));
  k.push_back(number(
      {"tomography", "directivity_angle", "degrees", "Farther off their normal than this, detectors do not count.",
       "everywhere, of fbp and delay_and_sum; 90, of ubp", LiveEffect::imaging},
      within(TomographySection::angles), [](auto& c) -> auto& { return tomography(c).directivity_angle; }));
  k.push_back(number(
      {"tomography", "object_velocity", "m/s",
       "Speed of sound within the object, an ellipsoid; outside it is [material] longitudinal_velocity. Rays are straight.",
       "one speed everywhere", LiveEffect::imaging},
      within(1.0, 1e5), [](auto& c) -> auto& { return tomography(c).object_velocity; }));
  k.push_back(number_triple(
      {"tomography", "object_centre", "m", "Of the object, along x, y and z.", {}, LiveEffect::imaging}, within(-10.0, 10.0),
      [](auto& c) -> auto& { return tomography(c).object_centre; }));
  k.back().only_where = "tomography.object_velocity";
  k.push_back(number_list(
      {"tomography", "object_radii", "m", "Of the object: one, of a sphere, or three along x, y and z.", "no object",
       LiveEffect::imaging},
      within(1e-6, 10.0), 3, [](auto& c) -> auto& { return tomography(c).object_radii; }));
  k.push_back(word(
      {"tomography",
       "shown",
       "",
       "signed: initial pressure as it is computed, shown on a scale with 0 in the middle; envelope: its magnitude, shown in "
       "decibels; non_negative: without what is negative, shown from 0.",
       {},
       LiveEffect::imaging},
      words::shown_part, [](auto& c) -> auto& { return tomography(c).shown; }));
  k.push_back(number_list(
      {"tomography",
       "wavelengths",
       "m",
       "Of light: an image is made of each, named \"750nm\". Empty: of all that there are, and of several their mean, named "
       "\"image\", before them.",
       {},
       LiveEffect::imaging},
      within(1e-9, 1e-3), TomographySection::most_wavelengths, [](auto& c) -> auto& { return tomography(c).wavelengths; }));
  add_impulse_keys(k);
  add_unmixing_keys(k);
}

void check_tomography(const ImagingSettings& settings) {
  const TomographySection& section = tomography(settings);
  const auto refuse = [&](std::string_view key, const std::string& found, const std::string& expected) {
    throw InputError(settings.place(fmt::format("[tomography] {}", key)), found, expected);
  };
  const std::size_t radii = section.object_radii.size();
  if (!section.detector_sizes.empty() && section.algorithm == TomographyAlgorithm::delay_and_sum)
    refuse("detector_sizes", "algorithm = \"delay_and_sum\", whose detectors count alike", "no such key, or another algorithm");
  if (radii == 2) refuse("object_radii", "two of them", "one, or three along x, y and z");
  if (section.object_velocity && radii == 0) refuse("object_radii", "none, with object_velocity", "radii of the object in m");
  if (!section.object_velocity && radii != 0) refuse("object_velocity", "none, with object_radii", "its speed of sound in m/s");
  if (!section.impulse_response.empty() && section.impulse_bandwidth) {
    refuse("impulse_bandwidth", "a Gaussian beside impulse_response", "one of them");
  }
  if (section.impulse_centre && !section.impulse_bandwidth) {
    refuse("impulse_bandwidth", "none, with impulse_centre", "its width in Hz");
  }
  if (section.impulse_zero && section.impulse_response.empty()) {
    refuse("impulse_response", "none, with impulse_zero", "the name of a file");
  }
  if (!section.deconvolves() && (section.impulse_noise || section.impulse_cutoff)) {
    refuse(section.impulse_noise ? "impulse_noise" : "impulse_cutoff", "without an impulse response",
           "impulse_response or impulse_bandwidth beside it");
  }
  const std::vector<Metres>& lights = section.wavelengths;
  for (std::size_t k = 0; k < lights.size(); ++k) {
    if (std::find(lights.begin(), lights.begin() + static_cast<std::ptrdiff_t>(k), lights[k]) ==
        lights.begin() + static_cast<std::ptrdiff_t>(k)) {
      continue;
    }
    refuse("wavelengths", fmt::format("{:g} nm twice", 1e9 * lights[k].value), "each once");
  }
  check_unmixing_section(settings);
}

}  // namespace echoform
