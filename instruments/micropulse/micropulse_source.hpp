// The source for a Peak MicroPulse: connects to the instrument, sets it up, and makes frames of what it sends.
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
  /// Changes the settings between two frames: stops the instrument, sends what has changed, and starts it again, which
  /// begins another stream. Waits for the instrument's answer. Throws InputError for settings out of their ranges, for
  /// settings that the instrument refuses (with its words), and for a gate that cannot be imaged. Throws RuntimeFault where
  /// the connection ends or no answer comes. After an exception the instrument keeps its previous settings. An instrument
  /// that is not connected receives the settings with its next set-up. Call it from any thread but the source's own, one
  /// call at a time.
  virtual void change(const LiveSettings& wanted) = 0;
};

/// While the source runs, it connects to the instrument, resets it, sets it up and reads it. Whenever that breaks off, the
/// source begins anew after a pause. It reads the instrument no faster than the pipeline has places for shots. Each error of
/// the instrument, and the reason why a connection ended, is a line of the log, at most one a second, and is in
/// last_rejection(). Throws InputError for options out of their ranges. The times of frames come from `clock`, which must
/// outlive the source; pauses and time-outs use the system's clock.
[[nodiscard]] std::unique_ptr<MicropulseSource> make_micropulse_source(SourceOptions options, const Clock& clock);

}  // namespace echoform::micropulse
