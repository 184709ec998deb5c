// How strongly substances absorb light of each wavelength, as listed in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace echoform {

struct AbsorptionTable {
  std::vector<Metres> wavelengths;              ///< above 0, growing; two at least
  std::vector<std::vector<double>> absorption;  ///< [substance][wavelength], at least 0; units are the file's
};

/// Reads a CSV file whose lines have a wavelength in nm and the absorption of each substance, named in messages by `columns`.
/// Faults of the path as a whole name the key that gave it. Throws InputError.
[[nodiscard]] AbsorptionTable read_absorption_table(const std::string& path, const std::string& key, std::size_t substances,
                                                    std::string_view columns);

/// The absorption at `wavelength`: linear between the table's wavelengths, constant beyond its ends.
[[nodiscard]] double absorption_at(std::span<const Metres> wavelengths, std::span<const double> values, Metres wavelength);

}  // namespace echoform
