// End to end: a simulated scatterer behind each kind of surface, imaged by rays of the imaging side, lies where it is in every
// view; and walls echo when they should.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/errors.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "rays/surface_kind.hpp"
#include "settings/reader.hpp"
#include "simulators/scene_echoes.hpp"
#include "simulators/simulator_section.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/simulators/reference.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;

constexpr double water = 1480.0;

/// A scene with a backwall at 24 mm; the probe is turned a little, so that shear waves of all views go in.
std::string scene_text(const std::string& surface, const std::string& more) {
  return "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n[surface]\n" + surface +
         "[backwall]\nkind = \"plane\"\nz = 0.024\n[probe]\nstand_off = 0.016\nangle = -6\nx = -0.003\n"
         "[simulator]\nelements = 32\npitch = 0.5e-3\nelement_width = 0.3e-3\nsamples = 4096\nsample_rate = 50e6\n"
         "noise_rms = 0\nquantised = false\nencoding = \"float32\"\nwall_echoes = false\n" +
         more;
}

struct Front {
  const char* name;
  const char* surface;
};

class SceneImages : public testing::TestWithParam<Front> {};

/// Images the scatterer around its place, and compares.
void expect_in_views(const Front& front, const std::vector<std::string>& views, std::size_t pixels) {
  const test::Scratch scratch;
  std::ofstream csv(scratch / "cap.csv");
  for (int k = -12; k <= 12; ++k) csv << 3e-3 * k << ',' << -0.8e-3 * std::exp(-0.25 * k * k) << '\n';
  csv.close();
  const double x = 2e-3;
  const double z = 14e-3;
  const std::string text = scene_text(front.surface, fmt::format("points = [[{}, {}, 1.0]]\n", x, z)) +
                           fmt::format(
                               "[grid]\nx = [{}, {}]\nz = [{}, {}]\npixels = [{}, {}]\n[imaging]\ndelay_law = \"immersion\"\n"
                               "views = [\"{}\"]\nbackend = \"cpu\"\n[filter]\nkind = \"none\"\n",
                               x - 1e-3, x + 1e-3, z - 1e-3, z + 1e-3, pixels, pixels, fmt::join(views, "\", \""));
  const std::string file = (scratch / "scene.toml").string();
  std::ofstream(file) << text;
  const test::ImagedScene imaged =
      test::image_scene(load_configuration(file), test::frame_of(simulator_configuration(load_configuration(file))));
  for (std::size_t view = 0; view < views.size(); ++view) {
    const test::ScenePeak peak = test::peak_of(imaged, view, x, z, 1e-3);
    std::printf("%-8s %-5s off by (%5.2f, %5.2f) mm, %.2e\n", front.name, views[view].c_str(), 1e3 * (peak.x - x),
                1e3 * (peak.z - z), static_cast<double>(peak.value));
    const double quarter = test::quarter_wavelength(*imaged.plan, views[view]);
    EXPECT_LE(std::hypot(peak.x - x, peak.z - z), quarter) << views[view];
    EXPECT_GT(peak.value, 0.0F) << views[view];
  }
}

TEST_P(SceneImages, ShowAScattererInEveryView) {
  expect_in_views(GetParam(), {"LL", "LT", "TL", "TT", "LL-L", "TT-T"}, 41);
}

// Apart: with ways of three legs in the frame, some lie on top of the half skips of this part.
class DoubleSkipImages : public testing::TestWithParam<Front> {};

TEST_P(DoubleSkipImages, ShowAScatterer) {
  // Pixels are 0.2 mm apart: the next one is off by more than a quarter of a wavelength of T already.
  expect_in_views(GetParam(), {"LLL-L", "TTT-T"}, 11);
}

INSTANTIATE_TEST_SUITE_P(Fronts, DoubleSkipImages,
                         testing::Values(Front{"tilted", "kind = \"plane\"\nangle = 3\n"},
                                         Front{"rod", "kind = \"cylinder\"\nradius = 0.06\n"}),
                         [](const auto& front) { return std::string(front.param.name); });

INSTANTIATE_TEST_SUITE_P(Fronts, SceneImages,
                         testing::Values(Front{"plane", "kind = \"plane\"\n"}, Front{"tilted", "kind = \"plane\"\nangle = 3\n"},
                                         Front{"rod", "kind = \"cylinder\"\nradius = 0.06\n"},
                                         Front{"bore", "kind = \"cylinder\"\nradius = 0.06\nside = \"inside\"\n"},
                                         Front{"profile",
                                               "kind = \"profile\"\nfile = \"cap.csv\"\ninterpolation = \"spline\"\n"}),
                         [](const auto& front) { return std::string(front.param.name); });

