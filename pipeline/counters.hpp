// The pipeline's counters and their closure: received = published + sum of dropped by reason + in flight, exactly, in
// every snapshot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pipeline/frame_slot.hpp"

namespace echoform {

/// One consistent reading, taken under the ledger's lock.
struct CounterSnapshot {
  std::uint64_t frames_received = 0;                              ///< first shot took a lease or was refused one
  std::uint64_t frames_published = 0;                             ///< once a frame, whatever its views and viewers
  std::array<std::uint64_t, drop_reason_count> frames_dropped{};  ///< by DropReason
  std::uint64_t frames_in_flight = 0;                             ///< counted from slot states, never by subtraction
  std::uint64_t sequence_gaps = 0;                                ///< sequences that never arrived; not part of the closure
  std::uint64_t bytes_received = 0;  ///< payload of accepted shots that were finished, and of discarded ones
  std::uint64_t shots_duplicate = 0;
  std::uint64_t shots_stale = 0;  ///< of a frame already finished or dropped (but not of one refused, whose shots still come)
  std::uint64_t clipped_samples = 0;
  std::uint64_t invalid_samples = 0;
  std::size_t slots = 0;
  std::size_t slots_free = 0;

  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const auto n : frames_dropped) sum += n;
    return sum;
  }
  [[nodiscard]] bool closes() const { return frames_received == frames_published + dropped() + frames_in_flight; }
};

}  // namespace echoform
