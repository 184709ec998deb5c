// What a simulated MicroPulse sends of a sweep, as its registers have it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "instruments/micropulse/simulator/registers.hpp"
#include "simulators/frame_cycle.hpp"

namespace echoform::micropulse_simulator {

/// What instruments differ in, or drivers disagree about.
struct Habits {
  bool high_bits = true;  ///< 10 and 12 bits stand high in 16
  unsigned channel_base = 0;
  double reference_gain_db = 40.0;  ///< at which [simulator] full_scale holds
};

class SimulatedCycle {
 public:
  /// Of the scene whose probe `scene` has, element k at channel k + 1; the registers say what fires and is received, and the
  /// sampling. Synthesises all frames of the cycle. Throws InputError where the registers contradict each other, or the scene
  /// cannot be simulated so.
  SimulatedCycle(const Registers& registers, const SimulatorConfiguration& scene, const Habits& habits);

  /// Appends the messages of frame `number`: an A-scan for each receiver of each test.
  void write(std::uint64_t number, std::vector<std::uint8_t>& out);
  /// From frame to frame.
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
