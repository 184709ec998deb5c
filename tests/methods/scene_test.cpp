// Surfaces, couplant and placement as a configuration states them, and every way in which they can be wrong.
#include "methods/tfm/scene.hpp"
#include "methods/filter_settings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "base/errors.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "methods/overrides.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/standing_check.hpp"
#include "settings/key_table.hpp"
#include "settings/live_keys.hpp"
#include "settings/reader.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/methods/host_bytes.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Acquisition scene_example() {
  Acquisition acquisition = test::frames_of(test::sixteen_elements(), 2000, Hertz(50e6));
  acquisition.encoding = SampleEncoding::float32;
  return acquisition;
}
const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};

Configuration parsed(const std::string& text) {
  return parse_configuration(text, "part.toml");
}

std::shared_ptr<const ImagingPlan> plan_of(const std::string& text) {
  return build_plan(parsed(text), scene_example(), aluminium);
}

/// What parsing and planning throws; empty if it throws nothing.
std::string scene_fault_of(const std::string& text) {
  return test::input_error([&] { static_cast<void>(plan_of(text)); });
}

const std::string grid = "[grid]\nx = [-0.005, 0.005]\nz = [0.002, 0.02]\npixels = [5, 7]\n";
const std::string water = "[couplant]\nvelocity = 1480\n[probe]\nstand_off = 0.02\n";

std::string immersion(const std::string& views = "\"LL\"") {
  return water + grid + "[imaging]\ndelay_law = \"immersion\"\nviews = [" + views + "]\n";
}
std::string contact(const std::string& views) {
  return grid + "[imaging]\nviews = [" + views + "]\n";
}

class SurfaceFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string fault(const std::string& text) const {
    write("part.toml", text);
    std::string what = test::input_error(
        [&] { static_cast<void>(build_plan(load_configuration(folder_ / "part.toml"), scene_example(), aluminium)); });
    for (std::size_t at = what.find(folder_.string()); at != std::string::npos; at = what.find(folder_.string())) {
      what.replace(at, folder_.string().size(), "FOLDER");
    }
    return what;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("echoform_scene_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(Scene, IsNothingUnlessStated) {
  const Scene scene = make_scene({});
  EXPECT_EQ(scene.couplant.value, 0.0);
  EXPECT_EQ(scene.surface, nullptr);
  EXPECT_EQ(scene.backwall, nullptr);
}

TEST(Scene, HoldsWhatTheSectionsDescribe) {
  const Scene scene =
      make_scene(parsed("[couplant]\nvelocity = 2730\n[surface]\nkind = \"plane\"\nz = 1e-3\nangle = 45\n[backwall]\nkind = "
                        "\"cylinder\"\nradius = 0.05\nz = "
                        "0.02\n"));
  EXPECT_EQ(scene.couplant.value, 2730.0);
  // 45 degrees: 10 mm along x is 10 mm down from 1 mm.
  EXPECT_NEAR(scene.surface->signed_distance({10e-3, 11e-3}), 0.0, 1e-12);
  EXPECT_GT(scene.surface->signed_distance({10e-3, 12e-3}), 0.0);
  EXPECT_LT(scene.backwall->signed_distance({0.0, 19e-3}), 0.0);
}

TEST(Scene, WithoutASurfaceItIsThePlaneAtZero) {
  for (const char* text : {"[couplant]\nvelocity = 1480\n", "[backwall]\nkind = \"plane\"\nz = 0.02\n"}) {
    const Scene scene = make_scene(parsed(text));
    ASSERT_NE(scene.surface, nullptr);
    EXPECT_TRUE(scene.surface->plane());
    EXPECT_NEAR(scene.surface->signed_distance({0.3, 1e-3}), 1e-3, 1e-12);
  }
}

TEST(Scene, PlanesReachBeyondTheGrid) {
  const Scene scene = make_scene(parsed("[couplant]\nvelocity = 1480\n[grid]\nx = [1.0, 3.0]\n"));
  EXPECT_EQ(scene.surface->segments().front().a.x, -6.0);
}

TEST(Scene, PlanesReachBeyondAProbeThatTheDataHasFarAside) {
  Probe probe = make_linear_probe(1, Metres(1e-3), Metres(1e-3), Hertz(5e6), Hertz(3e6));
  probe.elements[0].centre.x = Metres(0.8);
  const Scene scene = make_scene(parsed("[couplant]\nvelocity = 1480\n"), probe);
  EXPECT_EQ(scene.surface->segments().front().a.x, -1.6);
}

TEST(Scene, AWedgeOfARecordingInAnotherUnitIsRefused) {
  const Configuration configuration = parsed("[imaging]\ndelay_law = \"immersion\"\n");
  const Acquisition acquisition = scene_example();
  const auto task_with = [&](double wedge_velocity) {
    const TaskRules rules = tfm_rules(configuration, acquisition, ImagingUse::live);
    return make_imaging_task(configuration, acquisition, {{}, MetresPerSecond(wedge_velocity)}, rules);
  };
  EXPECT_EQ(test::input_error([&] { static_cast<void>(task_with(2.33)); }),
            "part.toml: [couplant] velocity: found no value, and 2.33 m/s for the recording's wedge; expected a velocity of at "
            "least 10 m/s");
  EXPECT_FALSE(configuration.couplant.velocity);
  const ImagingTask task = task_with(2330.0);
  EXPECT_EQ(task.couplant.velocity, MetresPerSecond(2330.0));
  EXPECT_THAT(task.notes, ElementsAre("part.toml: [couplant] velocity: 2330 m/s of the recording's wedge"));
}

TEST_F(SurfaceFile, IsRelativeToTheConfiguration) {
  write("wall.csv", "x,z\n-0.1,0.02\n0.1,0.024\n");
  write("part.toml", "[backwall]\nkind = \"profile\"\nfile = \"wall.csv\"\n");
  const Scene scene = make_scene(load_configuration(folder_ / "part.toml"));
  EXPECT_NEAR(scene.backwall->signed_distance({0.0, 22e-3}), 0.0, 1e-12);
  EXPECT_EQ(
      fault("[surface]\nkind = \"profile\"\nfile = \"none.csv\"\n" + immersion()),
      "FOLDER/part.toml: [surface] file: found FOLDER/none.csv, which does not exist; expected a CSV file with lines of x,z in "
      "m");
  EXPECT_THAT(fault("[surface]\nkind = \"profile\"\nfile = \"\"\n" + immersion()),
              HasSubstr("part.toml:3: [surface] file: found \"\""));
}

TEST_F(SurfaceFile, ThatIsNoProfileIsRefusedByItsKindOfFault) {
  const auto of = [&](const std::string& name) {
    return fault("[surface]\nkind = \"profile\"\nfile = \"" + name + "\"\n" + immersion());
  };
  const auto of_text = [&](const std::string& text) {
    write("some.csv", text);
    return of("some.csv");
  };
  const std::string key = "FOLDER/part.toml: [surface] file: found ";
  EXPECT_EQ(of("."), key + "FOLDER/., which is no regular file; expected a CSV file with lines of x,z in m");
  EXPECT_EQ(of("/dev/zero"), key + "/dev/zero, which is no regular file; expected a CSV file with lines of x,z in m");
  EXPECT_EQ(of_text(std::string((1 << 20) + 1, '#')), key + "FOLDER/some.csv, a file of 1048577 bytes; expected at most 1 MiB");
  EXPECT_EQ(of_text("0.1,0\n-0.1,0\n"), "FOLDER/some.csv: found points from right to left; expected from left to right");
  EXPECT_EQ(of_text("-20,0\n20,0\n"), "FOLDER/some.csv: found a length of 40 m; expected metres, at most 10 in all");
  EXPECT_EQ(of_text(std::string("-0.1,0\n0.1,0\0\n", 13)),
            "FOLDER/some.csv, line 2: found a byte of 0; expected text in ASCII or UTF-8: x,z in m");
  EXPECT_EQ(of_text("-0x1p-4,0\n0.1,0\n"), "FOLDER/some.csv, line 1: found \"-0x1p-4\"; expected a number in m");
  EXPECT_EQ(of_text("\xEF\xBB\xBF-0.1,0\n0.1,0\n"), "") << "with a byte order mark, as spreadsheets write it";
  EXPECT_EQ(of_text("\xEF\xBB\xBFx,z\n-0.1,0\n0.1,0\n"), "");
}

TEST_F(SurfaceFile, ThatCrossesItselfIsRefused) {
  write("loop.csv", "-0.1,0\n0.01,0\n0.01,0.005\n0.0,0.005\n0.0,-0.002\n0.1,-0.002\n");
  EXPECT_THAT(fault("[surface]\nkind = \"profile\"\nfile = \"loop.csv\"\n" + immersion()),
              ::testing::AllOf(HasSubstr("[surface] FOLDER/loop.csv: found a curve that crosses itself near"),
                               HasSubstr("expected one that does not")));
}

TEST_F(SurfaceFile, ThatRaysMissLeavesNothingToImage) {
  write("far.csv", "0.4,0\n0.41,0\n");
  EXPECT_THAT(
      fault("[surface]\nkind = \"profile\"\nfile = \"far.csv\"\n" + immersion()),
      HasSubstr(
          "[imaging] views: found \"LL\", of which no ray reaches any pixel from any element; expected a probe, surfaces and "
          "a grid with rays between them: not beyond the critical angle, in shadow or off the surfaces' ends"));
}

TEST(Scene, FaultsOfTheKeysNameTheirLine) {
  EXPECT_EQ(scene_fault_of("[couplant]\nvelocity = 0\n"),
            "part.toml:2: [couplant] velocity: found 0; expected a number in m/s, 10 to 20000");
  EXPECT_EQ(scene_fault_of("[surface]\nkind = \"torus\"\n"),
            "part.toml:2: [surface] kind: found \"torus\"; expected one of plane, cylinder, profile, sphere, revolved, stl");
  EXPECT_EQ(scene_fault_of("[surface]\nkind = \"cylinder\"\nradius = 1e-9\n"),
            "part.toml:3: [surface] radius: found 1e-09; expected a number in m, 0.0001 to 100");
  EXPECT_THAT(scene_fault_of("[surface]\nradios = 1\n"), HasSubstr("the nearest is radius in [surface]"));
}

TEST(Scene, FaultsOfTheDescriptionNameTheSection) {
  EXPECT_EQ(scene_fault_of("[surface]\nangle = 3\n" + immersion()),
            "part.toml: [surface] kind: found no value beside angle; expected the kind of surface that it describes");
  EXPECT_EQ(scene_fault_of("[backwall]\nkind = \"plane\"\nradius = 0.1\n" + immersion()),
            "part.toml: [backwall] radius: found a key for kind = \"plane\"; expected only z, angle, angle_across; live, "
            "\"radius=\" in the "
            "same change clears it");
  EXPECT_EQ(scene_fault_of("[surface]\nkind = \"cylinder\"\n" + immersion()),
            "part.toml: [surface] radius: found no value; expected a number in m, which kind = \"cylinder\" needs");
}

TEST(Placement, MovesAndTiltsTheElementsAboutTheAperturesCentre) {
  const Configuration configuration = parsed("[probe]\nstand_off = 0.02\nangle = 30\nx = -0.01\n");
  Acquisition acquisition = scene_example();
  for (Element& element : acquisition.probe.elements) element.centre.x += Metres(5e-3);
  Material material = aluminium;
  std::vector<std::string> notes;
  apply_overrides(configuration, acquisition, material, notes);
  const auto& elements = acquisition.probe.elements;
  // 4.5 mm from the centre to the last element: 4.5 cos 30 along x and 4.5 sin 30 deeper.
  EXPECT_NEAR(elements.back().centre.x.value, -10e-3 + 4.5e-3 * std::sqrt(0.75), 1e-15);
  EXPECT_NEAR(elements.back().centre.z.value, -20e-3 + 2.25e-3, 1e-15);
  EXPECT_NEAR(elements.front().centre.z.value, -20e-3 - 2.25e-3, 1e-15);
  EXPECT_NEAR(elements.front().normal.x, -0.5, 1e-15);
  EXPECT_NEAR(elements.front().normal.z, std::sqrt(0.75), 1e-15);
  EXPECT_THAT(notes, ElementsAre("part.toml: [probe] stand_off = 20 mm replaces the placement of the data",
                                 "part.toml: [probe] angle = 30 degrees turns the data's 0 degrees by 30 degrees, to 30 degrees",
                                 "part.toml: [probe] x = -10 mm replaces the placement of the data"));
}

TEST(Placement, TurnsWhatIsTurnedAlreadyAndSaysSo) {
  Acquisition acquisition = scene_example();
  Material material = aluminium;
  std::vector<std::string> notes;
  apply_overrides(parsed("[probe]\nangle = 36\n"), acquisition, material, notes);
  // Counted from the other end the line is the same.
  for (const bool reversed : {false, true}) {
    notes.clear();
    Acquisition turned = acquisition;
    if (reversed) std::reverse(turned.probe.elements.begin(), turned.probe.elements.end());
    apply_overrides(parsed("[probe]\nangle = 10\n"), turned, material, notes);
    EXPECT_THAT(notes,
                ElementsAre("part.toml: [probe] angle = 10 degrees turns the data's 36 degrees by 10 degrees, to 46 degrees"));
    const Element& end = reversed ? turned.probe.elements.front() : turned.probe.elements.back();
    EXPECT_NEAR(end.centre.z.value, 4.5e-3 * std::sin(46.0 * std::numbers::pi / 180.0), 1e-15);
  }
}

TEST(Placement, LeavesWhatIsAbsent) {
  Acquisition acquisition = scene_example();
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-7e-3);
  Material material = aluminium;
  std::vector<std::string> notes;
  apply_overrides(parsed("[probe]\nx = 0.01\n"), acquisition, material, notes);
  EXPECT_NEAR(acquisition.probe.elements.front().centre.x.value, 10e-3 - 4.5e-3, 1e-15);
  EXPECT_EQ(acquisition.probe.elements.front().centre.z.value, -7e-3);
  EXPECT_EQ(acquisition.probe.elements.front().normal.z, 1.0);
}

