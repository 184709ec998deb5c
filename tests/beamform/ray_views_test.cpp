// Views through and off surfaces on the one beamformer: every backend against a direct sum at least times found by brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "rays/surface_kind.hpp"
#include "stages/beamform/beamform.hpp"
#include "tests/beamform/cuda_rows.hpp"
#include "tests/beamform/direct_sum.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/beamform/way.hpp"
#include "tests/rays/brute_force.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;
using brute::Place;

constexpr std::size_t elements = 6;
constexpr std::size_t samples = 2048;
constexpr double wall = 24e-3;

Scene scene_of(bool immersed) {
  Scene scene;
  if (immersed) {
    scene.couplant = MetresPerSecond(1480.0);
    scene.surface = make_surface({"[surface]", "cylinder", {{"radius", 50e-3}}, {}});
  }
  scene.backwall = make_surface({"[backwall]", "plane", {{"z", wall}}, {}});
  return scene;
}

const Grid coarse{{Metres(-6e-3), Metres(7e-3), 7}, {Metres(-2e-3), Metres(26e-3), 8}, {}};

/// A plan of one view with its legs in tables, as a configuration makes it.
ImagingPlan plan_of(bool immersed, const std::string& view, const Grid& grid = coarse, Seconds tolerance = Seconds(0.0),
                    bool with_departures = false) {
  ImagingPlan plan = make_plan(elements, samples, grid);
  for (Element& element : plan.acquisition.probe.elements) element.centre.z = Metres(immersed ? -15e-3 : 0.0);
  DelayLaw law = make_delay_law(immersed ? "immersion" : "contact", {plan.acquisition, plan.material, view, scene_of(immersed)});
  const bool reciprocal = law.reciprocal();
  if (const auto table = law.transmit->tabulated(plan.grid, 2, tolerance, with_departures)) law.transmit = table;
  if (const auto table = law.receive->tabulated(plan.grid, 2, tolerance, with_departures)) law.receive = table;
  if (reciprocal) law.receive = law.transmit;
  plan.laws = {law};
  return plan;
}

/// Time from the element to the pixel along `modes`, by brute force; NaN where the pixel is not in the part.
double brute_time(const ImagingPlan& plan, bool immersed, const std::string& modes, std::size_t element, const Point& pixel) {
  const auto velocity = [](char mode) { return mode == 'L' ? 6320.0 : 3130.0; };
  const Point& centre = plan.acquisition.probe.elements[element].centre;
  const Place from{centre.x.value, centre.z.value, 0};
  const Place to{pixel.x.value, pixel.z.value, 0};
  const brute::Curve crown = [](long double u) {
    const long double angle = -std::numbers::pi_v<long double> * (0.3L + 0.4L * u);
    return Place{50e-3L * std::cos(angle), 50e-3L + 50e-3L * std::sin(angle), 0};
  };
  const brute::Curve back = [](long double u) { return Place{-0.05L + 0.1L * u, wall, 0}; };
  const bool in_circle = std::hypot(pixel.x.value, pixel.z.value - 50e-3) < 50e-3;
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (immersed && !in_circle) return none;
  if (modes.size() > 1 && pixel.z.value >= wall) return none;
  if (!immersed && modes.size() == 1) return static_cast<double>(brute::distance(from, to)) / velocity(modes[0]);
  if (!immersed) return static_cast<double>(brute::through(from, to, back, velocity(modes[0]), velocity(modes[1]), 1000).time);
  if (modes.size() == 1) return static_cast<double>(brute::through(from, to, crown, 1480.0, velocity(modes[0]), 1000).time);
  return static_cast<double>(brute::through_two(from, to, crown, back, 1480.0, velocity(modes[0]), velocity(modes[1]), 60).time);
}

/// Of the coarse grid; found once for all ways of summing.
const std::vector<double>& brute_times(const ImagingPlan& plan, bool immersed, const std::string& modes) {
  static std::map<std::pair<bool, std::string>, std::vector<double>> found;
  std::vector<double>& times = found[{immersed, modes}];
  if (!times.empty()) return times;
  for (std::size_t element = 0; element < elements; ++element) {
    for (const Point& pixel : plan.grid.points()) times.push_back(brute_time(plan, immersed, modes, element, pixel));
  }
  return times;
}

std::vector<std::complex<float>> image_of(const ImagingPlan& plan, const Input& input, const Way& way) {
  if (way.backend == BackendKind::cuda) return beamform_cuda(options_of(plan, input.pairs), input.spec, input.data, way);
  const auto backend = make_cpu_backend(1);
  const auto queue = backend->make_queue();
  const auto stage = make_beamform_cpu(options_of(plan, input.pairs), *backend, way.level);
  static_cast<void>(stage->prepare(input.spec));
  std::vector<std::complex<float>> image(plan.grid.pixels());
  stage->process({input.data.data()}, {image.data()}, *queue);
  queue->finish();
  return image;
}

/// As the tests of the beamformer allow; tables of travel times add 3e-12 s, which is 2e-5 radians at the highest tone.
double ray_precision_of(const Way& way) {
  return way.backend == BackendKind::cpu ? 3e-5 : way.half ? 1e-3 : 6e-5;
}

