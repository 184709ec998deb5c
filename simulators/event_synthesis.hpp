// The signals that receivers get from events in which several elements fire. A signal is the sum of the signals of each
// element alone, later by its delay and multiplied by its weight. No wave front is assumed anywhere.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"
#include "simulators/a_scan_writer.hpp"
#include "simulators/delayed_signal.hpp"
#include "simulators/echo_model.hpp"
#include "simulators/pulse.hpp"

namespace echoform {

/// Echoes of a pair of elements, first <= second; valid until the next call.
using EchoesOfPair = std::function<const std::vector<Echo>&(std::size_t first, std::size_t second)>;

/// The events of an acquisition as their sums are made. Immutable, for any number of frames and threads.
class EventSynthesis {
 public:
  /// Expects a validated acquisition.
  EventSynthesis(Acquisition acquisition, double fractional_bandwidth);

  /// Writes every row of a frame. Rows of dead receivers, and of events that only dead elements fire, are zeros. Noise is
  /// added once to each row; the noise of an event of several elements differs from that of each single element.
  void write(const EchoesOfPair& echoes_of_pair, AScanWriter& writer, std::span<std::byte> frame) const;

 private:
  struct Row {
    std::size_t event = 0;
    std::size_t row = 0;
  };
  class Receiver;

  Acquisition acquisition_;
  double fractional_bandwidth_;
  std::vector<std::vector<Firing>> firings_;  // by event, of living elements
  std::vector<std::vector<Row>> rows_;        // by receiver
  std::vector<std::size_t> delayed_;          // by element: how often it fires with a delay
  PulseTable pulses_;
  DelaySampling delays_;
};

}  // namespace echoform