/// What building a plan has to say against its geometry.
std::vector<std::string> unheeded(const std::string& text, double placed_at = 0.0) {
  Acquisition acquisition = scene_example();
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(placed_at);
  const Configuration configuration = parsed(text);
  const auto plan = build_plan(configuration, acquisition, aluminium);
  return geometry_warnings(configuration, *plan, make_scene(configuration));
}

TEST(Geometry, ThatContactDoesNotHeedIsSaid) {
  const std::string plate = "[backwall]\nkind = \"plane\"\nz = 0.025\n";
  EXPECT_THAT(
      unheeded("[surface]\nkind = \"plane\"\n" + contact("\"LL\"")),
      ElementsAre("part.toml: [surface] kind: \"plane\" is not used: with delay_law = \"contact\" only views that skip meet the "
                  "front surface; set [imaging] delay_law = \"immersion\" and [couplant] velocity, or leave out [surface]"));
  EXPECT_THAT(unheeded("[surface]\nkind = \"plane\"\n" + plate + contact("\"TT-T\"")), ElementsAre());
  EXPECT_THAT(unheeded("[probe]\nstand_off = 0.02\n" + contact("\"LL\"")),
              ElementsAre("part.toml: [probe] stand_off: elements lie up to 20 mm above the front surface, and with delay_law = "
                          "\"contact\" rays go through that as if it were part; set [imaging] delay_law = \"immersion\" and "
                          "[couplant] velocity, or put the probe on the part"));
  EXPECT_THAT(unheeded(contact("\"LL\""), -9e-3),
              ElementsAre(HasSubstr("part.toml: the placement of the data: elements lie up to 9 mm above")));
  // 4.5 mm from the middle to the last element, turned by 30 degrees.
  EXPECT_THAT(unheeded("[probe]\nangle = 30\n" + contact("\"LL\"")),
              ElementsAre(HasSubstr("part.toml: [probe] angle and the placement of the data: elements lie up to 2.25 mm above")));
  // A tenth of 6320 / 5e6 m is 0.1264 mm.
  EXPECT_THAT(unheeded(contact("\"LL\""), -0.126e-3), ElementsAre());
  EXPECT_THAT(unheeded(contact("\"LL\""), -0.127e-3).size(), 1U);
  EXPECT_THAT(unheeded(immersion()), ElementsAre());
}

