// Names of images that optoacoustic data make, one a wavelength of light.
#pragma once

#include <string>
#include <string_view>

#include "base/units.hpp"

namespace echoform {

/// The image where there is one wavelength, or the mean over several.
inline constexpr std::string_view tomogram = "image";

/// "750nm", "730.5nm": in nanometres, to six digits at least. Wavelengths of one name are one.
[[nodiscard]] std::string name_of_wavelength(Metres wavelength);

}  // namespace echoform
