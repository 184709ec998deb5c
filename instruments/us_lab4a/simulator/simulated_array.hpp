// A simulated array behind a server of us_lab4a's protocol, version 1006, without its socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instruments/simulated_peer.hpp"
#include "simulators/frame_cycle.hpp"

namespace echoform::us_lab4a_simulator {

/// An array with as many elements as the scene's probe. It is strict: it expects a connect request first, and settings only
/// between the messages before and after configuration. It answers with an error that states the reason, and changes
/// nothing, for a message that is not exactly as long as its values, an unknown element, or a value out of its range. It
/// closes the connection of a client that sends bytes with which no message begins. Elements fire alone; a gain of 40 dB
/// corresponds to the scene's full_scale; samples have 12 bits. Used by one thread.
class SimulatedArray final : public SimulatedPeer {
 public:
  explicit SimulatedArray(SimulatorConfiguration scene);

  void greet() override;
  bool hear(std::string_view text, SteadyTime now) override;
  [[nodiscard]] bool hangs_up() const override { return hangs_up_; }
  [[nodiscard]] const std::string& doubt() const noexcept override { return doubt_; }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return frame_; }

 private:
  struct Settings {
    double sampling_frequency = 0.0;
    double acquisition_time = 0.0;
    double gain = 0.0;
    double centre_frequency = 0.0;
    std::uint32_t base_element = 0;
    std::string receive, transmit;  ///< masks

    bool operator==(const Settings&) const = default;
  };

  void follow(std::uint32_t type, std::string_view values);
  void set(std::uint32_t type, std::string_view values);
  void get(std::uint32_t type, std::string_view values);
  void send_signal();
  void send(std::uint32_t type, const std::string& values);

  SimulatorConfiguration scene_;
  std::string heard_;  // that has not been followed
  bool hangs_up_ = false;
  bool connected_ = false;
  bool configuring_ = false;
  bool configured_ = false;
  Settings settings_;
  std::unique_ptr<FrameCycle> cycle_;  // null: not made, by these settings
  std::uint64_t frame_ = 0;
  std::optional<std::size_t> fired_;  // the last element
  std::string doubt_;
};

}  // namespace echoform::us_lab4a_simulator
