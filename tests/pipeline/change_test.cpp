// Settings that change while frames run, as the pipeline takes them.
#include "tests/pipeline/house.hpp"

namespace echoform::test {
namespace {

SetupFactory setups_of_revision(std::uint64_t revision) {
  return [revision](const Acquisition& acquisition) {
    auto setup = std::make_shared<ImagingSetup>(*bare_setup(acquisition));
    setup->settings_revision = revision;
    return setup;
  };
}

/// Notes the revision that each frame carries.
class RevisionSink final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup>) override { ++setups; }
  void publish(const FinishedFrame& frame) noexcept override {
    const std::lock_guard lock(mutex);
    revisions.push_back(frame.setup.settings_revision);
    gains.push_back(frame.setup.scale.gain_db);
  }
  [[nodiscard]] std::string describe() const override { return "revisions"; }
  std::mutex mutex;
  std::vector<std::uint64_t> revisions;
  std::vector<double> gains;
  std::atomic<int> setups{0};
};

struct ChangingHouse {
  explicit ChangingHouse(PipelineOptions options = {})
      : pipeline(options, setups_of_revision(1), {sink, revisions}, clock, fake_engines(control)) {}
  [[nodiscard]] SettingsChange change(std::uint64_t revision, DropPolicy policy = DropPolicy::block_sender) const {
    SettingsChange change;
    change.setup_factory = setups_of_revision(revision);
    change.policy = policy;
    return change;
  }
  [[nodiscard]] SettingsChange gain(std::uint64_t revision, double gain_db) const {
    SettingsChange changed = change(revision);
    changed.retuned = [revision, gain_db](const ImagingSetup& before) {
      auto setup = std::make_shared<ImagingSetup>(before);
      setup->settings_revision = revision;
      setup->scale.gain_db = gain_db;
      return setup;
    };
    return changed;
  }
  SystemClock clock;
  std::shared_ptr<EngineControl> control = std::make_shared<EngineControl>();
  std::shared_ptr<NotingSink> sink = std::make_shared<NotingSink>();
  std::shared_ptr<RevisionSink> revisions = std::make_shared<RevisionSink>();
  Pipeline pipeline;
};

TEST(PipelineChange, DisplaySettingsWaitForNoFrameThatTheEngineHas) {
  ChangingHouse house;
  house.control->by_hand = true;
  const auto intake = house.pipeline.open_stream(1, small_acquisition());
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  send_frame(*intake, lane, 1);
  ASSERT_TRUE(house.control->wait_held(2));
  EXPECT_TRUE(house.pipeline.change(house.gain(2, 7.0)));  // both are still in work
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 2U);
  EXPECT_EQ(house.pipeline.setup()->scale.gain_db, 7.0);
  send_frame(*intake, lane, 2);
  ASSERT_TRUE(house.control->wait_held(3));
  for (int k = 0; k < 3; ++k) house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(3));
  house.pipeline.stop();
  EXPECT_EQ(house.revisions->revisions, (std::vector<std::uint64_t>{1, 1, 2}));
  EXPECT_EQ(house.revisions->gains, (std::vector<double>{0.0, 0.0, 7.0}));
  EXPECT_EQ(house.revisions->setups, 1) << "nothing but the display settings changed";
  EXPECT_EQ(house.control->engines_made, 1);
}

TEST(PipelineChange, WhatTheEngineDoesNotTakeIsImagedByAnother) {
  ChangingHouse house;
  house.control->takes_settings = false;
  static_cast<void>(house.pipeline.open_stream(1, small_acquisition()));
  EXPECT_TRUE(house.pipeline.change(house.gain(2, 7.0)));
  EXPECT_EQ(house.control->engines_made, 2);
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 2U);
  EXPECT_EQ(house.pipeline.setup()->scale.gain_db, DisplayScale{}.gain_db) << "it is the factory's";
}