TEST(SceneOfAnotherProgramsSurface, HasTheEchoesOfTheCurveThatItIs) {
  // The rod once more, as an arc that somebody else's kind of surface makes: the source takes places of it.
  SurfaceKind kind;
  kind.name = "arc";
  kind.parameters = {{"radius", "m", "Radius.", 1e-3, 1.0}};
  kind.make = [](const SurfaceDescription& d) {
    const double radius = d.numbers.at("radius");
    return Surface(d.where, {arc_segment({0.0, radius}, radius, -3.0, 1.5), arc_segment({0.0, radius}, radius, -1.5, 1.4)});
  };
  // Kinds stay for the whole process, in which tests may run again.
  const auto& known = surface_kinds();
  if (std::none_of(known.begin(), known.end(), [&](const SurfaceKind& other) { return other.name == kind.name; }))
    add_surface_kind(kind);
  const std::string text = scene_text("kind = \"cylinder\"\nradius = 0.05\n", "points = [[0.002, 0.012, 1.0]]\n");
  Configuration configuration = parse_configuration(text, "scene.toml");
  section<SimulatorSection>(configuration).source.elements = 8;
  section<SimulatorSection>(configuration).source.scene.wall_echoes = true;
  const test::SourceFrame rod = test::frame_of(simulator_configuration(configuration));
  configuration.surface = {"arc", {{"radius", 0.05}}, {}};
  const test::SourceFrame arc = test::frame_of(simulator_configuration(configuration));
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const test::Signal expected = test::a_scan(rod.acquisition, rod.bytes, i, j);
      const test::Signal found = test::a_scan(arc.acquisition, arc.bytes, i, j);
      for (std::size_t n = 0; n < expected.size(); ++n) {
        difference += (found[n] - expected[n]) * (found[n] - expected[n]);
        norm += expected[n] * expected[n];
      }
    }
  }
  const double off = std::sqrt(difference / norm);
  std::printf("arc by its places: relative L2 %.1e\n", off);
  // A cubic spline over pieces of half of node_turn, h = 0.03 R, is off by 5 / 384 h^4 * 3 / R^3 = 1.6 nm, on two ways: 2 pi f
  // (1 / c_water - 1 / c_part) of that is 5e-5 rad. Float samples add 6e-8.
  EXPECT_LT(off, 1e-4);
}

SimulatorConfiguration source_of(const std::string& text) {
  return simulator_configuration(parse_configuration(text, "scene.toml"));
}

/// Time of the A-scan's strongest place between two times, seconds.
double strongest_time(const SimulatorConfiguration& source, std::size_t i, std::size_t j, double from, double to) {
  const FmcSimulator simulator(source);
  const Acquisition& a = simulator.acquisition();
  std::vector<std::byte> frame(a.frame_bytes());
  simulator.synthesise(0, frame);
  test::Signal signal = test::a_scan(a, frame, i, j);
  for (std::size_t n = 0; n < signal.size(); ++n) {
    const double t = static_cast<double>(n) / a.sample_rate.value;
    if (t < from || t > to) signal[n] = 0.0;
  }
  return test::envelope_peak(signal) / a.sample_rate.value;
}

TEST(WallEchoes, ComeFromFrontAndBackwallAtTheirTimes) {
  const std::string text =
      "[couplant]\nvelocity = 1480\n[surface]\nkind = \"plane\"\n[backwall]\nkind = \"plane\"\nz = 0.024\n[probe]\nstand_off = "
      "0.016\n"
      "[simulator]\nelements = 16\npitch = 0.5e-3\nsamples = 2048\nsample_rate = 50e6\nnoise_rms = 0\nquantised = false\n"
      "encoding = \"float32\"\npoints = []\n";
  const SimulatorConfiguration source = source_of(text);
  const double front = 2.0 * 16e-3 / water;
  const double back = front + 2.0 * 24e-3 / 6320.0;
  // A hundredth of a sample: the pulse's envelope between samples.
  constexpr double fine = 2e-10;
  EXPECT_NEAR(strongest_time(source, 5, 5, front - 2e-6, front + 2e-6), front, fine);
  EXPECT_NEAR(strongest_time(source, 5, 5, back - 2e-6, back + 2e-6), back, fine);
  const double apart = 15 * 0.5e-3;
  const double oblique = std::hypot(apart, 2.0 * 16e-3) / water;
  EXPECT_NEAR(strongest_time(source, 0, 15, oblique - 2e-6, oblique + 2e-6), oblique, fine);

  std::vector<std::byte> frame(acquisition_of(source).frame_bytes());
  SimulatorConfiguration silent = source;
  silent.scene.wall_echoes = false;
  FmcSimulator(silent).synthesise(0, frame);
  for (const double value : test::a_scan(acquisition_of(silent), frame, 5, 5)) ASSERT_EQ(value, 0.0);
}