TEST(Geometry, ACurvedArrayThatTouchesThePartIsNotAboveIt) {
  EXPECT_THAT(unheeded("[probe]\npitch = 1e-3\nradius = 0.03\n" + contact("\"LL\"")), ElementsAre());
  EXPECT_THAT(unheeded("[probe]\npitch = 1e-3\nradius = 0.03\nstand_off = 0.002\n" + contact("\"LL\"")),
              ElementsAre(HasSubstr("elements lie up to 2")));
}

/// Those of a contact image of this grid.
std::vector<std::string> of_grid(const std::string& ends, const std::string& more = "") {
  Acquisition acquisition = scene_example();
  const Configuration configuration = parsed("[grid]\n" + ends + "pixels = [41, 41]\n" + more);
  const auto plan = build_plan(configuration, acquisition, aluminium);
  return geometry_warnings(configuration, *plan, make_scene(configuration));
}

TEST(Geometry, AGridAboveTheFrontSurfaceIsSaidWithAGuess) {
  const auto guess = [](const std::string& line) { return ElementsAre(HasSubstr(line)); };
  EXPECT_THAT(of_grid("x = [-0.02, 0.02]\nz = [0.0, 0.04]\n"), ElementsAre());
  // Rows at -1 to 9 mm: 4 of 41 lie above.
  EXPECT_THAT(of_grid("x = [-0.02, 0.02]\nz = [-0.001, 0.009]\n"), ElementsAre());
  EXPECT_THAT(of_grid("x = [-0.02, 0.02]\nz = [-0.02, 0.02]\n"),
              ElementsAre("part.toml: [grid] z = [-20, 20] mm: 49 % of the pixels lie above the front surface, where nothing is; "
                          "z counts into the part"));
  EXPECT_THAT(of_grid("x = [0.005, 0.045]\nz = [-0.02, 0.02]\n"),
              guess("z counts into the part; are x and z swapped, for x = [-20, 20] mm and z = [5, 45] mm?"));
  EXPECT_THAT(
      of_grid("x = [-0.02, 0.02]\nz = [-0.045, -0.005]\n"),
      guess("100 % of the pixels lie above the front surface, where nothing is; z counts into the part; z = [5, 45] mm?"));
}

