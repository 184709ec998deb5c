// How often transmit events fire, as files state it.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/ranges.hpp"

namespace echoform::formats {

/// Takes the rate of transmit events, in hertz, that a file states at `where`, if it states one; 0 is none. What cannot be one is
/// passed over, with a warning.
inline void take_pulse_repetition(std::optional<double> hertz, const std::string& where, Acquisition& acquisition,
                                  std::vector<std::string>& warnings) {
  if (!hertz || *hertz == 0.0) return;
  if (is_pulse_repetition(*hertz)) {
    acquisition.pulse_repetition = Hertz(*hertz);
  } else {
    warnings.push_back(fmt::format("{}: {:g} Hz is no rate of transmit events: passed over", where, *hertz));
  }
}

}  // namespace echoform::formats
