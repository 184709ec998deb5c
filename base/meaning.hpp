// What numbers are.
#pragma once

#include <string>

namespace echoform {

/// What numbers are, for whoever shows them.
struct Meaning {
  std::string name;  ///< "amplitude", "x", "absorbed energy"
  std::string unit;  ///< "m", "dB"; empty where there is none

  [[nodiscard]] friend bool operator==(const Meaning&, const Meaning&) = default;
};

}  // namespace echoform
