// The messages that a simulated MicroPulse sends in a sweep, as its registers state it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "instruments/micropulse/simulator/registers.hpp"
#include "simulators/frame_cycle.hpp"

namespace echoform::micropulse_simulator {

/// Properties in which instruments differ, or about which drivers disagree.
struct Habits {
  bool high_bits = true;  ///< 10 and 12 bits stand high in 16
  unsigned channel_base = 0;
  double reference_gain_db = 40.0;  ///< at which [simulator] full_scale holds
};

class SimulatedCycle {
 public:
  /// Synthesises all frames of the cycle of `scene`. Element k of its probe is at channel k + 1. The registers state what
  /// fires and what is received, and the sampling. Throws InputError where the registers contradict each other, or where the
  /// scene cannot be simulated with them.
  SimulatedCycle(const Registers& registers, const SimulatorConfiguration& scene, const Habits& habits);

  /// Appends the messages of frame `number`: an A-scan for each receiver of each test.
  void write(std::uint64_t number, std::vector<std::uint8_t>& out);
  /// The time from one frame to the next.
  [[nodiscard]] std::chrono::nanoseconds period() const { return period_; }

 private:
  struct Row {
    std::uint32_t test;
    std::uint32_t channel;
  };

  std::int64_t format_;
  Habits habits_;
  std::vector<Row> rows_;
  std::unique_ptr<FrameCycle> frames_;
  std::chrono::nanoseconds period_{0};
};

}  // namespace echoform::micropulse_simulator
