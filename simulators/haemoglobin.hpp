// How strongly blood absorbs light.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace echoform {

/// Molar absorption at wavelengths that grow.
struct HaemoglobinSpectra {
  std::vector<Metres> wavelengths;
  std::vector<double> oxygenated;    ///< HbO2, in 1/cm per mol/l
  std::vector<double> deoxygenated;  ///< Hb, likewise
};

/// 700 to 900 nm: at 700, 730, 750, 760, 800, 850 and 900 nm the compilation of S. Prahl (Oregon Medical Laser Center,
/// omlc.org/spectra/hemoglobin, 1998), as PATATO hands it on.
[[nodiscard]] const HaemoglobinSpectra& haemoglobin_spectra();

/// Reads spectra from a CSV file, whose lines state wavelength in nm, HbO2 and Hb. Throws InputError, naming `key` or the
/// file's line, for text that cannot be read, fewer than two lines, wavelengths that do not increase, and absorption below
/// 0.
[[nodiscard]] HaemoglobinSpectra read_haemoglobin(const std::string& path, const std::string& key);

/// Absorption of blood of oxygen saturation 0 .. 1, linear between the table's wavelengths. It is relative to the reference:
/// fully oxygenated blood at 800 nm (or at the table's wavelength nearest to that). Throws InputError (naming `where`) for a
/// wavelength beyond the table.
[[nodiscard]] double blood_absorption(const HaemoglobinSpectra& spectra, double saturation, Metres wavelength,
                                      std::string_view where);

}  // namespace echoform
