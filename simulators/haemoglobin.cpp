#include "simulators/haemoglobin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double reference_wavelength = 800e-9;  // where both forms take up nearly the same

}  // namespace

double absorption_at(std::span<const Metres> wavelengths, std::span<const double> values, Metres wavelength) {
  const Metres place = std::clamp(wavelength, wavelengths.front(), wavelengths.back());
  const auto above = std::upper_bound(wavelengths.begin(), wavelengths.end(), place);
  const std::size_t right =
      std::clamp<std::size_t>(static_cast<std::size_t>(above - wavelengths.begin()), 1, wavelengths.size() - 1);
  const double part = (place - wavelengths[right - 1]).value / (wavelengths[right] - wavelengths[right - 1]).value;
  return values[right - 1] + part * (values[right] - values[right - 1]);
}

const HaemoglobinSpectra& haemoglobin_spectra() {
  static const HaemoglobinSpectra spectra{
      {Metres(700e-9), Metres(730e-9), Metres(750e-9), Metres(760e-9), Metres(800e-9), Metres(850e-9), Metres(900e-9)},
      {290.0, 390.0, 518.0, 586.0, 816.0, 1058.0, 1198.0},
      {1794.0, 1102.0, 1405.0, 1549.0, 762.0, 691.0, 762.0}};
  return spectra;
}

HaemoglobinSpectra read_haemoglobin(const std::string& path, const std::string& key) {
  const CsvFormat format{.file = "a CSV file with lines of wavelength in nm, HbO2, Hb",
                         .row = "wavelength in nm, absorption of HbO2 and of Hb in 1/cm per mol/l",
                         .line = "wavelength, HbO2, Hb",
                         .number = "a number",
                         .rows = "wavelengths",
                         .least = 3,
                         .most = 3};
  HaemoglobinSpectra spectra;
  for (const std::vector<double>& row : read_csv_numbers(path, key, format)) {
    const Metres wavelength(1e-9 * row[0]);
    const bool grows = spectra.wavelengths.empty() ? row[0] > 0.0 : wavelength > spectra.wavelengths.back();
    if (!grows) throw InputError(path, fmt::format("{:g} nm", row[0]), "wavelengths above 0 that grow from line to line");
    if (!(row[1] >= 0.0 && row[2] >= 0.0)) {
      throw InputError(path, fmt::format("{:g} and {:g} at {:g} nm", row[1], row[2], row[0]), "absorption of at least 0");
    }
    spectra.wavelengths.push_back(wavelength);
    spectra.oxygenated.push_back(row[1]);
    spectra.deoxygenated.push_back(row[2]);
  }
  if (spectra.wavelengths.size() < 2) {
    throw InputError(path, fmt::format("{} wavelengths", spectra.wavelengths.size()), "at least 2");
  }
  return spectra;
}

double blood_absorption(const HaemoglobinSpectra& spectra, double saturation, Metres wavelength, std::string_view where) {
  const double first = spectra.wavelengths.front().value;
  const double last = spectra.wavelengths.back().value;
  // What is written as 700e-9 and comes from 700 nm differs in the last place.
  constexpr double rounding = 1e-15;
  if (!(wavelength.value >= first - rounding && wavelength.value <= last + rounding)) {
    throw InputError(std::string(where), fmt::format("{:g} m", wavelength.value),
                     fmt::format("{:g} to {:g} m, where the absorption of blood is known", first, last));
  }
  const auto at = [&](const std::vector<double>& values, double place) {
    return absorption_at(spectra.wavelengths, values, Metres(place));
  };
  const double taken =
      saturation * at(spectra.oxygenated, wavelength.value) + (1.0 - saturation) * at(spectra.deoxygenated, wavelength.value);
  const double reference = at(spectra.oxygenated, reference_wavelength);
  if (!(reference > 0.0)) {
    throw InputError(std::string(where), "oxygenated blood that takes up nothing at 800 nm", "a table in which it does");
  }
  return taken / reference;
}

}  // namespace echoform
