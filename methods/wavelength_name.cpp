#include "methods/wavelength_name.hpp"

#include <fmt/format.h>

namespace echoform {

std::string name_of_wavelength(Metres wavelength) {
  const double nanometres = 1e9 * wavelength.value;
  // Written without the sign of an exponent, which no name of an image may have.
  return nanometres < 1e5 ? fmt::format("{:.6g}nm", nanometres) : fmt::format("{:.0f}nm", nanometres);
}

}  // namespace echoform
