// Laws whose rays meet surfaces, against least times by brute force and against images of sources.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "rays/ray_path.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/brute_force.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using brute::Curve;
using brute::Place;

constexpr double water = 1480.0;
constexpr double ray_longitudinal = 6320.0;
constexpr double ray_shear = 3130.0;
constexpr double pi = std::numbers::pi;
/// What a law owes is 1 ns. The solver holds places to 1e-11 m where times are stationary, the reference is better still.
constexpr double solved = 1e-12;
/// Tables add 2^-25 of the spread of a source's times, below 60 us here.
constexpr double tabulated = solved + 2e-12;

Point point(double x, double z, double y = 0.0) {
  return {Metres(x), Metres(y), Metres(z)};
}
Place place(const Point& p) {
  return {p.x.value, p.z.value, p.y.value};
}

Acquisition above(double stand_off, std::size_t elements = 4) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(4e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-stand_off);
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(100e6);
  return acquisition;
}

const Material aluminium{MetresPerSecond(ray_longitudinal), MetresPerSecond(ray_shear)};

std::shared_ptr<const Surface> surface(std::string kind, std::map<std::string, double, std::less<>> numbers = {},
                                       std::map<std::string, std::string, std::less<>> words = {}) {
  return make_surface({"test: [surface]", std::move(kind), std::move(numbers), std::move(words)});
}

Scene immersed(std::shared_ptr<const Surface> front, std::shared_ptr<const Surface> backwall = nullptr) {
  return {MetresPerSecond(water), std::move(front), std::move(backwall)};
}

DelayLaw law_of(std::string_view name, const Acquisition& acquisition, const std::string& view, const Scene& scene) {
  return make_delay_law(name, {acquisition, aluminium, view, scene});
}

double time_of(const Leg& leg, std::size_t source, const Point& pixel) {
  double time = 0.0;
  leg.travel_times(source, {&pixel, 1}, {&time, 1});
  return time;
}

std::string fault_of(std::string_view name, const std::string& view, const Scene& scene) {
  return test::input_error([&] { static_cast<void>(law_of(name, above(0.0), view, scene)); });
}

class Random {
 public:
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_{5};
};

/// Both legs of LT to `pixels`, asked for one by one and from the table.
void expect_least_times(const Acquisition& acquisition, const Scene& scene, const Curve& curve, const Grid& grid) {
  const DelayLaw law = law_of("immersion", acquisition, "LT", scene);
  const std::vector<Point> pixels = grid.points();
  for (const auto& [leg, velocity] : {std::pair{law.transmit, ray_longitudinal}, std::pair{law.receive, ray_shear}}) {
    const auto table = leg->tabulated(grid, 2);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->table_bytes(grid), 4 * acquisition.elements() * pixels.size());
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      std::vector<double> times(pixels.size());
      table->travel_times(source, pixels, times);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const Place from = place(acquisition.probe.elements[source].centre);
        const double least = static_cast<double>(brute::through(from, place(pixels[k]), curve, water, velocity).time);
        EXPECT_NEAR(time_of(*leg, source, pixels[k]), least, solved) << source << ", " << k;
        EXPECT_NEAR(times[k], least, tabulated) << source << ", " << k;
      }
    }
  }
}

const Grid small{{Metres(-8e-3), Metres(9e-3), 4}, {Metres(6e-3), Metres(30e-3), 4}, {}};

TEST(Immersion, GoesThroughAPlane) {
  const Curve curve = [](long double u) { return Place{-0.1L + 0.2L * u, 0, 0}; };
  expect_least_times(above(20e-3), immersed(surface("plane")), curve, small);
  expect_least_times(above(20e-3), immersed(nullptr), curve, small);  // z = 0 where the scene has no surface
}

TEST(Immersion, GoesThroughATiltedPlane) {
  const double slope = std::tan(12.0 * pi / 180.0);
  const Curve curve = [&](long double u) { return Place{-0.1L + 0.2L * u, 1e-3L + slope * (-0.1L + 0.2L * u), 0}; };
  expect_least_times(above(20e-3), immersed(surface("plane", {{"z", 1e-3}, {"angle", 12.0}})), curve, small);
}