TEST(Geometry, ThatVolumesHaveExactTimesIsSaid) {
  const std::string interpolated = "travel_times = \"interpolated\"\n";
  EXPECT_THAT(unheeded(immersion() + interpolated), ElementsAre());
  std::string volume = immersion() + interpolated;
  const std::size_t pixels = volume.find("pixels = [");
  ASSERT_NE(pixels, std::string::npos);
  volume.replace(pixels, volume.find('\n', pixels) - pixels, "pixels = [3, 4, 5]");
  EXPECT_THAT(unheeded(volume), ElementsAre("part.toml: [imaging] travel_times: \"interpolated\" is not used: of a volume every "
                                            "element and pixel has its ray"));
}

TEST(Geometry, ProbesLieAboveTheirSurfaces) {
  EXPECT_EQ(
      scene_fault_of("[surface]\nkind = \"plane\"\nz = -0.025\n" + immersion()),
      "part.toml: [probe] stand_off: found element 0 at (-4.75, -20) mm, 5 mm below the front surface; expected a probe above "
      "the front surface, by stand_off, angle and x or by where the surface lies");
  EXPECT_THAT(scene_fault_of("[surface]\nkind = \"plane\"\nz = -0.02\nangle = 5\n" + immersion()),
              HasSubstr("mm below the front surface"))
      << "through the probe";
  EXPECT_THAT(scene_fault_of("[surface]\nkind = \"cylinder\"\nradius = 0.0005\nz = -0.0205\n" + immersion()),
              HasSubstr("the front surface"))
      << "a rod of 1 mm between two elements";
  EXPECT_THAT(scene_fault_of("[backwall]\nkind = \"plane\"\nz = -0.001\n" + contact("\"LL\"")),
              HasSubstr("[probe] stand_off: found element 0 at (-4.75, 0) mm, 1 mm below the backwall"));
  EXPECT_THAT(scene_fault_of("[surface]\nkind = \"plane\"\nz = 0.01\n[backwall]\nkind = \"plane\"\nz = 0.005\n" + immersion()),
              HasSubstr("part.toml: [backwall]: found a place above the front surface, at ("));
}

