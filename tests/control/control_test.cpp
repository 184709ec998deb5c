// Settings that change while frames run: every image is wholly by one set of settings, none is lost, and what is refused changes
// nothing.
#include <cmath>
#include <set>

#include "pipeline/words.hpp"
#include "settings/live_keys.hpp"
#include "tests/control/rig.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {
namespace {

using testing::HasSubstr;

class LiveControl : public testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (GetParam() == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
};

TEST_P(LiveControl, ImagesBeforeAChangeAreOfTheOldSettingsAndAfterItOfTheNew) {
  Rig rig(GetParam());
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  ASSERT_TRUE(rig.sink->wait_revision(1));
  const std::vector<std::vector<std::pair<std::string, std::string>>> changes{
      {{"output.gain_db", "6"}},
      {{"grid.x", "[-0.003, 0.001]"}, {"grid.pixels", "[24, 12]"}},
      {{"output.dynamic_range_db", "60"}, {"output.gain_db", "-3"}},
      {{"material.longitudinal_velocity", "5800"}},
      {{"apodization.window", "hann"}, {"apodization.sides", "transmit"}},
      {{"output.reference_value", "900"}},
      {{"filter.kind", "none"}},
      {{"filter.kind", "band"}, {"filter.band", "[4e6, 6e6]"}},
      {{"imaging.views", "[\"LL\", \"LT\"]"}, {"material.shear_velocity", "3100"}},
      {{"display.pixels", "[40, 30]"}, {"output.gain_db", "2"}},
      {{"imaging.interpolation", "nearest"}, {"acquisition.time_offset", "1e-7"}},
      {{"imaging.views", "[\"LL\"]"}, {"display.pixels", ""}, {"grid.x", ""}},
  };
  for (const auto& change : changes) ASSERT_TRUE(rig.sink->wait_revision(rig.set(change)));
  feeder.stop();
  ASSERT_TRUE(rig.sink->wait_count(feeder.sent()));
  rig.check_all(feeder.sent());
  // Every set of settings made images, so the comparisons above said something of each; and the images differ.
  std::set<std::uint64_t> seen;
  for (const SeenFrame& frame : rig.sink->frames()) seen.insert(frame.revision);
  EXPECT_EQ(seen.size(), changes.size() + 1);
  for (std::uint64_t revision = 1; revision <= changes.size(); ++revision)
    EXPECT_NE(rig.expected_images(revision, 0), rig.expected_images(revision + 1, 0)) << revision;
}

TEST_P(LiveControl, SurfacesAndProbeMoveBetweenTwoFrames) {
  Rig rig(GetParam());
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  ASSERT_TRUE(rig.sink->wait_revision(1));
  const std::vector<std::vector<std::pair<std::string, std::string>>> changes{
      {{"imaging.delay_law", "immersion"}, {"couplant.velocity", "4000"}, {"probe.stand_off", "5e-4"}},
      {{"probe.stand_off", "1e-3"}, {"probe.angle", "3"}},
      {{"surface.kind", "plane"}, {"surface.angle", "2"}},
      {{"surface.kind", "cylinder"}, {"surface.angle", ""}, {"surface.radius", "0.03"}},
      {{"backwall.kind", "plane"}, {"backwall.z", "0.009"}, {"imaging.views", "[\"LL-L\"]"}},
  };
  for (const auto& change : changes) ASSERT_TRUE(rig.sink->wait_revision(rig.set(change)));
  const wire::ControlReply refused = rig.ask("set", {{"surface.z", "-0.01"}});
  EXPECT_EQ(refused.outcome(), wire::REFUSED);
  EXPECT_THAT(refused.reason(), HasSubstr("settings: [probe] stand_off: found element 0"));
  EXPECT_THAT(rig.ask("set", {{"surface.kind", "plane"}}).reason(), HasSubstr("live, \"radius=\" in the same change clears it"));
  EXPECT_THAT(rig.ask("set", {{"surface.file", "wall.csv"}}).reason(), HasSubstr("this key is not live"));
  feeder.stop();
  ASSERT_TRUE(rig.sink->wait_count(feeder.sent()));
  rig.check_all(feeder.sent());
  for (std::uint64_t revision = 1; revision <= changes.size(); ++revision)
    EXPECT_NE(rig.expected_images(revision, 0), rig.expected_images(revision + 1, 0)) << revision;
}

TEST_P(LiveControl, DisplaySettingsAndDropPolicyMakeNothingAnew) {
  Rig rig(GetParam());
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  ASSERT_EQ(*rig.made, 1);
  const std::size_t bytes = rig.pipeline.bytes();
  for (int k = 0; k < 40; ++k) {
    const std::string level = std::to_string(k % 7);
    static_cast<void>(rig.set({{"output.gain_db", level}, {"output.dynamic_range_db", std::to_string(30 + k)}}));
  }
  const std::uint64_t last = rig.set({{"input.drop_policy", "drop_oldest"}});
  ASSERT_TRUE(rig.sink->wait_revision(last));
  // The frames of before were held back, none given up; those after may be.
  feeder.stop();
  EXPECT_EQ(*rig.made, 1);
  EXPECT_EQ(rig.pipeline.bytes(), bytes);
  for (const SeenFrame& frame : rig.sink->frames())
    ASSERT_EQ(frame.images, rig.expected_images(frame.revision, frame.sequence)) << frame.sequence;
}

TEST_P(LiveControl, ARunningReferenceGoesOnThroughAChangeOfGain) {
  Rig rig(GetParam(), std::string(rig_file) + "running_fraction = 0.5\n");
  ASSERT_TRUE(rig.ask("set", {{"output.reference", "running"}}).outcome() == wire::DONE);
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  // One data set has the highest peak: the reference falls from it by half of the way with each lower frame. By the rule of
  // stages/compression: worked out here from the envelopes that came out.
  double reference = 0.0;
  std::size_t count = 0;
  const auto follow = [&] {
    feeder.send_one();
    ASSERT_TRUE(rig.sink->wait_count(++count));
    const SeenFrame frame = rig.sink->frames().back();
    const double peak = *std::max_element(frame.images[0].envelope.begin(), frame.images[0].envelope.end());
    reference = peak >= reference ? peak : reference + 0.5 * (peak - reference);
    // The brightest pixel: 255 levels over the range, less the gain's.
    const double level = 255.0 * (1.0 + (20.0 * std::log10(peak / reference) + frame.scale.gain_db) / 40.0);
    const double shown = *std::max_element(frame.images[0].display.begin(), frame.images[0].display.end());
    EXPECT_NEAR(shown, std::min(255.0, level), 0.51) << count;
  };
  for (int k = 0; k < 4; ++k) follow();
  static_cast<void>(rig.set({{"output.gain_db", "-12"}}));
  for (int k = 0; k < 4; ++k) follow();
  // A fixed one, and back: it begins anew with the next frame's peak.
  static_cast<void>(rig.set({{"output.reference", "fixed"}}));
  feeder.send_one();
  ASSERT_TRUE(rig.sink->wait_count(++count));
  static_cast<void>(rig.set({{"output.reference", "running"}}));
  reference = 0.0;
  for (int k = 0; k < 4; ++k) follow();
  // And it goes on through a new engine.
  static_cast<void>(rig.set({{"apodization.angle_limit", "80"}}));
  for (int k = 0; k < 4; ++k) follow();
}

struct Wrong {
  std::string name;
  std::vector<std::pair<std::string, std::string>> changes;
  std::string reason;
};

std::vector<Wrong> wrong_changes() {
  const std::pair<std::string, std::string> good{"output.gain_db", "9"};
  return {
      {"unknown_key",
       {good, {"grid.xx", "[0, 1]"}},
       "settings: found the unknown key \"grid.xx\"; expected SECTION.KEY of a live key; the nearest known one is grid.x"},
      {"key_without_section",
       {good, {"gain_db", "1"}},
       "settings: found the unknown key \"gain_db\"; expected SECTION.KEY of a live key; the nearest known one is "
       "output.gain_db"},
      {"fixed_key",
       {good, {"input.slots", "8"}},
       "[input] slots: found a change while the server runs; expected a change of the file and a restart: this key is not live"},
      {"secret_key",
       {good, {"input.token", "x"}},
       "[input] token: found a change while the server runs; expected a change of the file and a restart: this key is not live"},
      {"twice", {good, {"grid.y", "0"}, {"grid.y", "0"}}, "settings: found the key grid.y twice; expected each key once"},
      {"out_of_range",
       {good, {"output.dynamic_range_db", "500"}},
       "[output] dynamic_range_db: found 500; expected a number in dB, 1 to 200"},
      {"wrong_type",
       {good, {"grid.pixels", "[16.5, 16]"}},
       "[grid] pixels: found 16.5; expected two or three integers, 1 to 65536"},
      {"unknown_word",
       {good, {"apodization.window", "kaiser"}},
       "[apodization] window: found \"kaiser\"; expected one of none, hann, tukey"},
      {"no_value", {good, {"output.gain_db ", "]"}}, "settings: found the unknown key \"output.gain_db \""},
      {"broken_value",
       {good, {"grid.x", "[1, "}},
       "[grid] x: found \"[1, \", which is no TOML value; expected two numbers in m, -10 to 10"},
      {"second_line",
       {good, {"grid.y", "0\n[input]\nslots = 9"}},
       "[grid] y: found \"0?[input]?slots = 9\", which is no TOML value"},
      {"not_a_number", {good, {"grid.y", "nan"}}, "[grid] y: found nan; expected one or two numbers in m, -10 to 10"},
      {"reversed_grid", {good, {"grid.z", "[0.008, 0.002]"}}, "settings: [grid] z: found [0.008, 0.002]; expected first < last"},
      {"missing_velocity",
       {good, {"imaging.views", "[\"TT\"]"}},
       "settings: [material] shear_velocity: found no value; expected a velocity in m/s, which view \"TT\" needs"},
      {"unknown_law",
       {good, {"imaging.delay_law", "warp"}},
       "settings: [imaging] delay_law: found \"warp\"; expected one of: contact"},
      {"unknown_view",
       {good, {"imaging.views", "[\"LQ\"]"}},
       "[imaging] views: found \"LQ\"; expected LL, LT, TL or TT, or the legs of both sides"},
      {"too_large", {good, {"grid.pixels", "[65536, 65536]"}}, "expected"},
      {"no_change", {}, "settings: found no change; expected at least one KEY and its value"},
  };
}

TEST_P(LiveControl, WhatIsRefusedIsRefusedWholeAndChangesNothing) {
  Rig rig(GetParam());
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  ASSERT_TRUE(rig.sink->wait_count(5));
  for (const Wrong& wrong : wrong_changes()) {
    SCOPED_TRACE(wrong.name);
    const wire::ControlReply reply = rig.ask("set", wrong.changes);
    EXPECT_EQ(reply.outcome(), wire::REFUSED);
    EXPECT_THAT(reply.reason(), HasSubstr(wrong.reason));
    EXPECT_EQ(reply.reason().find('\n'), std::string::npos);
    EXPECT_EQ(reply.revision(), 1U);
    EXPECT_EQ(reply.settings_size(), 0);
  }
  EXPECT_TRUE(differing_keys(rig.control.configuration(), rig.configuration).empty());
  feeder.stop();
  ASSERT_TRUE(rig.sink->wait_count(feeder.sent()));
  rig.check_all(feeder.sent());  // all by revision 1, bit for bit
  EXPECT_EQ(rig.sink->frames().back().revision, 1U);
  EXPECT_EQ(*rig.made, 1);
}

TEST_P(LiveControl, AnEngineThatCannotBeBuiltLeavesTheOneInWork) {
  auto fails = std::make_shared<std::atomic<bool>>(false);
  Rig rig(GetParam(), rig_file, [fails](auto setup, const auto& choice, const auto& options) {
    if (*fails) throw RuntimeFault("no memory for the engine");
    return make_engine(std::move(setup), choice, options);
  });
  const auto intake = rig.pipeline.open_stream(1, rig_acquisition());
  Feeder feeder(*intake);
  feeder.start();
  *fails = true;
  const wire::ControlReply reply = rig.ask("set", {{"grid.pixels", "[30, 30]"}, {"output.gain_db", "3"}});
  EXPECT_EQ(reply.outcome(), wire::FAILED);
  EXPECT_EQ(reply.reason(), "no memory for the engine");
  EXPECT_EQ(reply.revision(), 1U);
  *fails = false;
  ASSERT_TRUE(rig.sink->wait_revision(rig.set({{"output.gain_db", "1"}})));
  feeder.stop();
  ASSERT_TRUE(rig.sink->wait_count(feeder.sent()));
  rig.check_all(feeder.sent());
}

INSTANTIATE_TEST_SUITE_P(Backends, LiveControl, testing::Values(BackendKind::cpu, BackendKind::cuda),
                         [](const auto& backend) { return std::string(words::backend_kind.of(backend.param)); });

}  // namespace
}  // namespace echoform::test
