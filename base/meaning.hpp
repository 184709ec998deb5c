// What numbers are.
#pragma once

#include <string>

namespace echoform {

/// The name and unit of numbers, for programs that show them.
struct Meaning {
  std::string name;  ///< "amplitude", "x", "absorbed energy"
  std::string unit;  ///< "m", "dB"; empty where there is none

  [[nodiscard]] friend bool operator==(const Meaning&, const Meaning&) = default;
};

}  // namespace echoform
