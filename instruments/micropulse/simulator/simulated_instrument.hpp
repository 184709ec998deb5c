// A simulated MicroPulse without its socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "instruments/micropulse/simulator/simulated_cycle.hpp"
#include "instruments/simulated_peer.hpp"

namespace echoform::micropulse_simulator {

/// An MP6 whose arrays have as many channels as the scene's probe has elements. It knows the commands that
/// docs/micropulse.md lists, each by its mnemonic, its number of arguments and their limits. It answers any other command
/// with an error, and also a command to fire that it cannot carry out. Used by one thread.
class SimulatedInstrument final : public SimulatedPeer {
 public:
  SimulatedInstrument(SimulatorConfiguration scene, const Habits& habits);

  /// Pauses after a command that made a cycle.
  bool hear(std::string_view text, SteadyTime now) override;
  void greet() override;
  /// The end of the next cycle, while the instrument fires.
  [[nodiscard]] std::optional<SteadyTime> due() const override { return due_; }
  /// Puts that cycle into the outbox.
  void speak(SteadyTime now) override;
  [[nodiscard]] const std::string& doubt() const noexcept override { return doubt_; }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return number_; }
  [[nodiscard]] std::uint64_t complaints() const noexcept { return complaints_; }

 private:
  enum class Firing : std::uint8_t { none, once, once_with_end, free, free_with_state };

  void follow(const Command& command, SteadyTime now);
  void reset(const Command& command);
  void fire(Firing firing, SteadyTime now);
  void stop(bool flush);
  void complain(Complaint complaint);
  void send_info();
  void send_state();

  SimulatorConfiguration scene_;
  Habits habits_;
  CommandParser parser_;
  Registers registers_;
  std::unique_ptr<SimulatedCycle> cycle_;  // of the registers as they are; null: not made yet
  bool made_ = false;                      // a cycle, since hear() was called
  Firing firing_ = Firing::none;
  std::optional<SteadyTime> due_;
  std::uint64_t number_ = 0;  // of the next frame
  std::uint64_t complaints_ = 0;
  std::string doubt_;
};

}  // namespace echoform::micropulse_simulator
