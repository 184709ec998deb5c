// What became of recent sequences of a stream, and which never came. Pure bookkeeping: no frames, no lanes, no threads.
#pragma once

#include <array>
#include <cstdint>

namespace echoform {

/// Distance from `from` to `to` on the circle of 64-bit sequences: the numbering may wrap.
[[nodiscard]] constexpr std::int64_t sequence_distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

enum class SequenceStatus : std::uint8_t { missing, open, closed, refused };

/// Remembers the last `window` sequences up to the highest. A sequence is *settled* once no shot of it is expected any
/// more; one that is settled while missing is a gap.
class SequenceTracker {
 public:
  static constexpr std::int64_t window = 256;

  [[nodiscard]] bool started() const { return started_; }
  /// Numbering begins anew: `first` is the next sequence expected. Ask settle_all() before.
  void start(std::uint64_t first);

  /// How far `sequence` is above the highest one seen.
  [[nodiscard]] std::int64_t ahead(std::uint64_t sequence) const { return sequence_distance(highest_, sequence); }
  [[nodiscard]] bool settled(std::uint64_t sequence) const { return sequence_distance(settled_, sequence) < 0; }
  /// The status of a sequence that is not settled. Sequences above the highest are missing.
  [[nodiscard]] SequenceStatus status(std::uint64_t sequence) const;

  /// Sets the status of `sequence`, which is not settled. Returns gaps: sequences that leave the window are settled.
  [[nodiscard]] std::uint64_t mark(std::uint64_t sequence, SequenceStatus status);
  /// Shots below `floor` are not expected any more. Returns gaps.
  [[nodiscard]] std::uint64_t settle(std::uint64_t floor);
  /// Settles all sequences up to the highest. Returns gaps.
  [[nodiscard]] std::uint64_t settle_all() { return settle(highest_ + 1); }

 private:
  [[nodiscard]] SequenceStatus& at(std::uint64_t sequence) { return recent_[sequence % static_cast<std::uint64_t>(window)]; }

  bool started_ = false;
  std::uint64_t highest_ = 0;
  std::uint64_t settled_ = 0;  // the first sequence that is not settled
  std::array<SequenceStatus, static_cast<std::size_t>(window)> recent_{};
};

}  // namespace echoform
