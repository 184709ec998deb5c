// An assembler without threads, for tests that look at each step.
#pragma once

#include "pipeline/frame_assembler.hpp"
#include "tests/pipeline/support.hpp"

namespace echoform::test {

/// An assembler with its ledger and edge and nothing behind it: the test takes the frames.
struct Bench {
  explicit Bench(DropPolicy policy = DropPolicy::block_sender, std::size_t slot_count = 4, Acquisition a = small_acquisition())
      : acquisition(std::move(a)), slots(std::make_shared<std::vector<FrameSlot>>(slot_count)), edge(slot_count) {
    for (std::size_t i = 0; i < slot_count; ++i) {
      (*slots)[i].index = i;
      (*slots)[i].samples = make_buffer(acquisition.frame_bytes());
    }
    ledger->reset_slots(slot_count);
    assembler = std::make_unique<FrameAssembler>(acquisition, AssemblerOptions{policy, std::chrono::milliseconds(100)}, ledger,
                                                 slots, edge, clock);
    ledger->set_listener([this] { assembler->slot_freed(); });
  }
  LaneId lane() { return assembler->open_lane({}); }
  ShotVerdict shot(LaneId id, std::uint64_t sequence, std::uint32_t transmit) {
    return send_shot(*assembler, id, sequence, transmit);
  }
  ShotPlace begin(LaneId id, std::uint64_t sequence, std::uint32_t transmit) {
    return assembler->begin_shot(id, {sequence, transmit, WallTime(0)}, shot_bytes(acquisition, transmit));
  }
  void frame(LaneId id, std::uint64_t sequence) { send_frame(*assembler, id, sequence); }
  /// Takes the next complete frame, checks every byte of it and publishes it. Its sequence; nothing if there is none.
  std::optional<std::uint64_t> publish() {
    const auto slot = edge.try_take();
    if (!slot) return std::nullopt;
    EXPECT_EQ(wrong_bytes(**slot, acquisition), 0U) << "frame " << (*slot)->sequence;
    const std::uint64_t sequence = (*slot)->sequence;
    ledger->start_imaging((*slot)->index);
    ledger->start_publishing((*slot)->index);
    ledger->publish((*slot)->index);
    return sequence;
  }
  CounterSnapshot counters() {
    const CounterSnapshot snapshot = ledger->snapshot();
    EXPECT_TRUE(snapshot.closes());
    return snapshot;
  }

  Acquisition acquisition;
  ManualClock clock;
  std::shared_ptr<FrameLedger> ledger = std::make_shared<FrameLedger>();
  std::shared_ptr<std::vector<FrameSlot>> slots;
  AcquiredEdge edge;
  std::unique_ptr<FrameAssembler> assembler;
};

}  // namespace echoform::test
