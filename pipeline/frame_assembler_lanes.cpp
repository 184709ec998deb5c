// The lanes of the frame assembler: which lanes exist, which wait, and where in the numbering each of them is.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "pipeline/frame_assembler.hpp"

namespace echoform {
namespace {

// The lane whose wake-up this thread is running, so that a wake-up may close its own lane.
thread_local const void* lane_being_woken = nullptr;

}  // namespace

FrameAssembler::Lane* FrameAssembler::find_lane(LaneId id) {
  for (Lane& lane : lanes_) {
    if (lane.state == LaneState::open && lane.id == id) return &lane;
  }
  return nullptr;
}

LaneId FrameAssembler::open_lane(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (closed_) throw StreamBusy("acquisition stream: closed, or taken over by another sender");
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.state == LaneState::unused; });
  if (lane == lanes_.end()) {
    throw InputError("acquisition stream", fmt::format("connection {}", lane_limit + 1),
                     fmt::format("at most {} connections of one sender", lane_limit));
  }
  lane->state = LaneState::open;
  lane->id = next_lane_++;
  lane->wake = std::move(wake);
  return lane->id;
}

void FrameAssembler::close_lane(LaneId id) {
  Wakes wakes;
  std::function<void()> wake;  // destroyed without the lock: it may own the caller
  {
    std::unique_lock lock(mutex_);
    Lane* lane = find_lane(id);
    if (lane == nullptr) return;
    if (lane->ticket) release_writer(*lane, false, SteadyTime{0});
    const bool by_itself = lane_being_woken == lane;
    lane->state = by_itself ? LaneState::orphaned : LaneState::closing;
    lane->waiting = false;
    lane->position.reset();
    all_lanes_closed_ = std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.state == LaneState::open; });
    if (!closed_) drop_passed();
    wakes = take_wakes();
    if (!by_itself) {
      woken_.wait(lock, [&] { return lane->wakes_running == 0; });
      wake = std::move(lane->wake);
      *lane = Lane{};
    }
  }
  run(wakes);
}

std::size_t FrameAssembler::open_lanes() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.state == LaneState::open; }));
}

FrameAssembler::Wakes FrameAssembler::take_wakes() {
  Wakes wakes;
  if (!std::exchange(wake_needed_, false)) return wakes;
  for (Lane& lane : lanes_) {
    if (lane.state != LaneState::open || !lane.waiting) continue;
    lane.waiting = false;
    ++lane.wakes_running;
    wakes.lanes[wakes.count++] = &lane;
  }
  return wakes;
}

void FrameAssembler::run(const Wakes& wakes) {
  for (std::size_t i = 0; i < wakes.count; ++i) {
    Lane& lane = *wakes.lanes[i];
    const void* const outer = std::exchange(lane_being_woken, &lane);
    if (lane.wake) lane.wake();
    lane_being_woken = outer;
    std::function<void()> spent;  // destroyed without the lock
    {
      const std::lock_guard lock(mutex_);
      if (--lane.wakes_running == 0 && lane.state == LaneState::orphaned) {
        spent = std::move(lane.wake);
        lane = Lane{};
      }
      woken_.notify_all();
    }
  }
}

void FrameAssembler::slot_freed() {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    wake_needed_ = true;
    wakes = take_wakes();
  }
  run(wakes);
}

void FrameAssembler::set_policy(DropPolicy policy) {
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    if (policy_ == policy) return;
    policy_ = policy;
    wake_needed_ = true;
    wakes = take_wakes();
  }
  run(wakes);
}

bool FrameAssembler::passed_by_all(std::uint64_t sequence) const {
  return std::none_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
    if (lane.state != LaneState::open) return false;
    return !lane.position || lane.numbering != numbering_ || sequence_distance(sequence, *lane.position) <= 0;
  });
}

void FrameAssembler::begin_numbering(std::uint64_t first) {
  if (sequences_.started()) ledger_->count_gaps(sequences_.settle_all());
  for (OpenFrame& frame : frames_) {
    if (frame.open) drop_open(frame, DropReason::incomplete);
  }
  sequences_.start(first);
  ++numbering_;
}

FrameAssembler::Standing FrameAssembler::place_lane(Lane& lane, std::uint64_t sequence) {
  const bool known = find_open(sequence) != nullptr;
  if (lane.position && lane.numbering != numbering_) {
    const std::int64_t step = sequence_distance(*lane.position, sequence);
    if (!known && step > -SequenceTracker::window && step <= renumbering_step) {
      if (step > 0) lane.position = sequence;
      return Standing::stale;
    }
    lane.position.reset();
  }
  bool anew = !sequences_.started();
  if (!anew && !known) {
    const std::int64_t ahead = sequences_.ahead(sequence);
    const bool others = std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
      return other.state == LaneState::open && other.position && other.numbering == numbering_;
    });
    anew = ahead > renumbering_step || (all_lanes_closed_ && ahead <= 0) ||
           (!others && !lane.position && ahead <= -SequenceTracker::window) ||
           (lane.position && sequence_distance(*lane.position, sequence) <= -SequenceTracker::window);
  }
  if (anew) {
    begin_numbering(sequence);
    lane.position.reset();
  }
  all_lanes_closed_ = false;
  lane.numbering = numbering_;
  if (!lane.position || sequence_distance(*lane.position, sequence) > 0) lane.position = sequence;
  return Standing::current;
}

void FrameAssembler::drop_passed() {
  for (OpenFrame& frame : frames_) {
    if (frame.open && passed_by_all(frame.sequence)) drop_open(frame, DropReason::incomplete);
  }
  // Frames that no open lane can send any more are settled; without lanes, the next shot decides.
  std::optional<std::uint64_t> floor;
  for (const Lane& lane : lanes_) {
    if (lane.state != LaneState::open) continue;
    if (!lane.position || lane.numbering != numbering_) return;
    if (!floor || sequence_distance(*lane.position, *floor) > 0) floor = lane.position;
  }
  if (!floor) return;
  if (const std::uint64_t gaps = sequences_.settle(*floor); gaps != 0) ledger_->count_gaps(gaps);
}

}  // namespace echoform
