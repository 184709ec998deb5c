// [input.us_lab4a]: an array behind a server of us_lab4a's protocol as a source of frames.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace echoform {

struct UsLab4aSection {
  std::string connect;  ///< empty: no such instrument
  // The probe.
  std::size_t elements = 64;
  Metres pitch{0.6e-3};
  std::optional<Metres> element_width;  ///< absent: unknown
  Hertz centre_frequency{5e6};
  std::size_t base_element = 0;
  // A frame.
  std::vector<std::size_t> fire;  ///< empty: all
  Hertz sample_rate{40e6};
  Seconds acquisition_time{25e-6};
  double gain = 40.0;  ///< dB
  std::size_t pulses = 1;
  // Patience.
  Seconds answer_timeout{10.0};
};

}  // namespace echoform
