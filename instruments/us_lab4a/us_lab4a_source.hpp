// The source for an array whose server speaks us_lab4a's protocol: connects, sets the array up, and asks for shot after
// shot.
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

/// While the source runs, it connects, sets the array up and asks for shots. Whenever that breaks off, the source begins
/// anew after a pause. It asks for a shot once the pipeline has a place for it, so that nothing is lost; each shot takes two
/// questions and answers, which limits the rate. Refusals of the instrument, and the reason why a connection ended, are
/// lines of the log, at most one a second, and are in last_rejection(). Throws InputError, naming `where`, for an
/// acquisition of another kind. The times of frames come from `clock`, which must outlive the source; time-outs use the
/// system's clock.
[[nodiscard]] std::unique_ptr<AcquisitionSource> make_us_lab4a_source(SourceOptions options, const Clock& clock,
                                                                      std::string_view where);

}  // namespace echoform::us_lab4a