TEST(PipelineChange, ANewEngineWaitsForFramesInWorkAndTakesTheNextOne) {
  ChangingHouse house;
  house.control->by_hand = true;
  const auto intake = house.pipeline.open_stream(1, small_acquisition());
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  ASSERT_TRUE(house.control->wait_held(1));
  std::atomic<bool> changed{false};
  std::jthread changing([&] {
    EXPECT_TRUE(house.pipeline.change(house.change(2)));
    changed = true;
  });
  EXPECT_FALSE(changed) << "with a frame in work";
  house.control->finish_next();
  changing.join();
  send_frame(*intake, lane, 1);
  ASSERT_TRUE(house.control->wait_held(1));
  house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(2));
  house.pipeline.stop();
  ASSERT_EQ(house.revisions->revisions.size(), 2U);
  EXPECT_EQ(house.revisions->revisions[0], 1U);
  EXPECT_EQ(house.pipeline.counters().dropped(), 0U);
}

TEST(PipelineChange, WhatTheCheckRefusesChangesNothing) {
  ChangingHouse house;
  const auto intake = house.pipeline.open_stream(1, small_acquisition());
  SettingsChange refused = house.change(2, DropPolicy::drop_newest);
  refused.check = [](const ImagingSetup& setup) {
    EXPECT_EQ(setup.settings_revision, 2U);
    throw InputError("too large");
  };
  EXPECT_THROW(static_cast<void>(house.pipeline.change(refused)), InputError);
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 1U);
  EXPECT_EQ(house.control->engines_made, 1);
  EXPECT_TRUE(house.pipeline.reconfigure());
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 1U) << "the factory is the one of before";
}

TEST(PipelineChange, WithoutAStreamTheNextOneHasIt) {
  ChangingHouse house;
  EXPECT_FALSE(house.pipeline.change(house.change(5)));
  static_cast<void>(house.pipeline.open_stream(1, small_acquisition()));
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 5U);
  // A sender that comes back with the same acquisition finds what was changed meanwhile.
  EXPECT_TRUE(house.pipeline.change(house.gain(6, 3.0)));
  static_cast<void>(house.pipeline.open_stream(2, small_acquisition()));
  EXPECT_EQ(house.pipeline.setup()->settings_revision, 6U);
  EXPECT_EQ(house.control->engines_made, 1);
}

TEST(PipelineChange, AnotherDropPolicyReachesTheLaneThatWaits) {
  ChangingHouse house(with(DropPolicy::block_sender, 2));
  house.control->by_hand = true;
  const auto intake = house.pipeline.open_stream(1, small_acquisition());
  Bell bell;
  const LaneId lane = intake->open_lane(bell.wake());
  send_frame(*intake, lane, 0);
  send_frame(*intake, lane, 1);
  ASSERT_TRUE(house.control->wait_held(2));
  ASSERT_EQ(send_shot(*intake, lane, 2, 0), ShotVerdict::wait);
  SettingsChange change = house.gain(2, 0.0);
  change.policy = DropPolicy::drop_newest;
  EXPECT_TRUE(house.pipeline.change(change));
  ASSERT_TRUE(bell.wait());
  EXPECT_EQ(send_shot(*intake, lane, 2, 0), ShotVerdict::discarded);
  EXPECT_EQ(dropped(house.pipeline.counters(), DropReason::ring_full), 1U);
  // And back: the next frame is held again, not given up.
  EXPECT_TRUE(house.pipeline.change(house.gain(3, 0.0)));
  EXPECT_EQ(send_shot(*intake, lane, 3, 0), ShotVerdict::wait);
  EXPECT_EQ(dropped(house.pipeline.counters(), DropReason::ring_full), 1U);
  house.control->finish_next();
  house.control->finish_next();
  ASSERT_TRUE(bell.wait());
  EXPECT_TRUE(house.pipeline.counters().closes());
}

TEST(PipelineChange, fault_AfterTheEnd) {
  ChangingHouse house;
  static_cast<void>(house.pipeline.open_stream(1, small_acquisition()));
  house.pipeline.stop();
  EXPECT_THROW(static_cast<void>(house.pipeline.change(house.gain(2, 1.0))), InputError);
}

}  // namespace
}  // namespace echoform::test
