// The door to a Peak MicroPulse: it connects to the instrument, sets it up, and makes frames of what it sends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "instruments/micropulse/instrument_settings.hpp"
#include "instruments/visits.hpp"
#include "transport/acquisition/acquisition_source.hpp"

namespace echoform::micropulse {

struct SourceOptions {
  std::string host = "10.1.1.2";
  std::uint16_t port = 1067;
  Acquisition acquisition;  ///< of instrument_acquisition()
  InstrumentSettings settings;
  unsigned channel_base = 0;                   ///< what the instrument calls its channel 1 in A-scans
  unsigned encoder_axis = 0;                   ///< 1 .. 4: whose count is a frame's position; 0: frames state none
  std::chrono::milliseconds reset_wait{3000};  ///< after the answer to a reset
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds answer_timeout{10000};  ///< for the answer to a reset, and to the set-up
  std::chrono::milliseconds silence_timeout{5000};  ///< without a byte while it is to fire, and is read
  std::chrono::milliseconds settle{200};  ///< of silence after a stop, before it is reset; four times that is waited at most
  VisitPauses pauses;
};

class MicropulseSource : public AcquisitionSource {
 public:
  /// Between two frames the instrument is stopped, told what has changed, and started again, in another stream.
  /// Waits until it has answered. Throws InputError for settings out of their ranges, for what the instrument refuses, with its
  /// words, and for a gate that cannot be imaged; RuntimeFault where the connection ends or nothing is answered. It then goes on
  /// as it was. What is not connected gets them with its next set-up. From any other thread, one at a time.
  virtual void change(const LiveSettings& wanted) = 0;
};

/// While it runs it is connected, reset, set up and read, over and over: what breaks off the one begins the next after a pause.
/// The instrument is read no faster than the pipeline has places for shots. Each of the instrument's errors, and why a connection
/// ended, is a line of the log, at most one a second, and in last_rejection(). Throws InputError for options out of their ranges.
/// Time of frames goes by `clock`, which outlives the source; pauses and time-outs by the system's.
[[nodiscard]] std::unique_ptr<MicropulseSource> make_micropulse_source(SourceOptions options, const Clock& clock);

}  // namespace echoform::micropulse
