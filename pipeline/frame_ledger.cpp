#include "pipeline/frame_ledger.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace echoform {

void FrameLedger::set_listener(Listener listener) {
  listener_ = std::move(listener);
}

void FrameLedger::notify_freed() const {
  if (listener_) listener_();
}

void FrameLedger::reset_slots(std::size_t count) {
  const std::lock_guard lock(mutex_);
  if (std::any_of(states_.begin(), states_.end(), [](SlotState state) { return state != SlotState::free; })) {
    throw std::logic_error("frame ledger: slots made anew while one is in use");
  }
  states_.assign(count, SlotState::free);
  free_ring_.resize(count);
  for (std::size_t slot = 0; slot < count; ++slot) free_ring_[slot] = slot;
  free_head_ = 0;
  free_count_ = count;
}

void FrameLedger::require(std::size_t slot, SlotState expected) const {
  if (slot >= states_.size() || states_[slot] != expected) throw std::logic_error("frame ledger: slot in another state");
}

void FrameLedger::put_free(std::size_t slot) {
  states_[slot] = SlotState::free;
  free_ring_[(free_head_ + free_count_) % free_ring_.size()] = slot;
  ++free_count_;
}

std::optional<std::size_t> FrameLedger::lease() {
  const std::lock_guard lock(mutex_);
  if (free_count_ == 0) return std::nullopt;
  const std::size_t slot = free_ring_[free_head_];
  free_head_ = (free_head_ + 1) % free_ring_.size();
  --free_count_;
  states_[slot] = SlotState::filling;
  ++totals_.frames_received;
  return slot;
}

void FrameLedger::refuse(DropReason reason) {
  const std::lock_guard lock(mutex_);
  ++totals_.frames_received;
  ++totals_.frames_dropped.at(static_cast<std::size_t>(reason));
}

void FrameLedger::supersede(std::size_t slot) {
  const std::lock_guard lock(mutex_);
  require(slot, SlotState::queued);
  ++totals_.frames_dropped.at(static_cast<std::size_t>(DropReason::superseded));
  ++totals_.frames_received;
  states_[slot] = SlotState::filling;
}

void FrameLedger::advance(std::size_t slot, SlotState from, SlotState to) {
  const std::lock_guard lock(mutex_);
  require(slot, from);
  states_[slot] = to;
}

void FrameLedger::publish(std::size_t slot, Notify notify) {
  {
    const std::lock_guard lock(mutex_);
    require(slot, SlotState::publishing);
    ++totals_.frames_published;
    put_free(slot);
  }
  left_.notify_all();
  if (notify == Notify::now) notify_freed();
}

void FrameLedger::drop(std::size_t slot, DropReason reason, bool still_written, Notify notify) {
  {
    const std::lock_guard lock(mutex_);
    if (slot >= states_.size() || !in_flight(states_[slot])) throw std::logic_error("frame ledger: no frame to drop");
    ++totals_.frames_dropped.at(static_cast<std::size_t>(reason));
    if (still_written) {
      states_[slot] = SlotState::draining;
    } else {
      put_free(slot);
    }
  }
  left_.notify_all();
  if (notify == Notify::now && !still_written) notify_freed();
}

void FrameLedger::drained(std::size_t slot, Notify notify) {
  {
    const std::lock_guard lock(mutex_);
    require(slot, SlotState::draining);
    put_free(slot);
  }
  if (notify == Notify::now) notify_freed();
}

void FrameLedger::drop_unpublished(DropReason reason) {
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t slot = 0; slot < states_.size(); ++slot) {
      const SlotState state = states_[slot];
      if (state != SlotState::queued && state != SlotState::imaging && state != SlotState::publishing) continue;
      ++totals_.frames_dropped.at(static_cast<std::size_t>(reason));
      put_free(slot);
    }
  }
  left_.notify_all();
  notify_freed();
}

void FrameLedger::count_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  totals_.bytes_received += bytes;
}

void FrameLedger::count_gaps(std::uint64_t sequences) {
  const std::lock_guard lock(mutex_);
  totals_.sequence_gaps += sequences;
}

void FrameLedger::count_duplicate_shot() {
  const std::lock_guard lock(mutex_);
  ++totals_.shots_duplicate;
}

void FrameLedger::count_stale_shot() {
  const std::lock_guard lock(mutex_);
  ++totals_.shots_stale;
}

void FrameLedger::count_samples(std::uint64_t clipped, std::uint64_t invalid) {
  const std::lock_guard lock(mutex_);
  totals_.clipped_samples += clipped;
  totals_.invalid_samples += invalid;
}

CounterSnapshot FrameLedger::read() const {
  CounterSnapshot snapshot = totals_;
  snapshot.slots = states_.size();
  snapshot.slots_free = free_count_;
  snapshot.frames_in_flight = static_cast<std::uint64_t>(std::count_if(states_.begin(), states_.end(), in_flight));
  return snapshot;
}

CounterSnapshot FrameLedger::snapshot() const {
  const std::lock_guard lock(mutex_);
  return read();
}

CounterSnapshot FrameLedger::snapshot_with_published(std::size_t slot) const {
  const std::lock_guard lock(mutex_);
  require(slot, SlotState::publishing);
  CounterSnapshot snapshot = read();
  ++snapshot.frames_published;
  --snapshot.frames_in_flight;
  return snapshot;
}

SlotState FrameLedger::state(std::size_t slot) const {
  const std::lock_guard lock(mutex_);
  return states_.at(slot);
}

bool FrameLedger::wait_until_idle(std::chrono::nanoseconds limit, bool queued_too) {
  const auto busy = [queued_too](SlotState state) {
    return state == SlotState::imaging || state == SlotState::publishing || (queued_too && state == SlotState::queued);
  };
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, limit, [&] { return std::none_of(states_.begin(), states_.end(), busy); });
}

}  // namespace echoform
