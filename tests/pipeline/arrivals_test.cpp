// What the engine hears while frames arrive, and that no engine hears anything after its end.
#include "tests/pipeline/support.hpp"

#include <thread>

namespace echoform::test {
namespace {

struct Heard {
  std::atomic<int> faults{0};  // rows told twice, rows of frames not told at submit, calls after the end
  std::atomic<std::uint64_t> opened{0};
  std::atomic<std::uint64_t> rows{0};
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> envelopes{0};
};

/// Counts how often it is told of each row of each slot.
class ListeningEngine final : public Engine {
 public:
  ListeningEngine(std::shared_ptr<const ImagingSetup> setup, std::shared_ptr<Heard> heard, bool first)
      : setup_(std::move(setup)), heard_(std::move(heard)), whole_(first) {}
  ~ListeningEngine() override { alive_.store(false); }
  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return "listening"; }
  void equip(FrameSlot& slot) override {
    slot.samples = make_buffer(setup_->acquisition.frame_bytes());
    slot.outputs.resize(1);
    slot.outputs[0].data = make_buffer(setup_->recipe.outputs.front().description.bytes());
    if (told_.size() <= slot.index) told_.resize(slot.index + 1);
    told_[slot.index].assign(setup_->acquisition.a_scans(), 0);
  }
  void frame_opened(FrameSlot& slot) noexcept override {
    if (!alive_.load()) ++heard_->faults;
    std::fill(told_[slot.index].begin(), told_[slot.index].end(), 0);
    ++heard_->opened;
  }
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept override {
    if (!alive_.load()) ++heard_->faults;
    for (std::size_t row = first_row; row < first_row + rows; ++row) {
      if (++told_[slot.index][row] != 1) ++heard_->faults;
    }
    heard_->rows += rows;
  }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    // An engine that came while the frame arrived has heard of the rest alone.
    for (std::size_t row = 0; row < told_[slot.index].size() && whole_; ++row) {
      const std::size_t n = setup_->acquisition.elements();
      const bool dead = setup_->acquisition.matrix == MatrixKind::full && setup_->acquisition.probe.elements[row / n].dead;
      if (told_[slot.index][row] != (dead ? 0 : 1)) ++heard_->faults;
    }
    ++heard_->submitted;
    if (slot.envelope_wanted) ++heard_->envelopes;
    static_cast<float*>(slot.outputs[0].data.data())[0] = static_cast<float>(slot.sequence);
    done(slot, true);
  }
  [[nodiscard]] float reference(std::size_t) const noexcept override { return 42.0F; }
  void resume(std::size_t output, float known) noexcept override {
    if (output != 0 || known != 42.0F) ++heard_->faults;
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 1; }

 private:
  std::shared_ptr<const ImagingSetup> setup_;
  std::shared_ptr<Heard> heard_;
  bool whole_;
  std::atomic<bool> alive_{true};
  std::vector<std::vector<int>> told_;
};

/// Reads envelopes now and then.
class PickySink final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup>) override {}
  void publish(const FinishedFrame& frame) noexcept override {
    if (frame.slot.envelope_wanted) ++with;
    ++all;
    all.notify_all();
  }
  [[nodiscard]] bool wants_envelope() noexcept override { return wanted.load(); }
  [[nodiscard]] std::string describe() const override { return "picky"; }
  std::atomic<bool> wanted{false};
  std::atomic<std::uint64_t> with{0};
  std::atomic<std::uint64_t> all{0};
};

struct Listening {
  explicit Listening(PipelineOptions options = {})
      : pipeline(options, bare_setup, {sink}, clock,
                 [this](std::shared_ptr<const ImagingSetup> setup, const BackendChoice&, const EngineOptions& engine_options) {
                   slots = engine_options.slots;
                   return std::make_unique<ListeningEngine>(std::move(setup), heard, !std::exchange(made, true));
                 }) {}
  void wait(std::uint64_t frames) {
    for (std::uint64_t all = sink->all.load(); all < frames; all = sink->all.load()) sink->all.wait(all);
  }
  SystemClock clock;
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  std::shared_ptr<PickySink> sink = std::make_shared<PickySink>();
  bool made = false;
  std::size_t slots = 0;
  Pipeline pipeline;
};

TEST(Arrivals, AreToldOnceARowBeforeTheFrameIsSubmitted) {
  for (const auto matrix : {MatrixKind::full, MatrixKind::half}) {
    Listening house;
    const std::set<std::size_t> dead = matrix == MatrixKind::full ? std::set<std::size_t>{2} : std::set<std::size_t>{};
    const Acquisition acquisition = small_acquisition(5, 8, matrix, dead);
    const auto intake = house.pipeline.open_stream(1, acquisition);
    EXPECT_EQ(house.slots, house.pipeline.options().slots);
    const LaneId lane = intake->open_lane([] {});
    // A frame that is given up, a shot that is abandoned and sent again, a duplicate.
    EXPECT_EQ(send_shot(*intake, lane, 0, 0), ShotVerdict::accepted);
    EXPECT_EQ(send_shot(*intake, lane, 0, 1), ShotVerdict::accepted);
    const ShotPlace broken = intake->begin_shot(lane, {1, 4, WallTime(0)}, shot_bytes(acquisition, 4));
    ASSERT_EQ(broken.verdict, ShotVerdict::accepted);
    intake->abandon_shot(lane, broken.ticket);
    for (const std::uint32_t transmit : {4U, 1U, 0U, 0U, 2U, 3U}) static_cast<void>(send_shot(*intake, lane, 1, transmit));
    house.wait(1);
    intake->close_lane(lane);
    house.pipeline.stop();
    EXPECT_EQ(house.heard->faults, 0);
    EXPECT_EQ(house.heard->opened, 2U);
    EXPECT_EQ(house.heard->submitted, 1U);
  }
}

TEST(Arrivals, ReachTheEngineOfNowThroughExchanges) {
  Listening house;
  const Acquisition acquisition = small_acquisition(8, 16);
  const auto intake = house.pipeline.open_stream(1, acquisition);
  constexpr std::uint64_t frames = 400;
  std::jthread sender([&] {
    Bell bell;
    const LaneId lane = intake->open_lane(bell.wake());
    for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
      for (std::uint32_t tx = 0; tx < 8; ++tx) {
        while (send_shot(*intake, lane, sequence, tx) == ShotVerdict::wait) ASSERT_TRUE(bell.wait());
      }
    }
    house.wait(frames);
    intake->close_lane(lane);
  });
  for (int k = 0; k < 30; ++k) EXPECT_TRUE(house.pipeline.reconfigure());
  sender.join();
  house.pipeline.stop();
  EXPECT_EQ(house.heard->faults, 0);
  EXPECT_EQ(house.heard->opened, frames);
  EXPECT_EQ(house.heard->rows, frames * 64);
  EXPECT_EQ(house.sink->all, frames);
}

TEST(Arrivals, SayWhetherAnEnvelopeIsWanted) {
  Listening house;
  const auto intake = house.pipeline.open_stream(1, small_acquisition());
  const LaneId lane = intake->open_lane([] {});
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
    house.sink->wanted = sequence % 2 == 1;
    send_frame(*intake, lane, sequence);
    house.wait(sequence + 1);
  }
  intake->close_lane(lane);
  house.pipeline.stop();
  EXPECT_EQ(house.heard->envelopes, 2U);
  EXPECT_EQ(house.sink->with, 2U);
}

}  // namespace
}  // namespace echoform::test
