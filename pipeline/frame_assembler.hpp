// Assembles frames from shots that come in any order over up to eight lanes.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "pipeline/edge.hpp"
#include "pipeline/frame_intake.hpp"
#include "pipeline/frame_ledger.hpp"
#include "pipeline/sequence_tracker.hpp"

namespace echoform {

/// Complete frames on their way to the engine. The edge has a place for every slot, so it is never full. A new frame under
/// the drop-oldest policy takes the slot of the oldest frame that waits here.
using AcquiredEdge = Edge<FrameSlot*, DropPolicy::drop_oldest>;

/// Is notified of each arrival. Its functions are called with the assembler's lock held: they must be quick, and must not
/// call the assembler.
class FrameArrivals {
 public:
  virtual ~FrameArrivals() = default;
  /// The slot is leased to another frame.
  virtual void frame_opened(FrameSlot& slot) noexcept = 0;
  /// A shot is in place: `rows` A-scans from `first_row` on. These rows are not written again while the frame has the slot.
  virtual void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept = 0;
};

struct AssemblerOptions {
  DropPolicy policy = DropPolicy::block_sender;
  /// A frame to which no shot came for so long is dropped{incomplete}; > 0.
  std::chrono::nanoseconds incomplete_timeout = std::chrono::milliseconds(500);
};

/// The rules, in addition to those of FrameIntake:
/// - A frame is complete with every shot that its layout expects. Shots of dead elements are discarded, so that their rows
///   stay zero.
/// - A lane that asks for a shot of sequence s has moved on from everything below s, even while it waits for a slot. A frame
///   from which every open lane has moved on is incomplete, and a sequence from which every open lane has moved on without a
///   shot of it is a gap. A lane that has sent nothing yet has not moved on from anything.
/// - Under every policy a lane waits while all slots fill with frames that need the other lanes, which lag behind it. The
///   drop policies are for an engine that is too slow; lanes that nothing holds back would drift apart until no frame is
///   complete. The time-out bounds the wait.
/// - The position of a frame is that of the shot with the lowest transmit index that states a position. Only shots in place
///   count, so the position does not depend on the lane or the order in which shots come.
/// - Sequences may wrap. The numbering begins anew, without counting gaps over the step, in three cases: when a lane goes
///   back by 256 or more, when the first shot after all lanes had closed does not go forward, or when a sequence is more
///   than 65,536 above the highest. Frames that are still open are then incomplete, and shots of lanes that go on with the
///   old numbering are stale.
class FrameAssembler final : public FrameIntake {
 public:
  static constexpr std::size_t lane_limit = 8;
  static constexpr std::int64_t renumbering_step = 65'536;

  /// `slots` have staging memory for `acquisition`, zeroed in the rows of dead elements, and are in `ledger` under their
  /// indices. `acquired`, `clock` and `arrivals` (if any) live until close(). Throws InputError if no shot is expected.
  FrameAssembler(Acquisition acquisition, const AssemblerOptions& options, std::shared_ptr<FrameLedger> ledger,
                 std::shared_ptr<std::vector<FrameSlot>> slots, AcquiredEdge& acquired, const Clock& clock,
                 FrameArrivals* arrivals = nullptr);

  [[nodiscard]] const Acquisition& acquisition() const noexcept override { return acquisition_; }
  [[nodiscard]] LaneId open_lane(std::function<void()> wake) override;
  void close_lane(LaneId lane) override;
  [[nodiscard]] ShotPlace begin_shot(LaneId lane, const ShotHeader& header, std::size_t payload_bytes) override;
  void finish_shot(LaneId lane, std::uint64_t ticket) override;
  void abandon_shot(LaneId lane, std::uint64_t ticket) override;
  void expire() override;

