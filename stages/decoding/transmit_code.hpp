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
  std::vector<bool> dead;       ///< by element: whatever its weights, no sound comes of it

  [[nodiscard]] friend bool operator==(const TransmitCode&, const TransmitCode&) = default;
};

/// That of a validated acquisition whose events are rows of a code. Throws InputError, naming `where`, if they are none, if
/// elements fire with delays, or if some receiver records some of the events and not all: then nothing can be decoded for it.
[[nodiscard]] TransmitCode transmit_code(const Acquisition& acquisition, std::string_view where);

}  // namespace echoform