TEST(Immersion, GoesIntoARodAndThroughABore) {
  const Grid inside{{Metres(-8e-3), Metres(9e-3), 4}, {Metres(8e-3), Metres(40e-3), 4}, {}};
  const Curve rod = [](long double u) {
    const long double angle = -std::numbers::pi_v<long double> * (1 - u);
    return Place{1e-3L + 40e-3L * std::cos(angle), 40e-3L + 40e-3L * std::sin(angle), 0};
  };
  expect_least_times(above(15e-3), immersed(surface("cylinder", {{"radius", 40e-3}, {"x", 1e-3}})), rod, inside);
  // Concave, flat enough that each pixel has one least time.
  const Curve bore = [](long double u) {
    const long double angle = std::numbers::pi_v<long double> * (1 - u);
    return Place{100e-3L * std::cos(angle), -100e-3L + 100e-3L * std::sin(angle), 0};
  };
  expect_least_times(above(15e-3), immersed(surface("cylinder", {{"radius", 100e-3}}, {{"side", "inside"}})), bore, inside);
}

class ProfileFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string write(const std::string& text) const {
    const auto path = folder_ / "profile.csv";
    std::ofstream(path) << text;
    return path.string();
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("echoform_profile_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ProfileFile, GoesThroughASplineOfASmoothProfile) {
  // 0.5 mm apart, a natural spline follows this wave to 1e-14 m: a hundredth of the wave's fourth derivative times the step's
  // fourth power, away from its ends.
  const auto height = [](long double x) { return 0.4e-3L * std::sin(2 * std::numbers::pi_v<long double> * x / 30e-3L); };
  std::string text = "x,z\n";
  for (int k = 0; k <= 200; ++k) {
    const double x = -0.05 + 0.5e-3 * k;
    text += fmt::format("{:.17g},{:.17g}\n", x, static_cast<double>(height(x)));
  }
  const Curve curve = [&](long double u) { return Place{-0.05L + 0.1L * u, height(-0.05L + 0.1L * u), 0}; };
  expect_least_times(above(20e-3), immersed(surface("profile", {}, {{"file", write(text)}, {"interpolation", "spline"}})), curve,
                     small);
}

TEST_F(ProfileFile, OfAPlaneAndAHugeCylinderGiveThePlanesTimes) {
  const Acquisition acquisition = above(20e-3);
  std::string text;
  for (int k = -10; k <= 10; ++k) text += fmt::format("{},0\n", 10e-3 * k);
  constexpr double huge = 1e4;
  const auto cylinder =
      std::make_shared<const Surface>("cylinder", std::vector<Segment>{arc_segment({0.0, huge}, huge, -0.5 * pi - 5e-6, 1e-5)});
  const DelayLaw plane = law_of("immersion", acquisition, "LT", immersed(surface("plane")));
  const DelayLaw profile = law_of("immersion", acquisition, "LT", immersed(surface("profile", {}, {{"file", write(text)}})));
  const DelayLaw round = law_of("immersion", acquisition, "LT", immersed(cylinder));
  for (const Point& pixel : small.points()) {
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      const double time = time_of(*plane.transmit, source, pixel);
      EXPECT_NEAR(time_of(*profile.transmit, source, pixel), time, 1e-15);
      // The cylinder sags by x^2 / (2 R) = 5 nm at 10 mm: 3.4 ps of water.
      EXPECT_NEAR(time_of(*round.transmit, source, pixel), time, 4e-12);
    }
  }
}

TEST(Immersion, TakesItsWayAlongY) {
  const Acquisition acquisition = above(15e-3, 2);
  const DelayLaw law = law_of("immersion", acquisition, "LL", immersed(surface("plane")));
  const Curve curve = [](long double u) { return Place{-0.05L + 0.1L * u, 0, 0}; };
  for (const Point& pixel : {point(3e-3, 12e-3, 7e-3), point(-5e-3, 25e-3, -9e-3)}) {
    const auto least =
        brute::through_with_y(place(acquisition.probe.elements[1].centre), place(pixel), curve, water, ray_longitudinal);
    EXPECT_NEAR(time_of(*law.transmit, 1, pixel), static_cast<double>(least.time), solved);
  }
}

