// Waves that an array in two directions sends towards a focus anywhere in front of it, stated or given by delays alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"
#include "delay_laws/delay_law.hpp"

namespace echoform::focus_in_space {
namespace {

constexpr double degree = std::numbers::pi / 180.0;
constexpr MetresPerSecond medium(1540.0);
constexpr double focus_range = 15e-3;

Point towards(double azimuth, double elevation, double range) {
  return {Metres(range * std::sin(azimuth) * std::cos(elevation)), Metres(range * std::sin(elevation)),
          Metres(range * std::cos(azimuth) * std::cos(elevation))};
}

double metres_between(const Point& a, const Point& b) {
  return std::hypot((a.x - b.x).value, (a.y - b.y).value, (a.z - b.z).value);
}

Acquisition focused(double azimuth, double elevation) {
  Acquisition acquisition;
  acquisition.probe = make_matrix_probe({.columns = 12,
                                         .rows = 10,
                                         .pitch = Metres(0.3e-3),
                                         .row_pitch = Metres(0.3e-3),
                                         .width = Metres(0.25e-3),
                                         .length = Metres(0.25e-3)},
                                        Hertz(3e6), Hertz(2e6));
  acquisition.samples = 64;
  acquisition.sample_rate = Hertz(20e6);
  acquisition.events = {{PointWaveEvent{towards(azimuth, elevation, focus_range), medium, {}, {}}, {}}};
  return acquisition;
}

Acquisition by_delays(Acquisition acquisition) {
  LawEvent law;
  for (const Firing& firing : firings_of(acquisition, 0)) {
    law.elements.push_back(firing.element);
    law.delays.push_back(static_cast<float>(firing.delay));
  }
  acquisition.events.front().form = std::move(law);
  return acquisition;
}

std::vector<double> times_to(const Acquisition& acquisition, const std::vector<Point>& points) {
  const DelayLaw law =
      make_delay_law("contact", {.acquisition = acquisition, .material = {medium, {}}, .view = "LL", .chosen = {0}});
  std::vector<double> times(points.size());
  law.transmit->travel_times(0, points, times);
  return times;
}

TEST(FocusInSpace, IsWhereWavesOfMatrixArraysMeet) {
  for (const double azimuth : {-25.0, 0.0, 20.0}) {
    for (const double elevation : {-20.0, 0.0, 15.0}) {
      const Acquisition acquisition = focused(azimuth * degree, elevation * degree);
      const Point focus = towards(azimuth * degree, elevation * degree, focus_range);
      double farthest = 0.0;  // fires first, at 0
      for (const Element& element : acquisition.probe.elements) {
        farthest = std::max(farthest, metres_between(element.centre, focus));
      }
      std::vector<Point> points;
      std::vector<double> expected;
      for (const double range : {4e-3, 10e-3, 14.9e-3, 20e-3, 40e-3}) {
        // On the axis, and a little beside it both ways.
        for (const auto& [aside, above] : {std::pair{0.0, 0.0}, {0.01, 0.0}, {0.0, -0.01}, {-0.01, 0.01}}) {
          points.push_back(towards(azimuth * degree + aside, elevation * degree + above, range));
          const double from_focus = metres_between(points.back(), focus);
          expected.push_back((farthest + std::copysign(from_focus, range - focus_range)) / medium.value);
        }
      }
      const std::vector<double> stated = times_to(acquisition, points);
      const std::vector<double> fitted = times_to(by_delays(acquisition), points);
      for (std::size_t k = 0; k < points.size(); ++k) {
        // At 14.9 mm and 0.01 rad aside a place lies beside the focus, not before it: either sign is off by more than it matters.
        if (std::abs(metres_between(points[k], {}) - 14.9e-3) < 1e-6 && k % 4 != 0) continue;
        // The front's velocity is found by differences of times.
        EXPECT_NEAR(stated[k], expected[k], 1e-11) << azimuth << ' ' << elevation << ' ' << k;
        // Delays in float, and a focus that is fitted to them.
        EXPECT_NEAR(fitted[k], expected[k], 1e-9) << azimuth << ' ' << elevation << ' ' << k;
      }
    }
  }
}

TEST(FocusInSpace, HoldsWhatTheApertureSeesThroughIt) {
  const Acquisition acquisition = focused(0.0, 0.0);
  // Twice as far as the focus the beam is as wide as the array: 3.6 mm along x and 3 mm along y.
  const auto reaches = [&](double x, double y) {
    return !std::isnan(times_to(acquisition, {{Metres(x), Metres(y), Metres(2.0 * focus_range)}}).front());
  };
  EXPECT_TRUE(reaches(1.6e-3, 0.0));
  EXPECT_FALSE(reaches(1.8e-3, 0.0));
  EXPECT_TRUE(reaches(0.0, 1.3e-3));
  EXPECT_FALSE(reaches(0.0, 1.5e-3));
  EXPECT_TRUE(reaches(1.6e-3, -1.3e-3));
}

}  // namespace
}  // namespace echoform::focus_in_space
