// The rows of a code by which the elements of a probe fire together.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

struct TransmitCode {
  std::size_t events = 0;
  std::size_t elements = 0;
  std::vector<double> weights;  ///< [event, element]; 0: silent
  std::vector<bool> dead;       ///< by element: a dead element transmits nothing, whatever its weights

  [[nodiscard]] friend bool operator==(const TransmitCode&, const TransmitCode&) = default;
};

/// The code of a validated acquisition. Throws InputError, naming `where`, if the events are no rows of a code, if elements
/// fire with delays, or if some receiver records only some of the events, since nothing could be decoded for it.
[[nodiscard]] TransmitCode transmit_code(const Acquisition& acquisition, std::string_view where);

}  // namespace echoform