TEST(Scenes, HalfMatricesHoldWhatFullOnesDo) {
  SimulatorConfiguration source = source_of(scene_text("kind = \"cylinder\"\nradius = 0.05\n",
                                                       "points = [[0.001, 0.012, 1.0]]\n"
                                                       "holes = [[-0.004, 0.015, 0.0005, 1.0]]\n"));
  source.elements = 6;
  source.scene.wall_echoes = true;
  source.scene.skips = 2;
  std::vector<std::byte> full(acquisition_of(source).frame_bytes());
  FmcSimulator(source).synthesise(0, full);
  SimulatorConfiguration halved = source;
  halved.matrix = MatrixKind::half;
  std::vector<std::byte> half(acquisition_of(halved).frame_bytes());
  FmcSimulator(halved).synthesise(0, half);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = i; j < 6; ++j) {
      const test::Signal there = test::a_scan(acquisition_of(source), full, i, j);
      EXPECT_EQ(test::a_scan(acquisition_of(halved), half, i, j), there);
      EXPECT_EQ(test::a_scan(acquisition_of(source), full, j, i), there);
      EXPECT_GT(*std::max_element(there.begin(), there.end()), 0.0);
    }
  }
}

TEST(Scenes, ContactWithBothModesHasTheEchoesOfContactAndMore) {
  const std::string text =
      "[simulator]\nelements = 4\nnoise_rms = 0\nquantised = false\nencoding = \"float32\"\npoints = [[0.001, 0.012, 1.0]]\n";
  const SimulatorConfiguration plain = source_of(text);
  EXPECT_TRUE(plain.scene.plain());
  SimulatorConfiguration same = plain;
  same.scene.modes = "LT";
  std::vector<std::byte> a(acquisition_of(plain).frame_bytes());
  std::vector<std::byte> b(a.size());
  FmcSimulator(plain).synthesise(0, a);
  FmcSimulator(same).synthesise(0, b);
  const test::Signal alone = test::a_scan(acquisition_of(plain), a, 1, 2);
  const test::Signal both = test::a_scan(acquisition_of(plain), b, 1, 2);
  const double straight = std::hypot(1e-3 + 0.3e-3, 12e-3);
  const auto before_shear = static_cast<std::size_t>((straight / 6320.0 + straight / 3130.0 - 1.2e-6) * 40e6);
  for (std::size_t n = 0; n < before_shear; ++n) ASSERT_NEAR(both[n], alone[n], 1e-6) << n;
  EXPECT_NEAR(strongest_time(same, 1, 1, 7e-6, 9e-6), 2.0 * std::hypot(1e-3 + 0.3e-3, 12e-3) / 3130.0, 2e-10);
}

std::string fault_of_source(const std::string& text) {
  return test::input_error([&] { static_cast<void>(source_of(text)); });
}