TEST(Geometry, GridsLieInThePart) {
  EXPECT_EQ(scene_fault_of("[surface]\nkind = \"plane\"\nz = 0.05\n" + immersion()),
            "part.toml: [grid]: found no pixel in the part, for view \"LL\"; expected pixels below the front surface");
  EXPECT_EQ(scene_fault_of("[backwall]\nkind = \"plane\"\nz = 0.001\n" + contact("\"TT-T\"")),
            "part.toml: [grid]: found no pixel in the part, for view \"TT-T\"; expected pixels between the front surface and the "
            "backwall");
}

TEST(Geometry, DepthIsToldWhereNoGateTellsIt) {
  constexpr const char* expected =
      "part.toml: [grid] z: found no value; expected z = [first, last] in m: with a couplant, a surface or a view that skips, "
      "the "
      "gate does not tell the depth";
  EXPECT_EQ(scene_fault_of(water + "[imaging]\ndelay_law = \"immersion\"\n"), expected);
  EXPECT_EQ(scene_fault_of("[backwall]\nkind = \"plane\"\nz = 0.03\n[imaging]\nviews = [\"TT-T\"]\n"), expected);
  EXPECT_EQ(scene_fault_of("[imaging]\nviews = [\"LL\"]\n"), "");
}

TEST(Geometry, LawsAndSectionsFit) {
  EXPECT_EQ(scene_fault_of(contact("\"TT-T\"")),
            "part.toml: [backwall] kind: found no backwall; expected one for a view that skips: its rays are reflected there");
  EXPECT_EQ(scene_fault_of(water + contact("\"LL\"")),
            "part.toml: [couplant] velocity: found 1480 m/s with delay_law = \"contact\"; expected no couplant, or [imaging] "
            "delay_law = "
            "\"immersion\"");
  EXPECT_EQ(scene_fault_of(grid + "[imaging]\ndelay_law = \"immersion\"\n"),
            "part.toml: [couplant] velocity: found no value; expected a velocity in m/s above 0, which delay_law = \"immersion\" "
            "needs");
  EXPECT_EQ(scene_fault_of(immersion("\"L-T\", \"LT\"")),
            "part.toml: [imaging] views: found \"L-T\" twice; expected each view once");
  EXPECT_THAT(scene_fault_of(immersion("\"LLL-L\"")), HasSubstr("[backwall] kind: found no backwall"));
  EXPECT_THAT(scene_fault_of(immersion("\"LLLL-L\"")),
              HasSubstr("part.toml: [imaging] views: found \"LLLL-L\", 4 legs on a side"));
}

TEST(Geometry, WeightsByAngleFollowBentRaysInTablesThatAreCounted) {
  EXPECT_EQ(scene_fault_of("[backwall]\nkind = \"plane\"\nz = 0.03\n[apodization]\nangle_limit = 45\n" + contact("\"TT-T\"")),
            "");
  const auto plain = plan_of(immersion());
  const auto weighted = plan_of(immersion() + "[apodization]\ndirectivity = true\n");
  const Leg& leg = *weighted->laws[0].transmit;
  ASSERT_NE(leg.departures(), nullptr);
  EXPECT_EQ(leg.departures()->velocity().value, 1480.0);
  EXPECT_EQ(leg.table_bytes(weighted->grid), 2 * plain->laws[0].transmit->table_bytes(plain->grid));
}

/// A law of tables that says nothing of angles.
class SilentLeg final : public Leg {
 public:
  [[nodiscard]] std::size_t sources() const noexcept override { return 16; }
  void travel_times(std::size_t, std::span<const Point> pixels, std::span<double> seconds) const override {
    std::fill_n(seconds.begin(), pixels.size(), 1e-5);
  }
  [[nodiscard]] std::size_t table_bytes(const Grid& /*grid*/, bool /*with_departures*/ = false) const override { return 1; }
};

