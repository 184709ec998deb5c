#include "methods/wavelength_name.hpp"

#include <fmt/format.h>

namespace echoform {

std::string name_of_wavelength(Metres wavelength) {
  return fmt::format("{:.6g}nm", 1e9 * wavelength.value);
}

}  // namespace echoform
