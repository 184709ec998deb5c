#include "simulators/haemoglobin.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/errors.hpp"
#include "simulators/absorption_table.hpp"

namespace echoform {
namespace {

constexpr double reference_wavelength = 800e-9;  // where both forms absorb nearly the same

}  // namespace

const HaemoglobinSpectra& haemoglobin_spectra() {
  static const HaemoglobinSpectra spectra{
      {Metres(700e-9), Metres(730e-9), Metres(750e-9), Metres(760e-9), Metres(800e-9), Metres(850e-9), Metres(900e-9)},
      {290.0, 390.0, 518.0, 586.0, 816.0, 1058.0, 1198.0},
      {1794.0, 1102.0, 1405.0, 1549.0, 762.0, 691.0, 762.0}};
  return spectra;
}

HaemoglobinSpectra read_haemoglobin(const std::string& path, const std::string& key) {
  AbsorptionTable table = read_absorption_table(path, key, 2, "absorption of HbO2 and of Hb in 1/cm per mol/l");
  return {std::move(table.wavelengths), std::move(table.absorption[0]), std::move(table.absorption[1])};
}

double blood_absorption(const HaemoglobinSpectra& spectra, double saturation, Metres wavelength, std::string_view where) {
  const double first = spectra.wavelengths.front().value;
  const double last = spectra.wavelengths.back().value;
  // 700e-9 as written and 700 nm as converted differ in the last digit.
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