TEST(Geometry, WeightsByAngleAreRefusedForLawsThatDoNotTellThem) {
  const auto laws = delay_law_names();
  if (std::find(laws.begin(), laws.end(), "silent") == laws.end())
    add_delay_law("silent", [](const DelayLawRequest& request) {
      const auto leg = std::make_shared<SilentLeg>();
      return DelayLaw{request.view, leg, leg};
    });
  const std::string part =
      "[material]\nlongitudinal_velocity = 6320\n[grid]\nx = [-0.005, 0.005]\nz = [0.005, 0.02]\npixels = [4, 4]\n";
  EXPECT_EQ(scene_fault_of(part + "[imaging]\ndelay_law = \"silent\"\n[apodization]\nangle_limit = 45\n"),
            "part.toml: [apodization] angle_limit: found weights by angle, for view \"LL\" of [imaging] delay_law = \"silent\"; "
            "expected a law "
            "that says at which angles waves leave the elements, or no such weights");
  EXPECT_EQ(scene_fault_of(part + "[imaging]\ndelay_law = \"silent\"\n[apodization]\nwindow = \"hann\"\n"), "")
      << "a window goes by index";
}

TEST(RayPlan, ComputesEachLegOnce) {
  const auto plan = plan_of(immersion("\"LL\", \"LT\", \"TL\", \"TT\""));
  ASSERT_EQ(plan->laws.size(), 4U);
  EXPECT_TRUE(plan->laws[0].reciprocal());
  EXPECT_TRUE(plan->laws[3].reciprocal());
  EXPECT_TRUE(mirrored(plan->laws[1], plan->laws[2]));
  EXPECT_EQ(plan->laws[0].transmit, plan->laws[1].transmit);
  EXPECT_EQ(plan->laws[1].transmit->tabulated(plan->grid, 1), nullptr) << "it is the table";
}

TEST(RayPlan, InterpolatesTravelTimesWhereAsked) {
  const std::string fine = water +
                           "[grid]\nx = [-0.008, 0.008]\nz = [0.004, 0.02]\npixels = [65, 65]\n[imaging]\ndelay_law = "
                           "\"immersion\"\n";
  const auto exact = plan_of(fine);
  const auto interpolated = plan_of(fine + "travel_times = \"interpolated\"\n");
  const Grid& pixels = exact->grid;
  EXPECT_EQ(exact->laws[0].transmit->rays(pixels)->found, 16 * pixels.pixels());
  EXPECT_LT(interpolated->laws[0].transmit->rays(pixels)->found, 4 * pixels.pixels()) << "a quarter, at a smooth surface";
  const std::vector<Point> points = pixels.points();
  std::vector<double> a(points.size());
  std::vector<double> b(points.size());
  exact->laws[0].transmit->travel_times(3, points, a);
  interpolated->laws[0].transmit->travel_times(3, points, b);
  for (std::size_t k = 0; k < points.size(); ++k) ASSERT_NEAR(a[k], b[k], 0.005 / 5e6) << "half of a hundredth of 0.2 us";

  Configuration configuration = parsed(immersion());
  apply_changes(std::vector<KeyChange>{{"imaging.travel_times", "interpolated"}}, configuration);
  EXPECT_EQ(tfm(configuration).travel_times, TravelTimes::interpolated);
  EXPECT_EQ(scene_fault_of(immersion() + "travel_times = \"coarse\"\n"),
            "part.toml:12: [imaging] travel_times: found \"coarse\"; expected one of exact, interpolated");
}

TEST(RayPlan, InterpolatesByTheProbesPeriodAlone) {
  Acquisition unknown = scene_example();
  unknown.probe.centre_frequency = Hertz(0.0);
  const auto fault = [&](const std::string& text) {
    return test::input_error([&] { static_cast<void>(build_plan(parsed(text), unknown, aluminium)); });
  };
  const std::string wish = "travel_times = \"interpolated\"\n";
  EXPECT_EQ(
      fault(immersion() + wish),
      "part.toml: [imaging] travel_times: found \"interpolated\", and a probe of unknown centre frequency; expected [probe] "
      "centre_frequency, of whose period times stay within a hundredth, or \"exact\"");
  EXPECT_EQ(fault(immersion()), "");
  EXPECT_EQ(fault(contact("\"LL\"") + wish), "") << "straight ways need no table";
}