TEST(Skips, OffAPlaneBackwallComeFromThePixelsImage) {
  // Without conversion, a wall mirrors: once off the wall the pixel lies at 2 d - z, off wall and front surface at 2 d + z.
  constexpr double d = 30e-3;
  const Scene scene{{}, nullptr, surface("plane", {{"z", d}})};
  const Acquisition acquisition = above(0.0);
  const DelayLaw law = law_of("contact", acquisition, "TT-TTT", scene);
  for (const Point& pixel : small.points()) {
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      const double x = pixel.x.value - acquisition.probe.elements[source].centre.x.value;
      const double z = pixel.z.value;
      if (z > d - 1e-6) continue;  // on the wall
      EXPECT_NEAR(time_of(*law.transmit, source, pixel), std::hypot(x, 2.0 * d - z) / ray_shear, solved);
      EXPECT_NEAR(time_of(*law.receive, source, pixel), std::hypot(x, 2.0 * d + z) / ray_shear, solved);
    }
  }
}

TEST(Skips, ThroughAPlaneComeFromThePixelsImageToo) {
  constexpr double d = 30e-3;
  const Acquisition acquisition = above(20e-3);
  const DelayLaw law = law_of("immersion", acquisition, "LL-LLL", immersed(surface("plane"), surface("plane", {{"z", d}})));
  const Curve curve = [](long double u) { return Place{-0.1L + 0.2L * u, 0, 0}; };
  for (const Point& pixel : {point(-6e-3, 4e-3), point(2e-3, 17e-3), point(9e-3, 28e-3)}) {
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      const Place from = place(acquisition.probe.elements[source].centre);
      const Place half{pixel.x.value, 2.0 * d - pixel.z.value, 0};
      const Place full{pixel.x.value, 2.0 * d + pixel.z.value, 0};
      EXPECT_NEAR(time_of(*law.transmit, source, pixel),
                  static_cast<double>(brute::through(from, half, curve, water, ray_longitudinal).time), solved);
      EXPECT_NEAR(time_of(*law.receive, source, pixel),
                  static_cast<double>(brute::through(from, full, curve, water, ray_longitudinal).time), solved);
    }
  }
}

TEST(Skips, ConvertAtATiltedBackwallInLeastTime) {
  Random random;
  const double slope = std::tan(-6.0 * pi / 180.0);
  const Scene scene{{}, nullptr, surface("plane", {{"z", 30e-3}, {"angle", -6.0}})};
  const Acquisition acquisition = above(0.0);
  const DelayLaw law = law_of("contact", acquisition, "LT-LT", scene);
  const Curve wall = [&](long double u) { return Place{-0.1L + 0.2L * u, 30e-3L + slope * (-0.1L + 0.2L * u), 0}; };
  for (int k = 0; k < 20; ++k) {
    const Point pixel = point(random(-10e-3, 10e-3), random(1e-3, 28e-3));
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      const Place from = place(acquisition.probe.elements[source].centre);
      // Out as L to the wall and as T to the pixel; back as L to the wall and as T to the element.
      EXPECT_NEAR(time_of(*law.transmit, source, pixel),
                  static_cast<double>(brute::through(from, place(pixel), wall, ray_longitudinal, ray_shear).time), solved);
      EXPECT_NEAR(time_of(*law.receive, source, pixel),
                  static_cast<double>(brute::through(place(pixel), from, wall, ray_longitudinal, ray_shear).time), solved);
    }
  }
}