struct ViewCase {
  const char* name;
  bool immersed;
  const char* view;
  const char* transmit;  ///< modes from the element to the pixel
  const char* receive;
};

class RayViews : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_WAY(GetParam()); }
};

TEST_P(RayViews, AreTheDirectSum) {
  // Reciprocal A-scans: then a half matrix holds all that the full one does.
  const Signals signals(elements, samples, 11, true);
  for (const ViewCase& c : {ViewCase{"cylinder LL", true, "LL", "L", "L"},
                            {"cylinder LT", true, "LT", "L", "T"},
                            {"plate TT-T", false, "TT-T", "TT", "T"},
                            {"plate LT-TL", false, "LT-TL", "LT", "LT"},
                            {"cylinder LL-L", true, "LL-L", "LL", "L"}}) {
    const ImagingPlan plan = plan_of(c.immersed, c.view);
    const std::vector<double>& out = brute_times(plan, c.immersed, c.transmit);
    const std::vector<double>& back = brute_times(plan, c.immersed, c.receive);
    const std::size_t pixels = plan.grid.pixels();
    direct::Problem problem;
    problem.elements = elements;
    problem.samples = samples;
    problem.pixels = pixels;
    problem.sample_rate = plan.acquisition.sample_rate.value;
    problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) { return Complex(signals.at(tx, rx, k)); };
    problem.transmit_time = [&](std::size_t element, std::size_t pixel) { return out[element * pixels + pixel]; };
    problem.receive_time = [&](std::size_t element, std::size_t pixel) { return back[element * pixels + pixel]; };
    const std::vector<Complex> reference = direct::image(problem);
    for (const MatrixKind kind : {MatrixKind::full, MatrixKind::half}) {
      const auto image = image_of(plan, Input(signals, kind), GetParam());
      EXPECT_LT(direct::relative_error(image, reference), ray_precision_of(GetParam())) << c.name;
      for (std::size_t k = 0; k < pixels; ++k) {
        if (!std::isnan(out[k]) && !std::isnan(back[k])) continue;
        EXPECT_EQ(image[k], std::complex<float>()) << c.name << ", masked pixel " << k;
      }
    }
  }
}

/// Cosine of the angle at which the element's ray leaves, from the place that brute force finds on the first interface.
double brute_cosine(const ImagingPlan& plan, bool immersed, const std::string& modes, std::size_t element, const Point& pixel) {
  const Element& of = plan.acquisition.probe.elements[element];
  const Place from{of.centre.x.value, of.centre.z.value, 0};
  const Place to{pixel.x.value, pixel.z.value, 0};
  const auto velocity = [](char mode) { return mode == 'L' ? 6320.0 : 3130.0; };
  Place at = to;
  if (immersed) {
    const brute::Curve crown = [](long double u) {
      const long double angle = -std::numbers::pi_v<long double> * (0.3L + 0.4L * u);
      return Place{50e-3L * std::cos(angle), 50e-3L + 50e-3L * std::sin(angle), 0};
    };
    at = crown(brute::through(from, to, crown, 1480.0, velocity(modes[0]), 1000).u);
  } else if (modes.size() > 1) {
    const brute::Curve back = [](long double u) { return Place{-0.05L + 0.1L * u, wall, 0}; };
    at = back(brute::through(from, to, back, velocity(modes[0]), velocity(modes[1]), 1000).u);
  }
  return static_cast<double>(((at.x - from.x) * of.normal.x + (at.z - from.z) * of.normal.z) / brute::distance(from, at));
}

/// A limit that cuts some of the rays and lies well between two of them; degrees.
double limit_between(std::vector<double> cosines) {
  std::sort(cosines.begin(), cosines.end());
  std::size_t widest = cosines.size() / 10;
  for (std::size_t k = widest; k < cosines.size() / 2; ++k) {
    if (cosines[k + 1] - cosines[k] > cosines[widest + 1] - cosines[widest]) widest = k;
  }
  // Cosines of the tables are good to 1.5e-4.
  EXPECT_GT(cosines[widest + 1] - cosines[widest], 4e-4);
  return std::acos(0.5 * (cosines[widest] + cosines[widest + 1])) * 180.0 / std::numbers::pi;
}

