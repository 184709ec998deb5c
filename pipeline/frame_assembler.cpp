#include "pipeline/frame_assembler.hpp"

#include <algorithm>
#include <utility>

namespace echoform {
namespace {

// A ticket names the slot, the shot and the lease: 16 + 32 + 16 bits.
std::uint64_t make_ticket(std::size_t slot, std::uint32_t transmit, std::uint16_t lease) {
  return (static_cast<std::uint64_t>(slot) << 48) | (static_cast<std::uint64_t>(transmit) << 16) | lease;
}
std::size_t ticket_slot(std::uint64_t ticket) {
  return static_cast<std::size_t>(ticket >> 48);
}
std::uint32_t ticket_transmit(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(ticket >> 16);
}

}  // namespace

FrameAssembler::FrameAssembler(Acquisition acquisition, const AssemblerOptions& options, std::shared_ptr<FrameLedger> ledger,
                               std::shared_ptr<std::vector<FrameSlot>> slots, AcquiredEdge& acquired, const Clock& clock,
                               FrameArrivals* arrivals)
    : acquisition_(std::move(acquisition)),
      layout_(acquisition_),
      incomplete_timeout_(options.incomplete_timeout),
      ledger_(std::move(ledger)),
      slots_(std::move(slots)),
      acquired_(acquired),
      clock_(clock),
      arrivals_(arrivals),
      frames_(slots_->size()),
      policy_(options.policy) {
  require_expected_shots(layout_);
  for (std::size_t slot = 0; slot < frames_.size(); ++slot) {
    frames_[slot].claimed.resize(layout_.events());
    frames_[slot].samples = (*slots_)[slot].samples.bytes_begin();
  }
}

FrameAssembler::OpenFrame* FrameAssembler::find_open(std::uint64_t sequence) {
  for (OpenFrame& frame : frames_) {
    if (frame.open && frame.sequence == sequence) return &frame;
  }
  return nullptr;
}

void FrameAssembler::drop_open(OpenFrame& frame, DropReason reason) {
  frame.open = false;
  if (!sequences_.settled(frame.sequence)) static_cast<void>(sequences_.mark(frame.sequence, SequenceStatus::closed));
  ledger_->drop(static_cast<std::size_t>(&frame - frames_.data()), reason, frame.writers != 0, Notify::later);
  if (frame.writers == 0) wake_needed_ = true;
}

void FrameAssembler::discard(std::size_t payload_bytes, bool stale) {
  ledger_->count_bytes(payload_bytes);
  if (stale) ledger_->count_stale_shot();
}

std::optional<std::size_t> FrameAssembler::lease_slot() {
  if (const auto slot = ledger_->lease()) return slot;
  if (policy_ != DropPolicy::drop_oldest) return std::nullopt;
  const auto oldest = acquired_.reclaim_oldest();
  if (!oldest) return std::nullopt;
  ledger_->supersede((*oldest)->index);
  return (*oldest)->index;
}

bool FrameAssembler::held_back(const Lane& lane) const {
  const bool others = std::any_of(lanes_.begin(), lanes_.end(),
                                  [&](const Lane& other) { return &other != &lane && other.state == LaneState::open; });
  return others && std::all_of(frames_.begin(), frames_.end(), [](const OpenFrame& frame) { return frame.open; });
}

void FrameAssembler::open_frame(std::size_t slot, const ShotHeader& header, SteadyTime now) {
  OpenFrame& frame = frames_[slot];
  frame.open = true;
  frame.sequence = header.sequence;
  ++frame.lease;
  std::fill(frame.claimed.begin(), frame.claimed.end(), false);
  frame.finished = 0;
  frame.writers = 0;
  FrameSlot& place = (*slots_)[slot];
  place.sequence = header.sequence;
  place.acquisition_time = header.acquisition_time;
  place.position.reset();
  place.first_byte_time = now;
  place.last_byte_time = now;
  if (arrivals_ != nullptr) arrivals_->frame_opened(place);
}

ShotPlace FrameAssembler::begin_shot(LaneId id, const ShotHeader& header, std::size_t payload_bytes) {
  Wakes wakes;
  ShotPlace place;
  {
    const std::lock_guard lock(mutex_);
    Lane* lane = find_lane(id);
    if (lane == nullptr || lane->ticket || header.transmit >= layout_.events() ||
        payload_bytes != layout_.shot_bytes(header.transmit).count) {
      return place;
    }
    lane->waiting = false;
    if (closed_) {
      discard(payload_bytes, false);
      place.verdict = ShotVerdict::discarded;
      return place;
    }
    place = admit(*lane, header, payload_bytes, clock_.steady());
    // The wakes are taken before this lane is marked as waiting, because it has its answer already.
    wakes = take_wakes();
    lane->waiting = place.verdict == ShotVerdict::wait;
  }
  run(wakes);
  return place;
}

ShotPlace FrameAssembler::admit(Lane& lane, const ShotHeader& header, std::size_t payload_bytes, SteadyTime now) {
  ShotPlace place;
  place.verdict = ShotVerdict::discarded;
  const std::uint64_t sequence = header.sequence;
  if (place_lane(lane, sequence) == Standing::stale) {
    discard(payload_bytes, true);
    return place;
  }
  drop_passed();
  if (!layout_.expected(header.transmit)) {
    discard(payload_bytes, false);
    return place;
  }
  if (OpenFrame* frame = find_open(sequence)) {
    if (!frame->claimed[header.transmit]) return claim(lane, *frame, header, now);
    discard(payload_bytes, false);
    ledger_->count_duplicate_shot();
    return place;
  }
  const SequenceStatus status = sequences_.settled(sequence) ? SequenceStatus::closed : sequences_.status(sequence);
  if (status != SequenceStatus::missing) {
    discard(payload_bytes, status != SequenceStatus::refused);
    return place;
  }
  const auto slot = lease_slot();
  if (!slot && (policy_ == DropPolicy::block_sender || held_back(lane))) {
    place.verdict = ShotVerdict::wait;
    return place;
  }
  if (const auto gaps = sequences_.mark(sequence, slot ? SequenceStatus::open : SequenceStatus::refused); gaps != 0) {
    ledger_->count_gaps(gaps);
  }
  if (!slot) {
    ledger_->refuse(DropReason::ring_full);
    discard(payload_bytes, false);
    drop_passed();
    return place;
  }
  open_frame(*slot, header, now);
  wake_needed_ = true;  // lanes that wait with shots of the same frame need no slot any more
  place = claim(lane, frames_[*slot], header, now);
  drop_passed();  // settles what this sequence number skipped
  return place;
}

ShotPlace FrameAssembler::claim(Lane& lane, OpenFrame& frame, const ShotHeader& header, SteadyTime now) {
  const std::size_t slot = static_cast<std::size_t>(&frame - frames_.data());
  frame.claimed[header.transmit] = true;
  ++frame.writers;
  frame.last_progress = now;
  FrameSlot& place = (*slots_)[slot];
  // The frame's time is that of its earliest shot, in any order of arrival; 0 means unknown.
  if (header.acquisition_time.count() != 0 &&
      (place.acquisition_time.count() == 0 || header.acquisition_time < place.acquisition_time)) {
    place.acquisition_time = header.acquisition_time;
  }
  const ByteRange bytes = layout_.shot_bytes(header.transmit);
  ShotPlace shot;
  shot.verdict = ShotVerdict::accepted;
  shot.place = {frame.samples + bytes.first, bytes.count};
  shot.ticket = make_ticket(slot, header.transmit, frame.lease);
  lane.ticket = shot.ticket;
  lane.stated = header.position;
  return shot;
}

void FrameAssembler::release_writer(Lane& lane, bool written, SteadyTime now) {
  const std::uint64_t ticket = *std::exchange(lane.ticket, std::nullopt);
  const std::size_t slot = ticket_slot(ticket);
  const std::uint32_t transmit = ticket_transmit(ticket);
  OpenFrame& frame = frames_[slot];
  // A slot with a writer is never leased again, so the ticket's lease is that of the frame.
  --frame.writers;
  if (written) ledger_->count_bytes(layout_.shot_bytes(transmit).count);
  if (!frame.open) {
    if (frame.writers == 0) {
      ledger_->drained(slot, Notify::later);
      wake_needed_ = true;
    }
    return;
  }
  if (!written) {
    frame.claimed[transmit] = false;
    return;
  }
  frame.last_progress = now;
  FrameSlot& place = (*slots_)[slot];
  if (lane.stated && (!place.position || transmit < frame.position_from)) {
    place.position = lane.stated;
    frame.position_from = transmit;
  }
  if (arrivals_ != nullptr) {
    const RowRange rows = layout_.shot(transmit);
    arrivals_->shots_arrived(place, rows.first, rows.count);
  }
  if (++frame.finished < layout_.expected_shots()) return;
  frame.open = false;
  if (!sequences_.settled(frame.sequence)) static_cast<void>(sequences_.mark(frame.sequence, SequenceStatus::closed));
  place.last_byte_time = now;
  ledger_->queue(slot);
  // Lanes that are held back no longer need to wait for this frame.
  if (policy_ != DropPolicy::block_sender) wake_needed_ = true;
  // The edge has as many places as there are slots: it can neither refuse the offer nor evict a frame.
  if (!acquired_.offer(&place).on_edge()) ledger_->drop(slot, DropReason::failed, false, Notify::later);
}

void FrameAssembler::finish_shot(LaneId id, std::uint64_t ticket) {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    Lane* lane = find_lane(id);
    if (lane == nullptr || lane->ticket != ticket) return;
    release_writer(*lane, true, closed_ ? SteadyTime{0} : clock_.steady());
    wakes = take_wakes();
  }
  run(wakes);
}