TEST(Skips, ConvertBehindACylinderInLeastTime) {
  // A pipe of 60 mm outer radius and 20 mm wall.
  const Scene scene = immersed(surface("cylinder", {{"radius", 60e-3}}), surface("cylinder", {{"radius", 40e-3}, {"z", 20e-3}}));
  const Acquisition acquisition = above(25e-3, 2);
  const DelayLaw law = law_of("immersion", acquisition, "TL-L", scene);
  const auto circle = [](long double radius, long double crown) {
    return [=](long double u) {
      const long double angle = -std::numbers::pi_v<long double> * (0.3L + 0.4L * u);
      return Place{radius * std::cos(angle), crown + radius + radius * std::sin(angle), 0};
    };
  };
  for (const Point& pixel : {point(-5e-3, 9e-3), point(1e-3, 12e-3), point(6e-3, 16e-3)}) {
    const auto least = brute::through_two(place(acquisition.probe.elements[0].centre), place(pixel), circle(60e-3L, 0),
                                          circle(40e-3L, 20e-3L), water, ray_shear, ray_longitudinal);
    EXPECT_NEAR(time_of(*law.transmit, 0, pixel), static_cast<double>(least.time), solved);
  }
}

TEST(Skips, TakeTheSameTimeBothWays) {
  Random random;
  const auto front = surface("plane", {{"angle", 3.0}});
  const auto wall = surface("plane", {{"z", 32e-3}, {"angle", -4.0}});
  const Acquisition acquisition = above(20e-3);
  const DelayLaw law = law_of("immersion", acquisition, "LT-TL", immersed(front, wall));
  EXPECT_TRUE(law.reciprocal());
  for (int k = 0; k < 10; ++k) {
    const Point pixel = point(random(-8e-3, 8e-3), random(3e-3, 28e-3));
    // From the pixel to the element, through the surfaces in the other order and from their other sides.
    RayPath back{{MetresPerSecond(ray_shear), MetresPerSecond(ray_longitudinal), MetresPerSecond(water)},
                 {{wall, true, false}, {front, false, true}}};
    RaySolver solver(back, pixel);
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      EXPECT_NEAR(time_of(*law.receive, source, pixel), solver.time_to(acquisition.probe.elements[source].centre), solved);
    }
  }
}

TEST(Views, ShareLegsOfOneModeAndPath) {
  const Acquisition acquisition = above(20e-3);
  const auto legs = std::make_shared<LegCache>();
  const Scene scene = immersed(surface("plane"), surface("plane", {{"z", 30e-3}}));
  const auto law = [&](const std::string& view) {
    return make_delay_law("immersion", {acquisition, aluminium, view, scene, legs});
  };
  const DelayLaw lt = law("LT"), tl = law("T-L"), ll = law("LL"), skip = law("LT-T"), back = law("T-TL"), same = law("LT-TL");
  EXPECT_EQ(lt.transmit, tl.receive);
  EXPECT_EQ(lt.receive, tl.transmit);
  EXPECT_TRUE(mirrored(lt, tl));
  EXPECT_FALSE(lt.reciprocal());
  EXPECT_TRUE(ll.reciprocal());
  EXPECT_EQ(ll.transmit, lt.transmit);
  EXPECT_TRUE(mirrored(skip, back));
  EXPECT_FALSE(mirrored(skip, lt));
  EXPECT_TRUE(same.reciprocal());
  EXPECT_EQ(tl.view, "T-L") << "as the user spells it";
}