TEST_P(RayViews, AreWeightedByTheAnglesOfTheRays) {
  const Signals signals(elements, samples, 13, true);
  for (const ViewCase& c : {ViewCase{"cylinder LT", true, "LT", "L", "T"}, {"plate TT-T", false, "TT-T", "TT", "T"}}) {
    ImagingPlan plan = plan_of(c.immersed, c.view, coarse, Seconds(0.0), true);
    const std::vector<double>& out = brute_times(plan, c.immersed, c.transmit);
    const std::vector<double>& back = brute_times(plan, c.immersed, c.receive);
    const std::vector<Point> points = plan.grid.points();
    std::vector<double> all;
    const auto cosines_of = [&](const std::string& modes, const std::vector<double>& times) {
      std::vector<double> cosines(times.size());
      for (std::size_t k = 0; k < times.size(); ++k) {
        if (std::isnan(times[k])) continue;
        cosines[k] = brute_cosine(plan, c.immersed, modes, k / points.size(), points[k % points.size()]);
        all.push_back(cosines[k]);
      }
      return cosines;
    };
    const std::vector<double> sent = cosines_of(c.transmit, out);
    const std::vector<double> received = cosines_of(c.receive, back);
    plan.apodization.directivity = true;
    plan.apodization.angle_limit = limit_between(all);
    const auto weight_of = [&](double cosine, char mode) {
      if (cosine < std::cos(plan.apodization.angle_limit * std::numbers::pi / 180.0)) return 0.0;
      const double velocity = c.immersed ? 1480.0 : mode == 'L' ? 6320.0 : 3130.0;
      const double waves =
          plan.acquisition.probe.elements[0].width.value * plan.acquisition.probe.centre_frequency.value / velocity;
      const double argument = std::numbers::pi * waves * std::sqrt(1.0 - cosine * cosine);
      return cosine * (argument > 0.0 ? std::abs(std::sin(argument) / argument) : 1.0);
    };
    direct::Problem problem;
    problem.elements = elements;
    problem.samples = samples;
    problem.pixels = points.size();
    problem.sample_rate = plan.acquisition.sample_rate.value;
    problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) { return Complex(signals.at(tx, rx, k)); };
    problem.transmit_time = [&](std::size_t element, std::size_t pixel) { return out[element * points.size() + pixel]; };
    problem.receive_time = [&](std::size_t element, std::size_t pixel) { return back[element * points.size() + pixel]; };
    problem.transmit_weight = [&](std::size_t element, std::size_t pixel) {
      return weight_of(sent[element * points.size() + pixel], c.transmit[0]);
    };
    problem.receive_weight = [&](std::size_t element, std::size_t pixel) {
      return weight_of(received[element * points.size() + pixel], c.receive[0]);
    };
    const std::vector<Complex> reference = direct::image(problem);
    for (const MatrixKind kind : {MatrixKind::full, MatrixKind::half}) {
      const auto image = image_of(plan, Input(signals, kind), GetParam());
      // Cosines are good to 1.5e-4; a weight's slope over them is below 2 for these widths.
      EXPECT_LT(direct::relative_error(image, reference), ray_precision_of(GetParam()) + 3e-4) << c.name;
    }
  }
}

TEST_P(RayViews, OfReciprocalNamesAreOneImageOfAHalfMatrix) {
  const Signals signals(elements, samples, 12, true);
  const Input input(signals, MatrixKind::half);
  const auto lt = image_of(plan_of(true, "LT"), input, GetParam());
  const auto tl = image_of(plan_of(true, "TL"), input, GetParam());
  std::vector<Complex> other(tl.begin(), tl.end());
  // The same sums in another order.
  EXPECT_LT(direct::relative_error(lt, other), GetParam().half ? 1e-3 : 2e-6);
}

TEST_P(RayViews, OfInterpolatedTimesStayWithinTheirPhase) {
  // Tones at the probe's centre frequency f: a pair's time is off by 0.01 / f at most, its phase by 2 pi / 100, and its sample by
  // |exp(i 2 pi / 100) - 1| = 2 sin(pi / 100) of the amplitude, which is 1. So is the mean over all pairs. Between samples a tone
  // is read off chords, which are shorter than its arcs.
  const Grid fine{{Metres(-6e-3), Metres(7e-3), 53}, {Metres(4e-3), Metres(20e-3), 65}, {}};
  Signals tones(elements, samples, 13, true);
  for (const char* const view : {"LT", "LL-L"}) {
    const ImagingPlan exact = plan_of(true, view, fine);
    const double frequency = exact.acquisition.probe.centre_frequency.value;
    const ImagingPlan interpolated = plan_of(true, view, fine, Seconds(0.005 / frequency));
    const std::size_t rays = elements * fine.pixels();
    EXPECT_LT(interpolated.laws[0].transmit->rays(fine)->found, rays / 2) << view;
    const double turn = 2.0 * std::numbers::pi * frequency / exact.acquisition.sample_rate.value;
    for (std::size_t tx = 0; tx < elements; ++tx) {
      for (std::size_t rx = 0; rx < elements; ++rx) {
        for (std::size_t k = 0; k < samples; ++k) {
          tones.at(tx, rx, k) = std::complex<float>(std::polar(1.0, turn * static_cast<double>(k)));
        }
      }
    }
    const Input input(tones, MatrixKind::full);
    const auto a = image_of(exact, input, GetParam());
    const auto b = image_of(interpolated, input, GetParam());
    const float bound = static_cast<float>(2.0 * std::sin(std::numbers::pi / 100.0) + ray_precision_of(GetParam()));
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_LE(std::abs(a[k] - b[k]), bound) << view << ", pixel " << k;
      ASSERT_EQ(a[k] == std::complex<float>(), b[k] == std::complex<float>()) << view << ", pixel " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, RayViews, testing::ValuesIn(all_ways()), [](const auto& way) { return way.param.name(); });

}  // namespace
}  // namespace echoform