void FrameAssembler::abandon_shot(LaneId id, std::uint64_t ticket) {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    Lane* lane = find_lane(id);
    if (lane == nullptr || lane->ticket != ticket) return;
    release_writer(*lane, false, SteadyTime{0});
    wakes = take_wakes();
  }
  run(wakes);
}

void FrameAssembler::expire() {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const SteadyTime now = clock_.steady();
    for (OpenFrame& frame : frames_) {
      if (frame.open && now - frame.last_progress >= incomplete_timeout_) drop_open(frame, DropReason::incomplete);
    }
    wakes = take_wakes();
  }
  run(wakes);
}

void FrameAssembler::close_locked(DropReason reason) {
  closed_ = true;
  arrivals_ = nullptr;
  for (OpenFrame& frame : frames_) {
    if (frame.open) drop_open(frame, reason);
  }
  if (sequences_.started()) ledger_->count_gaps(sequences_.settle_all());
  wake_needed_ = true;
}

void FrameAssembler::close(DropReason reason) {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    close_locked(reason);
    wakes = take_wakes();
  }
  run(wakes);
}

bool FrameAssembler::close_if_unused() {
  const std::lock_guard lock(mutex_);
  if (std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.state == LaneState::open; })) return false;
  if (!closed_) close_locked(DropReason::incomplete);
  return true;
}

}  // namespace echoform
