// Planning ends when it is told to, and when it takes longer than it may; memory goes with the sender.
#include <gmock/gmock.h>

#include "base/planning.hpp"
#include "cpu/for_each_or_throw.hpp"
#include "delay_laws/over_sources.hpp"
#include "tests/pipeline/house.hpp"
#include "tests/support/eventually.hpp"

namespace echoform::test {
namespace {

using testing::HasSubstr;

/// A door that a test opens and others wait at.
class Latch {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Work without an end, in pieces, on a team of threads.
void plan_for_ever(Latch& begun) {
  ThreadTeam team(3);
  for (;;) {
    for_each_or_throw(team, 8, 1, [&](std::size_t, std::size_t, std::size_t) { begun.open(); });
    over_sources(8, 3, [&](std::size_t) { begun.open(); });
  }
}

std::string reason_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST(Planning, EndsWhenThePipelineIsToldSo) {
  SystemClock clock;
  Latch begun;
  Pipeline pipeline(
      {},
      [&](const Acquisition& acquisition) {
        plan_for_ever(begun);
        return bare_setup(acquisition);
      },
      {}, clock, fake_engines(std::make_shared<EngineControl>()));
  std::string reason;
  std::jthread sender([&] { reason = reason_of([&] { static_cast<void>(pipeline.open_stream(1, small_acquisition())); }); });
  ASSERT_TRUE(begun.wait());
  pipeline.end_planning();
  sender.join();
  EXPECT_EQ(reason, "planning: stopped");
  EXPECT_EQ(reason_of([&] { static_cast<void>(pipeline.open_stream(2, small_acquisition())); }),
            "acquisition stream: the server is stopping");
}

TEST(Planning, OfAnEngineEndsWithStop) {
  SystemClock clock;
  Latch begun;
  Pipeline pipeline({}, bare_setup, {}, clock, [&](auto, const auto&, const auto&) -> std::unique_ptr<Engine> {
    plan_for_ever(begun);
    return nullptr;
  });
  std::string reason;
  std::jthread sender([&] { reason = reason_of([&] { static_cast<void>(pipeline.open_stream(1, small_acquisition())); }); });
  ASSERT_TRUE(begun.wait());
  pipeline.stop();
  sender.join();
  EXPECT_EQ(reason, "planning: stopped");
}

TEST(Planning, HasALimitAndTheStreamOfBeforeStays) {
  auto control = std::make_shared<EngineControl>();
  Latch begun;
  SystemClock clock;
  PipelineOptions options;
  options.planning_limit = std::chrono::seconds(1);  // the plans that are made take microseconds, on any machine
  Pipeline pipeline(options, bare_setup, {}, clock, [&](auto plan, const auto& choice, const auto& wanted) {
    if (plan->acquisition.elements() == 5) plan_for_ever(begun);
    return fake_engines(control)(std::move(plan), choice, wanted);
  });
  static_cast<void>(pipeline.open_stream(1, small_acquisition()));
  const std::string reason = reason_of([&] { static_cast<void>(pipeline.open_stream(2, small_acquisition(5))); });
  EXPECT_THAT(reason, HasSubstr("planning: found tables and transforms that take longer than 1 s; expected fewer pixels"));
  EXPECT_THAT(reason, HasSubstr("[input] planning_timeout"));
  ASSERT_NE(pipeline.setup(), nullptr);
  EXPECT_EQ(pipeline.setup()->acquisition.elements(), 4U);
  EXPECT_EQ(control->engines_alive, 1);
}

TEST(Planning, ProgramsWithoutAServerPlanAsLongAsTheyLike) {
  EXPECT_EQ(Planning::current(), nullptr);
  EXPECT_NO_THROW(keep_planning());
  const std::stop_source stop;
  {
    const Planning planning(stop.get_token(), std::chrono::hours(1));
    EXPECT_NO_THROW(keep_planning());
    const Planning inner(stop.get_token(), std::chrono::nanoseconds(1));
    EXPECT_EQ(Planning::current(), &inner);
  }
  EXPECT_EQ(Planning::current(), nullptr);
}

/// With a sink that knows when a stream ended, and time that the test moves.
struct Rented {
  Rented() : pipeline(options(), bare_setup, {sink}, clock, fake_engines(control)) {}
  static PipelineOptions options() {
    PipelineOptions options;
    options.release_after = std::chrono::seconds(5);
    return options;
  }
  struct Sink final : ImageSink {
    void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override { ++setups; }
    void stream_ended() override { ended.open(); }
    void publish(const FinishedFrame& /*frame*/) noexcept override {}
    [[nodiscard]] std::string describe() const override { return "sink"; }
    Latch ended;
    std::atomic<int> setups{0};
  };

