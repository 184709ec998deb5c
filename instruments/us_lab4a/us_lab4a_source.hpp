// The door to an array whose server speaks us_lab4a's protocol: it connects, sets it up, and asks for shot after shot.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "acquisition/acquisition.hpp"
#include "base/clock.hpp"
#include "instruments/visits.hpp"
#include "transport/acquisition/acquisition_source.hpp"

namespace echoform::us_lab4a {

struct SourceOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 55500;
  Acquisition acquisition;  ///< a full matrix, or events of single elements that all record; samples follow from what it answers
  double sample_rate = 40e6;        ///< Hz
  double acquisition_time = 25e-6;  ///< s, of an A-scan
  double gain = 0.0;                ///< dB, as the instrument understands it
  std::uint32_t pulses = 1;         ///< periods that an element fires
  std::uint32_t base_element = 0;   ///< of the multiplexer, at the probe's element 0
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds answer_timeout{10000};
  VisitPauses pauses;
};

/// While it runs it is connected, set up and asked, over and over: what breaks off the one begins the next after a pause. A shot
/// is asked for once the pipeline has a place for it: nothing is lost, and the rate is what two questions and answers a shot
/// allow. What the instrument refuses, and why a connection ended, is a line of the log, at most one a second, and in
/// last_rejection(). Throws InputError, naming `where`, for an acquisition of another kind. Time of frames goes by `clock`, which
/// outlives the source; time-outs by the system's.
[[nodiscard]] std::unique_ptr<AcquisitionSource> make_us_lab4a_source(SourceOptions options, const Clock& clock,
                                                                      std::string_view where);

}  // namespace echoform::us_lab4a
