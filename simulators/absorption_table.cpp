#include "simulators/absorption_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"

namespace echoform {

AbsorptionTable read_absorption_table(const std::string& path, const std::string& key, std::size_t substances,
                                      std::string_view columns) {
  const std::string file = fmt::format("a CSV file with lines of wavelength in nm, {}", columns);
  const std::string row = fmt::format("wavelength in nm, {}", columns);
  const CsvFormat format{.file = file,
                         .row = row,
                         .line = row,
                         .number = "a number",
                         .rows = "wavelengths",
                         .least = substances + 1,
                         .most = substances + 1};
  AbsorptionTable table;
  table.absorption.resize(substances);
  for (const std::vector<double>& numbers : read_csv_numbers(path, key, format)) {
    const Metres wavelength(1e-9 * numbers[0]);
    if (!(numbers[0] > 0.0) || (!table.wavelengths.empty() && !(wavelength > table.wavelengths.back()))) {
      throw InputError(path, fmt::format("{:g} nm", numbers[0]), "wavelengths above 0 that grow from line to line");
    }
    table.wavelengths.push_back(wavelength);
    for (std::size_t m = 0; m < substances; ++m) {
      if (!(numbers[m + 1] >= 0.0)) {
        throw InputError(path, fmt::format("{:g} at {:g} nm", numbers[m + 1], numbers[0]), "absorption of at least 0");
      }
      table.absorption[m].push_back(numbers[m + 1]);
    }
  }
  if (table.wavelengths.size() < 2) throw InputError(path, fmt::format("{} wavelengths", table.wavelengths.size()), "at least 2");
  return table;
}

double absorption_at(std::span<const Metres> wavelengths, std::span<const double> values, Metres wavelength) {
  const Metres place = std::clamp(wavelength, wavelengths.front(), wavelengths.back());
  const auto above = std::upper_bound(wavelengths.begin(), wavelengths.end(), place);
  const std::size_t right =
      std::clamp<std::size_t>(static_cast<std::size_t>(above - wavelengths.begin()), 1, wavelengths.size() - 1);
  const double part = (place - wavelengths[right - 1]).value / (wavelengths[right] - wavelengths[right - 1]).value;
  return values[right - 1] + part * (values[right] - values[right - 1]);
}

}  // namespace echoform
