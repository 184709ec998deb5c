// A simulated instrument without its socket: commands go in, answers come out, and the time is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace echoform {

/// A peer is used by one thread.
class SimulatedPeer {
 public:
  virtual ~SimulatedPeer() = default;

  /// Begins a new connection: discards half-received commands, and stops firing.
  virtual void greet() = 0;
  /// Takes the commands of its client as they arrive, cut anywhere. Returns whether it has paused, since a command took time
  /// or much of its output is not sent yet. Commands may be left then: call it again, with or without text.
  virtual bool hear(std::string_view text, SteadyTime now) = 0;
  /// The time at which it next sends something unasked; none: it only answers.
  [[nodiscard]] virtual std::optional<SteadyTime> due() const { return std::nullopt; }
  /// Puts what due() announced into the outbox.
  virtual void speak(SteadyTime /*now*/) {}
  /// Whether it closes the connection once its outbox is sent.
  [[nodiscard]] virtual bool hangs_up() const { return false; }

  /// What it last failed to do, as a line for people; empty where nothing failed.
  [[nodiscard]] virtual const std::string& doubt() const noexcept = 0;
  /// Number of frames that it has made.
  [[nodiscard]] virtual std::uint64_t frames() const noexcept = 0;

  /// Maximum number of bytes of answers that wait to be sent. A client that does not read them gets no further answers.
  static constexpr std::size_t most_unsent = std::size_t{1} << 20;
  /// The bytes to be sent. Whoever sends them empties it.
  std::vector<std::uint8_t> outbox;
};

}  // namespace echoform
