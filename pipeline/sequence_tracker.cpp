#include "pipeline/sequence_tracker.hpp"

namespace echoform {

void SequenceTracker::start(std::uint64_t first) {
  started_ = true;
  highest_ = first - 1;
  settled_ = first;
  recent_.fill(SequenceStatus::missing);
}

SequenceStatus SequenceTracker::status(std::uint64_t sequence) const {
  if (ahead(sequence) > 0) return SequenceStatus::missing;
  return recent_[sequence % static_cast<std::uint64_t>(window)];
}

std::uint64_t SequenceTracker::settle(std::uint64_t floor) {
  if (ahead(floor) > 1) floor = highest_ + 1;
  std::uint64_t gaps = 0;
  for (; sequence_distance(settled_, floor) > 0; ++settled_) {
    if (at(settled_) == SequenceStatus::missing) ++gaps;
  }
  return gaps;
}

std::uint64_t SequenceTracker::mark(std::uint64_t sequence, SequenceStatus status) {
  std::uint64_t gaps = 0;
  if (ahead(sequence) > 0) {
    const std::uint64_t oldest = sequence - static_cast<std::uint64_t>(window) + 1;
    gaps += settle(oldest);
    if (sequence_distance(settled_, oldest) > 0) {
      // All sequence numbers seen are settled. Those between them and the new window are missing, with no place to be noted.
      gaps += oldest - settled_;
      settled_ = oldest;
    }
    std::uint64_t next = highest_ + 1;
    if (sequence_distance(next, oldest) > 0) next = oldest;
    for (; next != sequence; ++next) at(next) = SequenceStatus::missing;
    highest_ = sequence;
  }
  at(sequence) = status;
  return gaps;
}

}  // namespace echoform
