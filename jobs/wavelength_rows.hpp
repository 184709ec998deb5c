// The rows of a frame that belong to each wavelength of light.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/units.hpp"
#include "config/configuration.hpp"

namespace echoform {

struct WavelengthRows {
  std::string name;               ///< "750nm"
  Metres wavelength;              ///< as an event has it; 0 where unknown
  std::vector<std::size_t> rows;  ///< of the frame, ascending: rows of living detectors, at least one
};

/// Wavelengths that another section than [reconstruction] names.
struct NamedWavelengths {
  std::vector<Metres> wavelengths;
  std::string place;  ///< the key, as messages name it
};

/// The rows of each wavelength. The wavelengths are those that [reconstruction] names, in that order, else those of
/// `otherwise`, else all that the data have, ascending. The acquisition has passed validate(), and all its events are
/// passive. Throws InputError, naming configuration and key, for a wavelength that is not there or named twice, and for one
/// with dead elements only. Where all wavelengths are taken, it throws if some events state a wavelength and others do not.
[[nodiscard]] std::vector<WavelengthRows> rows_of_wavelengths(const Configuration& configuration, const Acquisition& acquisition,
                                                              const NamedWavelengths& otherwise = {});

}  // namespace echoform
