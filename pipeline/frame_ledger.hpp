// The ledger of the pipeline: the state of every slot, and what became of every frame. It has one mutex, so that the counters of
// every reading close.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/counters.hpp"

namespace echoform {

/// Whether the listener for freed slots is called by the operation, or by the caller later through notify_freed().
enum class Notify : std::uint8_t { now, later };

/// Thread-safe. Each operation keeps closure; one that does not fit the slot's state throws std::logic_error and changes
/// nothing. Only reset_slots and set_listener allocate.
class FrameLedger {
 public:
  /// Called without any lock held after a slot became free.
  using Listener = std::function<void()>;
  void set_listener(Listener listener);

  /// Makes all slots anew, and free; totals stay. No frame may be in flight and no slot draining.
  void reset_slots(std::size_t count);

  /// A frame's first shot came: received + 1, a free slot becomes `filling`. Nothing is counted where none is free.
  [[nodiscard]] std::optional<std::size_t> lease();
  /// A frame's first shot came and was refused a slot: received + 1, dropped{reason} + 1.
  void refuse(DropReason reason);
  /// A queued frame gives its slot to a new one: received + 1, dropped{superseded} + 1, queued -> filling.
  void supersede(std::size_t slot);

  void queue(std::size_t slot) { advance(slot, SlotState::filling, SlotState::queued); }
  void start_imaging(std::size_t slot) { advance(slot, SlotState::queued, SlotState::imaging); }
  void start_publishing(std::size_t slot) { advance(slot, SlotState::imaging, SlotState::publishing); }
  /// publishing -> free, published + 1.
  void publish(std::size_t slot, Notify notify = Notify::now);
  /// Any state in flight -> free, or draining while a lane still writes into it.
  void drop(std::size_t slot, DropReason reason, bool still_written = false, Notify notify = Notify::now);
  /// draining -> free: the last writer has gone.
  void drained(std::size_t slot, Notify notify = Notify::now);
  void notify_freed() const;

  /// Drops every frame that is queued, imaging or publishing; for a pipeline whose workers have gone.
  void drop_unpublished(DropReason reason);

  void count_bytes(std::uint64_t bytes);
  void count_gaps(std::uint64_t sequences);
  void count_duplicate_shot();
  void count_stale_shot();
  void count_samples(std::uint64_t clipped, std::uint64_t invalid);

  [[nodiscard]] CounterSnapshot snapshot() const;
  /// The snapshot as it will be once the frame in `slot`, now publishing, is published.
  [[nodiscard]] CounterSnapshot snapshot_with_published(std::size_t slot) const;
  [[nodiscard]] SlotState state(std::size_t slot) const;

  /// Waits until no frame is imaging or publishing and, with `queued_too`, none is queued. Returns false if that takes longer.
  [[nodiscard]] bool wait_until_idle(std::chrono::nanoseconds limit, bool queued_too = true);

 private:
  void advance(std::size_t slot, SlotState from, SlotState to);
  void require(std::size_t slot, SlotState expected) const;  // mutex_ held
  void put_free(std::size_t slot);                           // mutex_ held
  [[nodiscard]] CounterSnapshot read() const;                // mutex_ held

  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::vector<SlotState> states_;
  std::vector<std::size_t> free_ring_;  // as many places as slots
  std::size_t free_head_ = 0;
  std::size_t free_count_ = 0;
  CounterSnapshot totals_;  // its slot figures are filled in when it is read
  Listener listener_;       // set before work begins
};

[[nodiscard]] constexpr bool in_flight(SlotState state) {
  return state != SlotState::free && state != SlotState::draining;
}

}  // namespace echoform