TEST(Masks, LeaveOutWhatIsNotInThePart) {
  const Acquisition acquisition = above(20e-3);
  const Scene scene = immersed(surface("plane", {{"z", 5e-3}}), surface("plane", {{"z", 30e-3}}));
  const DelayLaw direct = law_of("immersion", acquisition, "LL", scene);
  const DelayLaw skip = law_of("immersion", acquisition, "LL-L", scene);
  for (const DelayLaw& law : {direct, skip}) {
    EXPECT_TRUE(std::isnan(time_of(*law.transmit, 0, point(0.0, 4e-3)))) << "in the couplant";
    EXPECT_FALSE(std::isnan(time_of(*law.transmit, 0, point(0.0, 5e-3)))) << "on the surface";
    EXPECT_FALSE(std::isnan(time_of(*law.transmit, 0, point(0.0, 6e-3))));
  }
  EXPECT_FALSE(std::isnan(time_of(*direct.transmit, 0, point(0.0, 35e-3)))) << "a direct view may show the wall's mirror images";
  EXPECT_TRUE(std::isnan(time_of(*skip.transmit, 0, point(0.0, 35e-3)))) << "beyond the backwall";
  EXPECT_FALSE(std::isnan(time_of(*skip.transmit, 0, point(0.0, 30e-3)))) << "on the backwall";

  // Beside a rod there is water, also below its crown.
  const DelayLaw rod = law_of("immersion", acquisition, "LL", immersed(surface("cylinder", {{"radius", 20e-3}})));
  EXPECT_TRUE(std::isnan(time_of(*rod.transmit, 3, point(19e-3, 5e-3))));
  EXPECT_FALSE(std::isnan(time_of(*rod.transmit, 3, point(9e-3, 10e-3))));

  // The table says the same, and holds no more than the part.
  const Grid grid{{Metres(-2e-3), Metres(2e-3), 3}, {Metres(0.0), Metres(40e-3), 9}, {}};
  const auto table = skip.transmit->tabulated(grid, 1);
  for (const Point& pixel : grid.points()) {
    const bool inside = pixel.z.value > 4.9e-3 && pixel.z.value < 30.1e-3;
    EXPECT_EQ(std::isnan(time_of(*table, 1, pixel)), !inside) << pixel.z.value;
  }
  const TimeRange bounds = leg_bounds(*table, grid)[1];
  EXPECT_FALSE(bounds.empty());
  EXPECT_LT(bounds.greatest, 60e-6);
}

TEST(Tables, AnswerForOtherPointsToo) {
  const Acquisition acquisition = above(20e-3);
  const DelayLaw law = law_of("immersion", acquisition, "LL", immersed(surface("plane")));
  const auto table = law.transmit->tabulated(small, 1);
  for (const Point& beside : {point(0.123e-3, 7.7e-3), point(-8e-3, 6.0001e-3), point(50e-3, 8e-3), point(-8e-3, 6e-3, 1e-3)}) {
    EXPECT_EQ(time_of(*table, 2, beside), time_of(*law.transmit, 2, beside));
  }
  EXPECT_EQ(table->sources(), 4U);
  const DelayLaw straight = law_of("contact", acquisition, "LL", {});
  EXPECT_EQ(straight.transmit->tabulated(small, 1), nullptr) << "straight ways need no table";
  EXPECT_EQ(straight.transmit->table_bytes(small), 0U);
}

TEST(RayLaws, RefuseWhatTheyLack) {
  EXPECT_EQ(fault_of("immersion", "LL", {}),
            "[couplant] velocity: found no value; expected a velocity in m/s above 0, which delay_law = \"immersion\" needs");
  EXPECT_EQ(fault_of("immersion", "LL", {MetresPerSecond(-1.0), nullptr, nullptr}),
            "[couplant] velocity: found -1 m/s; expected a velocity in m/s above 0, which delay_law = \"immersion\" needs");
  EXPECT_EQ(fault_of("contact", "LL", immersed(nullptr)),
            "[couplant] velocity: found 1480 m/s with delay_law = \"contact\"; expected no couplant, or [imaging] delay_law = "
            "\"immersion\"");
  for (const char* law : {"contact", "immersion"}) {
    const Scene scene{MetresPerSecond(law == std::string("contact") ? 0.0 : water), nullptr, nullptr};
    EXPECT_EQ(fault_of(law, "TT-T", scene),
              "[backwall] kind: found no backwall; expected one for a view that skips: its rays are reflected there");
    EXPECT_THAT(fault_of(law, "LLLL-L", scene), ::testing::HasSubstr("[imaging] views: found \"LLLL-L\", 4 legs on a side"));
  }
  EXPECT_EQ(test::input_error([&] {
              const Acquisition acquisition = above(0.0);
              static_cast<void>(
                  make_delay_law("immersion", {acquisition, {MetresPerSecond(ray_longitudinal), {}}, "LT", immersed(nullptr)}));
            }),
            "[material] shear_velocity: found none; expected a positive velocity, which the view needs")
      << "no shear velocity";
}

}  // namespace
}  // namespace echoform
