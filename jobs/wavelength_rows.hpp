// Which rows of a frame belong to which wavelength of light.
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
  std::vector<std::size_t> rows;  ///< of the frame, ascending: of detectors that live, one at least
};

/// Wavelengths that another section than [reconstruction] names.
struct NamedWavelengths {
  std::vector<Metres> wavelengths;
  std::string place;  ///< the key, as messages name it
};

/// Of the wavelength or wavelengths that [reconstruction] names, in that order, else of `otherwise`; else of all that the data
/// have, ascending. Of an
/// acquisition of passive events alone that has passed validate(). Throws InputError, naming configuration and key: a wavelength
/// that is not there, or twice, dead elements alone, and, where all are wanted, events without a wavelength beside others.
[[nodiscard]] std::vector<WavelengthRows> rows_of_wavelengths(const Configuration& configuration, const Acquisition& acquisition,
                                                              const NamedWavelengths& otherwise = {});

}  // namespace echoform
