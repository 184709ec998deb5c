// Names of images of optoacoustic data, one a wavelength of light.
#pragma once

#include <string>
#include <string_view>

#include "base/units.hpp"

namespace echoform {

/// The image where there is one wavelength, or the mean over several.
inline constexpr std::string_view tomogram = "image";

/// The name in nanometres, to at least six digits: "750nm", "730.5nm". Wavelengths with the same name are the same.
[[nodiscard]] std::string name_of_wavelength(Metres wavelength);

}  // namespace echoform