TEST(RayPlan, CountsItsTables) {
  const auto bytes = [](const std::string& text) { return test::host_bytes(plan_of(text)); };
  const double table = 4.0 * 16.0 * 35.0;
  EXPECT_EQ(bytes(immersion()) - bytes(contact("\"LL\"")), table);
  EXPECT_EQ(bytes(immersion("\"LT\", \"TL\"")) - bytes(contact("\"LT\", \"TL\"")), 2.0 * table) << "two legs, both of both views";
  // Refused before a ray is traced: this many would take minutes.
  EXPECT_THAT(
      scene_fault_of(water + "[grid]\nx = [-0.005, 0.005]\nz = [0.002, 0.02]\npixels = [4000, 4000]\n[imaging]\ndelay_law = "
                             "\"immersion\"\nmemory_limit = 1e8\n"),
      HasSubstr("[grid] pixels: found 4000 x 4000 pixels with 16 elements and 1 view, which need"));
}

TEST(RayPlan, CropsToTheSamplesThatRaysReach) {
  Configuration configuration = parsed(immersion());
  tfm(configuration).crop = CropWish::always;
  section<FilterSection>(configuration).kind = FilterWish::none;  // whose response would add to the guard
  const auto plan = build_plan(configuration, scene_example(), aluminium);
  ASSERT_TRUE(plan->gate);
  // 20 mm of water and 2 mm of aluminium twice are 27.66 us below an element: sample 1383, less the guard of 64.
  EXPECT_LE(plan->gate->first, 1319U);
  EXPECT_GE(plan->gate->first, 1300U);
}

TEST(RayPlan, IsCheckedBeforeDataComes) {
  EXPECT_NO_THROW(check_without_data(parsed(immersion()), aluminium));
  EXPECT_THROW(check_without_data(parsed(contact("\"TT-T\"")), aluminium), InputError);
  EXPECT_THROW(check_without_data(parsed("[surface]\nkind = \"cylinder\"\n" + immersion()), aluminium), InputError);
}

TEST(LiveGeometry, ChangesButForFiles) {
  Configuration configuration = parsed(immersion());
  const std::vector<KeyChange> changes{{"surface.kind", "cylinder"}, {"surface.radius", "0.05"},    {"probe.stand_off", "0.03"},
                                       {"probe.angle", "-4"},        {"couplant.velocity", "1500"}, {"backwall.z", "0.01"}};
  apply_changes(changes, configuration);
  EXPECT_EQ(configuration.surface.kind, "cylinder");
  EXPECT_EQ(configuration.surface.numbers.at("radius"), 0.05);
  EXPECT_EQ(configuration.probe.stand_off->value, 0.03);
  EXPECT_EQ(configuration.couplant.velocity->value, 1500.0);
  EXPECT_EQ(live_key("surface.radius").show(configuration), "0.05");
  apply_changes(std::vector<KeyChange>{{"surface.radius", ""}, {"backwall.z", ""}, {"surface.kind", ""}}, configuration);
  EXPECT_TRUE(configuration.surface.kind.empty() && configuration.surface.numbers.empty() &&
              configuration.backwall.numbers.empty());
  EXPECT_EQ(live_key("surface.kind").show(configuration), "");
  EXPECT_FALSE(find_key("surface", "file")->live) << "a peer names no files";
}

TEST(Examples, OfSurfacesAndViewsMakePlans) {
  Acquisition acquisition = scene_example();
  acquisition.samples = 4000;
  for (const auto& [name, views] : {std::pair{"immersion_plane.toml", 4U}, std::pair{"half_skip.toml", 2U}}) {
    const Configuration configuration = load_configuration(test::source_directory() / "examples" / name);
    const auto plan = build_plan(configuration, acquisition, {}, 1, ImagingUse::live);
    EXPECT_EQ(plan->laws.size(), views);
    EXPECT_TRUE(plan->gate) << name << " reaches some of the A-scan and not all";
  }
}

}  // namespace
}  // namespace echoform