TEST(Scenes, RefuseWhatMakesNoSense) {
  const std::string plate =
      "[couplant]\nvelocity = 1480\n[backwall]\nkind = \"plane\"\nz = 0.02\n[probe]\nstand_off = 0.02\n[simulator]\n";
  EXPECT_EQ(fault_of_source(plate + "points = [[0.0, 0.01, 1.0]]\n"), "");
  EXPECT_EQ(
      fault_of_source(plate + "points = [[0.0, 0.025, 1.0]]\n"),
      "scene.toml: [simulator] scatterer \"point 0\": found a place at (0, 25) mm, 5 mm below the backwall; expected a reflector "
      "inside the part, above [backwall], throughout its motion");
  EXPECT_THAT(fault_of_source(plate + "points = [[0.0, -0.001, 1.0]]\n"), HasSubstr("1 mm above the front surface"));
  EXPECT_THAT(fault_of_source(plate + "backwall = 0.02\n"), HasSubstr("expected [backwall] alone"));
  EXPECT_EQ(fault_of_source(plate + "modes = [\"L\", \"S\"]\n"),
            "scene.toml: [simulator] modes: found \"S\"; expected \"L\", \"T\" or both");
  EXPECT_EQ(fault_of_source(plate + "modes = [\"T\", \"T\"]\n"),
            "scene.toml: [simulator] modes: found \"T\" twice; expected \"L\", \"T\" or both");
  EXPECT_THAT(fault_of_source("[couplant]\nvelocity = 1480\n[simulator]\nelements = 4\n"),
              HasSubstr("[simulator] placement: found element 0 at"));
  std::string many = "elements = 512\nskips = 2\nholes = [";
  for (int k = 0; k < 40; ++k) many += fmt::format("{}[0.0, {}, 0.0001, 1.0]", k > 0 ? ", " : "", 0.005 + 0.0003 * k);
  EXPECT_THAT(fault_of_source(plate + many + "]\n"),
              HasSubstr("holes: found 40 holes seen by 512 elements, which need 661 MB; expected holes, elements and skips"));
  EXPECT_THAT(fault_of_source(plate + "shear_velocity = 7000\n"), HasSubstr("less than the longitudinal velocity, 6320 m/s"));
  EXPECT_THAT(fault_of_source("[surface]\nradius = 0.02\n"), HasSubstr("[surface] kind: found no value beside radius"));
  // The demo's part keeps what lies in this one.
  EXPECT_EQ(source_of(plate).phantom.reflectors(), 3U);
}

TEST(Scenes, SkipAsOftenAsTheViewsDo) {
  const std::string plate = "[backwall]\nkind = \"plane\"\nz = 0.025\n[grid]\nz = [0.005, 0.02]\n[imaging]\n";
  const std::string part = "[simulator]\npoints = [[0.0, 0.01, 1.0]]\n";
  EXPECT_EQ(source_of(plate + part).scene.skips, 1U);
  EXPECT_EQ(source_of(plate + "views = [\"LL\"]\n" + part).scene.skips, 1U);
  EXPECT_EQ(source_of(plate + "views = [\"LL\", \"T-TLT\"]\n" + part).scene.skips, 2U);
  EXPECT_EQ(source_of(plate + "views = [\"TT-TT\"]\n" + part + "skips = 2\n").scene.skips, 2U);
  EXPECT_EQ(source_of(plate + "views = [\"LLL-L\"]\n" + part + "skips = 0\n").scene.skips, 0U);
  EXPECT_EQ(fault_of_source(plate + part + "skips = 3\n"),
            "scene.toml:9: [simulator] skips: found 3; expected an integer, 0 to 2");
  // Ways that are reflected at it end below the front surface, on the part as well.
  const std::string deep = "[surface]\nkind = \"plane\"\nz = 0.012\n" + plate;
  EXPECT_EQ(fault_of_source(deep + part), "");
  EXPECT_THAT(fault_of_source(deep + part + "skips = 2\n"), HasSubstr("2 mm above the front surface"));
}

TEST(Scenes, HaveTheSidesThatTheySkip) {
  const std::string plate = "[backwall]\nkind = \"plane\"\nz = 0.025\n[simulator]\nelements = 4\npoints = [[0.0, 0.01, 1.0]]\n";
  for (const auto& [skips, sides] : {std::pair{0, 2U}, {1, 6U}, {2, 14U}}) {
    const SimulatorConfiguration source = source_of(plate + fmt::format("skips = {}\n", skips));
    const SceneEchoes scene(placed_probe(source), {source.scene, source.material, source.spreading, source.directivity},
                            source.phantom, {0.0});
    EXPECT_EQ(scene.sides().size(), sides);
    EXPECT_EQ(scene.sides().back().size(), static_cast<std::size_t>(skips) + 1);
  }
}

TEST(Scenes, TakeVelocitiesOfTheMaterial) {
  const std::string steel = "[material]\nlongitudinal_velocity = 5900\nshear_velocity = 3230\n";
  EXPECT_EQ(source_of(steel).material.longitudinal_velocity.value, 5900.0);
  EXPECT_EQ(source_of(steel).material.shear_velocity.value, 3230.0);
  EXPECT_EQ(source_of(steel + "[simulator]\nlongitudinal_velocity = 5800\n").material.longitudinal_velocity.value, 5800.0);
  EXPECT_EQ(source_of("").material.longitudinal_velocity.value, 6320.0);
}

}  // namespace
}  // namespace echoform
