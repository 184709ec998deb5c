// Uploads of frames that still arrive, with a driver of the test's own, which can be held.
#include "engines/early_uploads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/pipeline/support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

constexpr std::size_t rows = 40;
constexpr std::size_t least = 8;

struct Copied {
  const FrameSlot* slot;
  RowRun run;
  std::thread::id by;
};

/// Notes what is copied. The first copy of the slot `held` waits until let_go(), like a call of a driver that stands still.
struct Driver {
  explicit Driver(const FrameSlot* held_slot = nullptr) : held(held_slot) { copies.reserve(1000); }
  void copy(FrameSlot& slot, const RowRun& run) {
    if (&slot == held && !holding.exchange(true)) {
      entered.count_down();
      let.wait();
    }
    const std::lock_guard lock(mutex);
    copies.push_back({&slot, run, std::this_thread::get_id()});
  }
  void let_go() { let.count_down(); }
  [[nodiscard]] std::vector<int> times_copied(const FrameSlot& slot) const {
    std::vector<int> times(rows, 0);
    for (const Copied& copy : copies) {
      if (copy.slot != &slot) continue;
      for (std::size_t row = copy.run.first; row < copy.run.first + copy.run.rows; ++row) ++times[row];
    }
    return times;
  }

  const FrameSlot* const held;
  std::atomic<bool> holding{false};
  std::latch entered{1};
  std::latch let{1};
  std::mutex mutex;
  std::vector<Copied> copies;
};

struct Rig {
  explicit Rig(std::size_t held)
      : driver(&slots[held]), uploads(rows, least, [this](FrameSlot& slot, const RowRun& run) { driver.copy(slot, run); }) {
    for (std::size_t index = 0; index < slots.size(); ++index) {
      slots[index].index = index;
      uploads.add_slot(index);
    }
  }
  std::array<FrameSlot, 3> slots;
  Driver driver;
  EarlyUploads uploads;
};

const std::vector<int> once(rows, 1);

TEST(EarlyUploads, ADriverThatStandsStillHoldsUpNobodyWhoReceives) {
  Rig rig(0);
  rig.uploads.open(rig.slots[0]);
  rig.uploads.arrived(rig.slots[0], 0, least);
  rig.driver.entered.wait();
  // All of this on one thread, which a call of the driver would hold for good.
  for (std::size_t row = least; row < rows; row += 4) rig.uploads.arrived(rig.slots[0], row, 4);
  rig.uploads.open(rig.slots[1]);
  for (std::size_t row = 0; row < rows; row += 4) rig.uploads.arrived(rig.slots[1], row, 4);
  {
    const std::lock_guard lock(rig.driver.mutex);
    EXPECT_TRUE(rig.driver.copies.empty());
  }
  rig.driver.let_go();
  rig.uploads.complete(rig.slots[0]);
  rig.uploads.complete(rig.slots[1]);
  EXPECT_EQ(rig.driver.times_copied(rig.slots[0]), once);
  EXPECT_EQ(rig.driver.times_copied(rig.slots[1]), once);
}

TEST(EarlyUploads, AWholeFrameDoesNotWaitForAnothersCopies) {
  Rig rig(0);
  rig.uploads.arrived(rig.slots[0], 0, least);
  rig.driver.entered.wait();
  rig.uploads.arrived(rig.slots[1], 0, rows);
  rig.uploads.complete(rig.slots[1]);
  {
    const std::lock_guard lock(rig.driver.mutex);
    EXPECT_EQ(rig.driver.times_copied(rig.slots[1]), once);
    for (const Copied& copy : rig.driver.copies) EXPECT_EQ(copy.by, std::this_thread::get_id());
  }
  rig.driver.let_go();
  rig.uploads.complete(rig.slots[0]);
  EXPECT_EQ(rig.driver.times_copied(rig.slots[0]), once);
}

TEST(EarlyUploads, AFrameIsWholeOnlyWithItsCopyThatWasUnderWay) {
  Rig rig(0);
  rig.uploads.arrived(rig.slots[0], 0, least);
  rig.driver.entered.wait();
  std::jthread submitter([&] {
    rig.uploads.complete(rig.slots[0]);
    const std::lock_guard lock(rig.driver.mutex);
    EXPECT_EQ(rig.driver.times_copied(rig.slots[0]), once);
    EXPECT_EQ(rig.driver.copies.front().run.first, 0U);
    EXPECT_EQ(rig.driver.copies.front().run.rows, least);
  });
  rig.driver.let_go();
}

TEST(EarlyUploads, WhatArrivedOfAFrameThatWasGivenUpIsForgotten) {
  Rig rig(0);
  rig.uploads.arrived(rig.slots[0], 0, least);
  rig.driver.entered.wait();
  rig.uploads.arrived(rig.slots[0], 2 * least, least);
  rig.uploads.open(rig.slots[0]);
  rig.uploads.arrived(rig.slots[0], 0, least);
  rig.driver.let_go();
  rig.uploads.complete(rig.slots[0]);
  auto times = once;
  std::fill_n(times.begin(), least, 2);  // that of before was under way
  EXPECT_EQ(rig.driver.times_copied(rig.slots[0]), times);
}

TEST(EarlyUploads, EndWithTheCopyThatWasUnderWay) {
  std::array<FrameSlot, 2> slots;
  slots[1].index = 1;
  Driver driver(&slots[0]);
  std::optional<EarlyUploads> uploads;
  uploads.emplace(rows, least, [&](FrameSlot& slot, const RowRun& run) { driver.copy(slot, run); });
  for (const FrameSlot& slot : slots) uploads->add_slot(slot.index);
  uploads->arrived(slots[0], 0, least);
  driver.entered.wait();
  uploads->arrived(slots[1], 0, rows);
  std::jthread later([&] { driver.let_go(); });
  uploads.reset();
  const auto held = driver.times_copied(slots[0]);
  EXPECT_EQ(std::accumulate(held.begin(), held.end(), 0), static_cast<int>(least));
}