  /// Sets what happens from now on to a new frame that finds no slot. Lanes that wait ask again.
  void set_policy(DropPolicy policy);
  /// Notifies the lanes that wait that a slot has become free elsewhere, so that they ask again.
  void slot_freed();
  [[nodiscard]] std::size_t open_lanes() const;
  /// Drops frames that are still filling, for this reason. From now on every shot is discarded and no lane opens. Lanes
  /// that write keep their places until they finish or abandon their shots.
  void close(DropReason reason);
  /// Does the same if no lane is open; otherwise does nothing and returns false.
  [[nodiscard]] bool close_if_unused();

 private:
  enum class LaneState : std::uint8_t {
    unused,
    open,
    closing,   // close_lane waits for its wake-ups
    orphaned,  // closed from its own wake-up: the last one clears it
  };
  struct Lane {
    LaneState state = LaneState::unused;
    LaneId id = 0;
    std::function<void()> wake;
    bool waiting = false;
    int wakes_running = 0;
    std::optional<std::uint64_t> position;  // highest sequence asked for
    std::uint64_t numbering = 0;            // the one that position belongs to
    std::optional<std::uint64_t> ticket;    // of the shot being written
    std::optional<EncoderCount> stated;     // by that shot
  };
  struct OpenFrame {
    bool open = false;  // filling
    std::uint64_t sequence = 0;
    std::uint16_t lease = 0;    // tells tickets of successive frames apart
    std::vector<bool> claimed;  // by event: a shot is written, or is in place
    std::size_t finished = 0;
    std::uint32_t position_from = 0;  // transmit index of the shot whose position the slot has, if it has one
    std::size_t writers = 0;          // lanes that write now; those of a dropped frame too
    SteadyTime last_progress{0};
    std::byte* samples = nullptr;
  };
  /// Lanes to be woken once the lock is released.
  struct Wakes {
    std::array<Lane*, lane_limit> lanes{};
    std::size_t count = 0;
  };
  enum class Standing : std::uint8_t { current, stale };

  // All with mutex_ held:
  [[nodiscard]] Lane* find_lane(LaneId id);
  [[nodiscard]] OpenFrame* find_open(std::uint64_t sequence);
  [[nodiscard]] Standing place_lane(Lane& lane, std::uint64_t sequence);
  [[nodiscard]] bool passed_by_all(std::uint64_t sequence) const;
  void begin_numbering(std::uint64_t first);
  void drop_open(OpenFrame& frame, DropReason reason);
  void drop_passed();
  void discard(std::size_t payload_bytes, bool stale);
  [[nodiscard]] ShotPlace admit(Lane& lane, const ShotHeader& header, std::size_t payload_bytes, SteadyTime now);
  [[nodiscard]] std::optional<std::size_t> lease_slot();
  [[nodiscard]] bool held_back(const Lane& lane) const;
  void open_frame(std::size_t slot, const ShotHeader& header, SteadyTime now);
  [[nodiscard]] ShotPlace claim(Lane& lane, OpenFrame& frame, const ShotHeader& header, SteadyTime now);
  void release_writer(Lane& lane, bool written, SteadyTime now);
  void close_locked(DropReason reason);
  [[nodiscard]] Wakes take_wakes();
  void run(const Wakes& wakes);  // without the lock

  const Acquisition acquisition_;
  const FrameLayout layout_;
  const std::chrono::nanoseconds incomplete_timeout_;
  const std::shared_ptr<FrameLedger> ledger_;
  const std::shared_ptr<std::vector<FrameSlot>> slots_;
  AcquiredEdge& acquired_;
  const Clock& clock_;
  FrameArrivals* arrivals_;  // null once closed

  mutable std::mutex mutex_;  // taken before the ledger's
  std::condition_variable woken_;
  std::array<Lane, lane_limit> lanes_;
  std::vector<OpenFrame> frames_;  // by slot
  SequenceTracker sequences_;
  std::uint64_t numbering_ = 0;
  DropPolicy policy_;
  bool all_lanes_closed_ = false;  // since the last shot
  LaneId next_lane_ = 1;
  bool wake_needed_ = false;
  bool closed_ = false;
};

}  // namespace echoform
