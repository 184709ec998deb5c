// A simulated instrument without its socket: what it is told goes in, what it says comes out, by a clock that is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace echoform {

/// One thread.
class SimulatedPeer {
 public:
  virtual ~SimulatedPeer() = default;

  /// Another has connected: nothing is half-said, and nothing fires.
  virtual void greet() = 0;
  /// What it is told, as it comes, cut anywhere. Whether there is more of it: it may pause where something took time, or where it
  /// has said much that is unsent.
  virtual bool hear(std::string_view text, SteadyTime now) = 0;
  /// When it next says something unasked; none: it only answers.
  [[nodiscard]] virtual std::optional<SteadyTime> due() const { return std::nullopt; }
  /// Says that.
  virtual void speak(SteadyTime /*now*/) {}
  /// Whether it has had enough of the other, and closes once what it has said is sent.
  [[nodiscard]] virtual bool hangs_up() const { return false; }

  /// What it could not do last, a line for people; empty: nothing.
  [[nodiscard]] virtual const std::string& doubt() const noexcept = 0;
  /// That it has made.
  [[nodiscard]] virtual std::uint64_t frames() const noexcept = 0;

  /// Bytes of answers that wait to be sent; a peer that does not read them is not answered further.
  static constexpr std::size_t most_unsent = std::size_t{1} << 20;
  /// What is to be sent; whoever sends it empties it.
  std::vector<std::uint8_t> outbox;
};

}  // namespace echoform