/// Uploads what arrives, as an engine of a GPU does.
class UploadingEngine final : public Engine {
 public:
  UploadingEngine(std::shared_ptr<const ImagingSetup> setup, EarlyUploads::Copy copy)
      : setup_(std::move(setup)), uploads_(setup_->acquisition.a_scans(), 1, std::move(copy)) {}
  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return "uploading"; }
  void equip(FrameSlot& slot) override {
    slot.samples = make_buffer(setup_->acquisition.frame_bytes());
    slot.outputs.resize(1);
    slot.outputs[0].data = make_buffer(setup_->recipe.outputs.front().description.bytes());
    uploads_.add_slot(slot.index);
  }
  void frame_opened(FrameSlot& slot) noexcept override { uploads_.open(slot); }
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t some) noexcept override {
    uploads_.arrived(slot, first_row, some);
  }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    uploads_.complete(slot);
    static_cast<float*>(slot.outputs[0].data.data())[0] = static_cast<float>(slot.sequence);
    done(slot, true);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }

 private:
  std::shared_ptr<const ImagingSetup> setup_;
  EarlyUploads uploads_;
};

TEST(EarlyUploads, NoConnectionOfAPipelineWaitsForTheDriver) {
  constexpr std::uint64_t frames = 4;
  std::latch entered(1);
  std::latch let(1);
  std::atomic<int> copies{0};
  const auto sink = std::make_shared<NotingSink>();
  const SystemClock clock;
  PipelineOptions options;
  options.slots = frames;
  Pipeline pipeline(options, bare_setup, {sink}, clock,
                    [&](std::shared_ptr<const ImagingSetup> setup, const BackendChoice&, const EngineOptions&) {
                      return std::make_unique<UploadingEngine>(std::move(setup), [&](FrameSlot&, const RowRun&) {
                        if (copies.fetch_add(1) != 0) return;
                        entered.count_down();
                        let.wait();
                      });
                    });
  const auto intake = pipeline.open_stream(1, small_acquisition());
  const std::array<LaneId, 2> lanes{intake->open_lane([] {}), intake->open_lane([] {})};
  EXPECT_EQ(send_shot(*intake, lanes[0], 0, 0), ShotVerdict::accepted);
  entered.wait();
  // The driver stands still now, in the copy of the first shot; both connections go on, here on one thread.
  for (std::uint32_t transmit = 1; transmit < 4; ++transmit) {
    EXPECT_EQ(send_shot(*intake, lanes[transmit % 2], 0, transmit), ShotVerdict::accepted);
  }
  for (std::uint64_t sequence = 1; sequence < frames; ++sequence) {
    for (std::uint32_t transmit = 0; transmit < 4; ++transmit) {
      EXPECT_EQ(send_shot(*intake, lanes[transmit % 2], sequence, transmit), ShotVerdict::accepted);
    }
  }
  EXPECT_EQ(pipeline.counters().frames_received, frames);
  EXPECT_EQ(pipeline.counters().frames_published, 0U) << "the first waits for its copy, and frames go in order";
  let.count_down();
  EXPECT_TRUE(sink->wait_published(frames));
  for (const LaneId lane : lanes) intake->close_lane(lane);
  pipeline.stop();
  EXPECT_TRUE(pipeline.counters().closes());
  EXPECT_EQ(sink->bad_images, 0);
}

/// Frames over and over, some given up, from two threads, onto a device that keeps what is copied.
TEST(EarlyUploads, BringEveryFrameWholeAndAllocateNothing) {
  constexpr std::size_t frames = 300;
  using Samples = std::array<std::atomic<std::uint32_t>, rows>;
  std::array<FrameSlot, 2> slots;
  slots[1].index = 1;
  std::array<Samples, 2> staged{};
  std::array<Samples, 2> device{};
  EarlyUploads uploads(rows, least, [&](FrameSlot& slot, const RowRun& run) {
    for (std::size_t row = run.first; row < run.first + run.rows; ++row) device[slot.index][row] = staged[slot.index][row].load();
  });
  for (const FrameSlot& slot : slots) uploads.add_slot(slot.index);
  std::atomic<int> wrong{0};
  std::uint64_t taken = 0;
  const auto send = [&](FrameSlot& slot) {
    std::array<std::size_t, rows / 4> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::minstd_rand random(static_cast<unsigned>(slot.index) + 1);
    for (std::uint32_t frame = 1; frame <= frames; ++frame) {
      std::shuffle(order.begin(), order.end(), random);
      uploads.open(slot);
      const bool given_up = random() % 3 == 0;
      for (std::size_t shot = 0; shot < order.size() - (given_up ? 2 : 0); ++shot) {
        for (std::size_t row = 4 * order[shot]; row < 4 * order[shot] + 4; ++row) staged[slot.index][row] = frame;
        uploads.arrived(slot, 4 * order[shot], 4);
      }
      if (given_up) continue;
      uploads.complete(slot);
      for (const auto& value : device[slot.index]) wrong += value == frame ? 0 : 1;
    }
  };
  {
    std::jthread other(send, std::ref(slots[1]));
    const std::uint64_t with_thread = allocations();
    send(slots[0]);
    other.join();
    taken = allocations() - with_thread;
  }
  EXPECT_EQ(wrong, 0);
  if (counts_allocations()) {
    EXPECT_EQ(taken, 0U);
  }
}

}  // namespace
}  // namespace echoform::test