  ManualClock clock;
  std::shared_ptr<EngineControl> control = std::make_shared<EngineControl>();
  std::shared_ptr<Sink> sink = std::make_shared<Sink>();
  Pipeline pipeline;
};

/// The publish worker looks at the clock every few milliseconds: moved again and again, it sees it move after the lane closed.
[[nodiscard]] bool ended_after_a_while(Rented& house) {
  return eventually([&] {
           if (house.pipeline.setup() == nullptr) return true;
           house.clock.advance(std::chrono::seconds(1));
           return false;
         }) &&
         house.sink->ended.wait();
}

TEST(Release, SlotsAndEngineGoWithTheSender) {
  Rented house;
  auto intake = house.pipeline.open_stream(1, small_acquisition());
  const LaneId lane = intake->open_lane({});
  EXPECT_GT(house.pipeline.bytes(), 0U);
  house.clock.advance(std::chrono::hours(1));
  send_frame(*intake, lane, 0);
  EXPECT_EQ(house.control->engines_alive, 1) << "while it is connected, however long";
  intake->close_lane(lane);
  intake.reset();
  ASSERT_TRUE(ended_after_a_while(house));
  EXPECT_EQ(house.control->engines_alive, 0);
  EXPECT_EQ(house.pipeline.bytes(), 0U);
  EXPECT_EQ(house.pipeline.host_bytes(), 0U);
  const CounterSnapshot counters = house.pipeline.counters();
  EXPECT_TRUE(counters.closes());
  EXPECT_EQ(counters.frames_received, 1U);
  EXPECT_EQ(counters.frames_published, 1U) << "its last frame was finished first";

  // And the next one finds a pipeline as at the start.
  const auto again = house.pipeline.open_stream(2, small_acquisition());
  const LaneId other = again->open_lane({});
  send_frame(*again, other, 0);
  EXPECT_EQ(house.control->engines_made, 2);
  EXPECT_EQ(house.sink->setups, 2);
}

TEST(Release, NotWhileOneWhoComesBackTakesOver) {
  Rented house;
  for (std::uint64_t session = 1; session <= 20; ++session) {
    const auto intake = house.pipeline.open_stream(session, small_acquisition());
    const LaneId lane = intake->open_lane({});
    send_frame(*intake, lane, 0);
    intake->close_lane(lane);
  }
  EXPECT_EQ(house.control->engines_made, 1);
}

/// Time that the test moves, and how often somebody asked for it.
class AskedClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const noexcept override {
    ++asked_;
    return now_.steady();
  }
  [[nodiscard]] WallTime wall() const noexcept override { return now_.wall(); }
  /// Moves it on, and waits until the publish worker has looked at it more than once.
  void advance_and_be_seen(std::chrono::seconds by) {
    now_.advance(by);
    const int before = asked_;
    EXPECT_TRUE(eventually([&] { return asked_ >= before + 6; }));
  }

 private:
  ManualClock now_;
  mutable std::atomic<int> asked_{0};
};

TEST(Release, NotOfTheStreamForWhichWasPlannedWhenItFellDue) {
  AskedClock clock;
  auto control = std::make_shared<EngineControl>();
  Pipeline pipeline(
      Rented::options(),
      [&](const Acquisition& acquisition) {
        if (acquisition.elements() == 5) {
          clock.advance_and_be_seen(std::chrono::seconds(10));
          clock.advance_and_be_seen(std::chrono::seconds(10));
        }
        return bare_setup(acquisition);
      },
      {}, clock, fake_engines(control));
  auto before = pipeline.open_stream(1, small_acquisition());
  before->close_lane(before->open_lane({}));
  before.reset();
  const auto intake = pipeline.open_stream(2, small_acquisition(5));
  clock.advance_and_be_seen(std::chrono::seconds(1));
  LaneId lane = 0;
  ASSERT_NO_THROW(lane = intake->open_lane({})) << "its time begins when it is there";
  send_frame(*intake, lane, 0);
  EXPECT_EQ(pipeline.setup()->acquisition.elements(), 5U);
}

}  // namespace
}  // namespace echoform::test
