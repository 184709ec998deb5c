// The beamformer of every backend against a direct sum in double precision.
#include "stages/beamform/beamform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "tests/beamform/cuda_rows.hpp"
#include "tests/beamform/direct_sum.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/beamform/way.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

std::vector<std::complex<float>> beamform_cpu(const ImagingPlan& plan, const Input& input, const Way& way, std::size_t threads,
                                              BeamformLookup lookup) {
  const auto backend = make_cpu_backend(threads);
  const auto queue = backend->make_queue();
  const auto stage = make_beamform_cpu(options_of(plan, input.pairs), *backend, way.level, lookup);
  const BlockSpec output = stage->prepare(input.spec);
  EXPECT_EQ(output.type, ElementType::complex64);
  EXPECT_EQ(output.rows * output.columns, plan.grid.pixels());
  std::vector<std::complex<float>> image(plan.grid.pixels());
  // Twice: a frame leaves nothing behind for the next.
  for (int frame = 0; frame < 2; ++frame) stage->process({input.data.data()}, {image.data()}, *queue);
  queue->finish();
  return image;
}

std::vector<std::complex<float>> beamform(const ImagingPlan& plan, const Input& input, const Way& way, std::size_t threads = 1,
                                          BeamformLookup lookup = BeamformLookup::automatic) {
  if (way.backend == BackendKind::cpu) return beamform_cpu(plan, input, way, threads, lookup);
  return beamform_cuda(options_of(plan, input.pairs), input.spec, input.data, way);
}

direct::Problem problem_of(const ImagingPlan& plan, const Signals& signals) {
  direct::Problem problem;
  problem.elements = signals.elements;
  problem.samples = signals.samples;
  problem.pixels = plan.grid.pixels();
  problem.sample_rate = plan.acquisition.sample_rate.value;
  problem.start_time = plan.acquisition.start_time.value;
  problem.time_offset = plan.acquisition.time_offset.value;
  problem.linear = plan.interpolation == Interpolation::linear;
  problem.sample = [&signals](std::size_t tx, std::size_t rx, std::size_t k) { return Complex(signals.at(tx, rx, k)); };
  const auto time = [&plan](char mode) {
    const double velocity = mode == 'L' ? 6320.0 : 3130.0;
    return [&plan, velocity](std::size_t element, std::size_t pixel) {
      const Grid& g = plan.grid;
      const std::size_t ix = pixel % g.x.count;
      const std::size_t iy = pixel / g.x.count % g.y.count;
      const std::size_t iz = pixel / g.x.count / g.y.count;
      const auto along = [](const Axis& axis, std::size_t k) {
        return axis.count == 1 ? axis.first.value
                               : axis.first.value + (axis.last.value - axis.first.value) * static_cast<double>(k) /
                                                        static_cast<double>(axis.count - 1);
      };
      const Point& centre = plan.acquisition.probe.elements[element].centre;
      return std::hypot(along(g.x, ix) - centre.x.value, along(g.y, iy) - centre.y.value, along(g.z, iz) - centre.z.value) /
             velocity;
    };
  };
  problem.transmit_time = time(plan.laws[0].view.front());
  problem.receive_time = time(plan.laws[0].view.back());
  return problem;
}

// Single precision: offsets below 64 samples are held to 2^-18, at up to 1.3 radians a sample, and sums of a few hundred terms
// round at 6e-8 each. Together below 1e-5 of the image with a margin of about five.
constexpr double single_precision = 1e-5;

/// Relative error of an image that a way may have, besides what a test adds.
double precision_of(const Way& way) {
  if (way.backend == BackendKind::cpu) return single_precision;
  // On CUDA the fraction of a delay has 17 bits or, in wide windows, 15; on the half path ten of a sample in half precision.
  return way.half ? 1e-3 : 3e-5;
}
/// The order of a hundred additions.
double rounding_of(const Way& way) {
  return way.half ? 1e-3 : 2e-6;
}

struct Case {
  Way way;
  MatrixKind matrix;
  Interpolation interpolation;
  const char* view;
  std::size_t threads;
  BeamformLookup lookup;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return c.way.name() +
         (c.matrix == MatrixKind::full   ? "Full"
          : c.matrix == MatrixKind::half ? "Half"
                                         : "HalfSummed") +
         (c.interpolation == Interpolation::linear ? "Linear" : "Nearest") + c.view +
         (c.way.backend == BackendKind::cpu ? std::to_string(c.threads) + "threads" : "") +
         (c.lookup == BeamformLookup::gather ? "Gather" : "");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Way& way : all_ways()) {
    for (const auto matrix : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
      for (const char* view : {"LL", "TT", "LT"}) {
        if (matrix == MatrixKind::half_summed && std::string_view(view) == "LT") continue;
        for (const auto interpolation : {Interpolation::linear, Interpolation::nearest}) {
          cases.push_back({way, matrix, interpolation, view, 1, BeamformLookup::automatic});
        }
      }
    }
    if (way.backend != BackendKind::cpu) continue;
    cases.push_back({way, MatrixKind::half_summed, Interpolation::linear, "LL", 2, BeamformLookup::automatic});
    cases.push_back({way, MatrixKind::half_summed, Interpolation::linear, "LL", 3, BeamformLookup::automatic});
    cases.push_back({way, MatrixKind::half_summed, Interpolation::linear, "LL", 1, BeamformLookup::gather});
    cases.push_back({way, MatrixKind::full, Interpolation::nearest, "LT", 1, BeamformLookup::gather});
  }
  return cases;
}

class Beamform : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_WAY(GetParam().way); }
  /// Compares with the direct sum; counts lookups that fall within rounding of a half sample in nearest mode.
  void expect_equal(ImagingPlan plan, const Signals& signals, double added_precision = 0.0) const {
    const double precision = precision_of(GetParam().way) + added_precision;
    plan.interpolation = GetParam().interpolation;
    const Input input(signals, GetParam().matrix);
    const auto image = beamform(plan, input, GetParam().way, GetParam().threads, GetParam().lookup);
    const auto problem = problem_of(plan, signals);
    const auto expected = direct::image(problem);
    double bound = precision;
    if (!problem.linear) {
      // Each lookup that rounding may move by one sample changes one of N^2 terms by at most twice a term's size.
      std::size_t doubtful = 0;
      for (std::size_t p = 0; p < problem.pixels; ++p) {
        for (std::size_t i = 0; i < problem.elements; ++i) {
          for (std::size_t j = 0; j < problem.elements; ++j) {
            const double u =
                (problem.transmit_time(i, p) + problem.receive_time(j, p) - problem.start_time + problem.time_offset) *
                problem.sample_rate;
            if (std::abs(u - std::floor(u) - 0.5) < precision) ++doubtful;
          }
        }
      }
      bound += 2.0 * std::sqrt(static_cast<double>(doubtful) /
                               static_cast<double>(problem.pixels * problem.elements * problem.elements));
    }
    EXPECT_LT(direct::relative_error(image, expected), bound);
  }
};

TEST_P(Beamform, EqualsTheDirectSum) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 45}, {Metres(1.03e-3), Metres(14.9e-3), 37}, {}};
  expect_equal(make_plan(9, 480, grid, GetParam().view), Signals(9, 480, 1, true));
}

TEST_P(Beamform, HonoursTheEndsOfTheAScan) {
  // Most of this grid lies before the first or after the last sample.
  Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 33}, {Metres(1.03e-3), Metres(40.9e-3), 50}, {}};
  ImagingPlan plan = make_plan(5, 100, grid, GetParam().view);
  plan.acquisition.start_time = Seconds(4.013e-6);
  expect_equal(plan, Signals(5, 100, 2, true));
}

TEST_P(Beamform, TakesNegativeStartTimesAndOffsets) {
  Grid grid{{Metres(-2.1e-3), Metres(2.3e-3), 9}, {Metres(0.0), Metres(3.9e-3), 11}, {}};
  ImagingPlan plan = make_plan(4, 200, grid, GetParam().view);
  plan.acquisition.start_time = Seconds(-1.517e-6);
  plan.acquisition.time_offset = Seconds(0.31e-6);
  expect_equal(plan, Signals(4, 200, 3, true));
}

TEST_P(Beamform, TakesGridsWhosePatchesOutgrowEveryWindow) {
  const Grid grid{{Metres(-30e-3), Metres(30.1e-3), 13}, {Metres(1e-3), Metres(60.3e-3), 11}, {}};
  // Offsets of up to 512 samples are held to 2^-15.
  expect_equal(make_plan(6, 1700, grid, GetParam().view), Signals(6, 1700, 4, true), 4e-5);
}

TEST_P(Beamform, TakesVolumesAndSinglePixels) {
  const Grid volume{{Metres(-3e-3), Metres(3.1e-3), 7}, {Metres(2e-3), Metres(6.3e-3), 5}, {Metres(-1e-3), Metres(1.2e-3), 3}};
  expect_equal(make_plan(4, 300, volume, GetParam().view), Signals(4, 300, 5, true));
  const Grid pixel{{Metres(0.4e-3), Metres(0.4e-3), 1}, {Metres(5.07e-3), Metres(5.07e-3), 1}, {}};
  // One pixel alone has no others to even out the half path's rounding, and its sum may be small.
  expect_equal(make_plan(8, 300, pixel, GetParam().view), Signals(8, 300, 6, true), GetParam().way.half ? 2e-3 : 0.0);
}

INSTANTIATE_TEST_SUITE_P(All, Beamform, testing::ValuesIn(all_cases()), name_of);

class BeamformLevel : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_WAY(GetParam()); }
  [[nodiscard]] double precision() const { return precision_of(GetParam()); }
  [[nodiscard]] double rounding() const { return rounding_of(GetParam()); }
};

TEST_P(BeamformLevel, FullMatrixNeedsNoReciprocity) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 20}, {Metres(1.03e-3), Metres(14.9e-3), 21}, {}};
  const ImagingPlan plan = make_plan(6, 480, grid, "TL");
  const Signals signals(6, 480, 7, false);
  const auto image = beamform(plan, Input(signals, MatrixKind::full), GetParam());
  EXPECT_LT(direct::relative_error(image, direct::image(problem_of(plan, signals))), precision());
}

TEST_P(BeamformLevel, HalfEqualsFull) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 32}, {Metres(1.03e-3), Metres(14.9e-3), 32}, {}};
  const ImagingPlan plan = make_plan(8, 480, grid);
  // Not reciprocal data: the sum s_ij + s_ji serves both orders all the same, since the delays do not tell them apart.
  const Signals signals(8, 480, 8, false);
  const auto full = beamform(plan, Input(signals, MatrixKind::full), GetParam());
  const auto half = beamform(plan, Input(signals, MatrixKind::half_summed), GetParam());
  const std::vector<Complex> reference(full.begin(), full.end());
  EXPECT_LT(direct::relative_error(half, reference), rounding());  // the order of a hundred single-precision additions
}

TEST_P(BeamformLevel, ReciprocalViewsOfReciprocalDataAgree) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 19}, {Metres(1.03e-3), Metres(9.9e-3), 18}, {}};
  const Signals signals(6, 480, 9, true);
  const auto lt = beamform(make_plan(6, 480, grid, "LT"), Input(signals, MatrixKind::half), GetParam());
  const auto tl = beamform(make_plan(6, 480, grid, "TL"), Input(signals, MatrixKind::full), GetParam());
  EXPECT_LT(direct::relative_error(lt, std::vector<Complex>(tl.begin(), tl.end())), rounding());
}

TEST_P(BeamformLevel, WeighsBothSidesByTheApodization) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 23}, {Metres(1.03e-3), Metres(14.9e-3), 29}, {}};
  for (const auto sides : {ApodizationSides::both, ApodizationSides::transmit, ApodizationSides::receive}) {
    ImagingPlan plan = make_plan(7, 480, grid);
    plan.apodization.window = ApodizationWindow::tukey;
    plan.apodization.tukey_fraction = 0.6;
    plan.apodization.directivity = true;
    plan.apodization.angle_limit = 41.0;
    plan.apodization.sides = sides;
    const Signals signals(7, 480, 10, true);
    auto problem = problem_of(plan, signals);
    const auto weight = [&plan](std::size_t element, std::size_t pixel) {
      const double x = plan.grid.x.at(pixel % plan.grid.x.count).value - plan.acquisition.probe.elements[element].centre.x.value;
      const double z = plan.grid.z.at(pixel / plan.grid.x.count).value;
      const double angle = std::atan2(std::abs(x), z);
      if (angle > 41.0 * std::numbers::pi / 180.0) return 0.0;
      const double t = (static_cast<double>(element) + 0.5) / 7.0;
      const double edge = std::min(t, 1.0 - t) / 0.3;
      const double window = edge < 1.0 ? 0.5 * (1.0 - std::cos(std::numbers::pi * edge)) : 1.0;
      const double argument = std::numbers::pi * 0.5e-3 * 5e6 / 6320.0 * std::sin(angle);
      return window * std::cos(angle) * (argument == 0.0 ? 1.0 : std::sin(argument) / argument);
    };
    if (sides != ApodizationSides::receive) problem.transmit_weight = weight;
    if (sides != ApodizationSides::transmit) problem.receive_weight = weight;
    const auto matrix = sides == ApodizationSides::both ? MatrixKind::half_summed : MatrixKind::half;
    EXPECT_LT(direct::relative_error(beamform(plan, Input(signals, matrix), GetParam()), direct::image(problem)), precision());
    EXPECT_LT(direct::relative_error(beamform(plan, Input(signals, MatrixKind::full), GetParam()), direct::image(problem)),
              precision());
  }
}

TEST_P(BeamformLevel, SparseFiringsAreTheSumOfTheirPairs) {
  // In an order of their own; more of them than a group of the kernels has, and fewer.
  for (const auto& firing : {std::vector<std::uint32_t>{9, 2, 4}, std::vector<std::uint32_t>{0, 11, 1, 10, 2, 9, 3, 8, 4}}) {
    const Signals signals(12, 480, 23, false);
    const Input input = input_of_firings(signals, firing);
    for (const char* view : {"LL", "LT"}) {
      for (const bool weighted : {false, true}) {
        for (const auto interpolation : {Interpolation::linear, Interpolation::nearest}) {
          const Grid grid{{Metres(-4.1e-3), Metres(5.3e-3), 37}, {Metres(1.03e-3), Metres(9.9e-3), 41}, {}};
          ImagingPlan plan = make_plan(12, 480, grid, view);
          plan.acquisition.events = element_events(firing);
          plan.interpolation = interpolation;
          if (weighted) plan.apodization.window = ApodizationWindow::hann;
          auto problem = problem_of(plan, signals);
          problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) {
            const bool fires = std::find(firing.begin(), firing.end(), tx) != firing.end();
            return fires ? Complex(signals.at(tx, rx, k)) : Complex();
          };
          if (weighted) {
            problem.transmit_weight = [](std::size_t element, std::size_t) {
              return std::pow(std::sin(std::numbers::pi * (static_cast<double>(element) + 0.5) / 12.0), 2);
            };
            problem.receive_weight = problem.transmit_weight;
          }
          // Delays of single precision are off by less than 1e-4 of a sample: of the lookups of white noise 2e-4 may take the
          // neighbour of the nearest sample, which differs by sqrt(2) of its size. A pair that is missing is 0.1.
          const bool nearest = interpolation == Interpolation::nearest;
          const double allowed = nearest ? std::sqrt(2.0 * 2e-4) : precision();
          EXPECT_LT(direct::relative_error(beamform(plan, input, GetParam()), direct::image(problem)), allowed)
              << firing.size() << " firings, " << view << (weighted ? ", weighted" : "") << (nearest ? ", nearest" : "");
        }
      }
    }
  }
}

/// Every element fires, and is recorded by those that are `steps` farther on, round the array.
std::vector<TransmitEvent> walking_events(std::uint32_t elements, const std::vector<std::uint32_t>& steps) {
  std::vector<TransmitEvent> events;
  for (std::uint32_t element = 0; element < elements; ++element) {
    events.push_back({ElementEvent{element}, {}});
    for (const std::uint32_t step : steps) events.back().receivers.push_back((element + step) % elements);
  }
  return events;
}

TEST_P(BeamformLevel, EventsWithReceiversOfTheirOwnAreTheSumOfTheirPairs) {
  // Pulse-echo, and apertures that walk over an array of more groups than one.
  constexpr std::uint32_t elements = 19;
  const Signals signals(elements, 480, 31, false);
  for (const auto& steps : {std::vector<std::uint32_t>{0}, std::vector<std::uint32_t>{0, 1, 5, 18}}) {
    for (const char* view : {"LL", "LT"}) {
      for (const bool weighted : {false, true}) {
        const Grid grid{{Metres(-4.1e-3), Metres(5.3e-3), 37}, {Metres(1.03e-3), Metres(9.9e-3), 41}, {}};
        ImagingPlan plan = make_plan(elements, 480, grid, view);
        plan.acquisition.events = walking_events(elements, steps);
        if (weighted) plan.apodization.window = ApodizationWindow::hann;
        auto problem = problem_of(plan, signals);
        problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) {
          const bool received = std::ranges::find(steps, (rx + elements - tx) % elements) != steps.end();
          return received ? Complex(signals.at(tx, rx, k)) : Complex();
        };
        if (weighted) {
          problem.transmit_weight = [](std::size_t element, std::size_t) {
            return std::pow(std::sin(std::numbers::pi * (static_cast<double>(element) + 0.5) / elements), 2);
          };
          problem.receive_weight = problem.transmit_weight;
        }
        // Divided by the pairs that are declared, not by all that there could be.
        std::vector<Complex> expected = direct::image(problem);
        for (Complex& pixel : expected) pixel *= static_cast<double>(elements) / static_cast<double>(steps.size());
        const bool reciprocal = std::string_view(view) == "LL";
        for (const bool summed : {false, true}) {
          if (summed && !reciprocal) continue;
          const Input input = input_of_received(signals, plan.acquisition, summed);
          ASSERT_LE(input.pairs.rows, elements * steps.size());
          EXPECT_LT(direct::relative_error(beamform(plan, input, GetParam()), expected), precision())
              << steps.size() << " receivers, " << view << (weighted ? ", weighted" : "") << (summed ? ", summed" : "");
        }
      }
    }
  }
}

TEST_P(BeamformLevel, AllElementsInTurnAreTheFullMatrix) {
  const Grid grid{{Metres(-4.1e-3), Metres(5.3e-3), 21}, {Metres(1.03e-3), Metres(9.9e-3), 22}, {}};
  const Signals signals(5, 480, 29, false);
  ImagingPlan plan = make_plan(5, 480, grid, "LT");
  const auto full = beamform(plan, Input(signals, MatrixKind::full), GetParam());
  const std::vector<std::uint32_t> firing{0, 1, 2, 3, 4};
  plan.acquisition.events = element_events(firing);
  EXPECT_EQ(beamform(plan, input_of_firings(signals, firing), GetParam()), full);
}

/// A straight leg with a shadow: no path from element e to pixels with x beyond a line that moves with e.
class ShadowedLeg final : public Leg {
 public:
  explicit ShadowedLeg(const Probe& probe) : probe_(probe) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }
  static bool shadowed(std::size_t source, double x) { return x > 1e-3 * static_cast<double>(source) - 2.5e-3; }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const Point& e = probe_.elements[source].centre;
      seconds[k] = shadowed(source, pixels[k].x.value)
                       ? std::numeric_limits<double>::quiet_NaN()
                       : std::hypot((pixels[k].x - e.x).value, (pixels[k].z - e.z).value) / 6320.0;
    }
  }

 private:
  Probe probe_;
};

TEST_P(BeamformLevel, LeavesOutPathsThatDoNotExist) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 41}, {Metres(1.03e-3), Metres(14.9e-3), 33}, {}};
  ImagingPlan plan = make_plan(7, 480, grid);
  const auto leg = std::make_shared<ShadowedLeg>(plan.acquisition.probe);
  plan.laws = {DelayLaw{"LL", leg, leg}};
  const Signals signals(7, 480, 11, true);
  auto problem = problem_of(plan, signals);
  problem.transmit_time = problem.receive_time = [&](std::size_t element, std::size_t pixel) {
    const Point p = plan.grid.at(pixel);
    const double x0 = plan.acquisition.probe.elements[element].centre.x.value;
    return ShadowedLeg::shadowed(element, p.x.value) ? std::numeric_limits<double>::quiet_NaN()
                                                     : std::hypot(p.x.value - x0, p.z.value) / 6320.0;
  };
  const auto image = beamform(plan, Input(signals, MatrixKind::half_summed), GetParam());
  const auto expected = direct::image(problem);
  EXPECT_LT(direct::relative_error(image, expected), precision());
  EXPECT_EQ(image.back(), std::complex<float>(0.0F, 0.0F));
}

TEST_P(BeamformLevel, IsLinear) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 16}, {Metres(1.03e-3), Metres(14.9e-3), 16}, {}};
  const ImagingPlan plan = make_plan(6, 480, grid);
  const Input a(Signals(6, 480, 12, false), MatrixKind::full);
  const Input b(Signals(6, 480, 13, false), MatrixKind::full);
  Input sum = a;
  for (std::size_t k = 0; k < sum.data.size(); ++k) sum.data[k] = 2.0F * a.data[k] - 0.5F * b.data[k];
  const auto image_a = beamform(plan, a, GetParam());
  const auto image_b = beamform(plan, b, GetParam());
  std::vector<Complex> expected;
  for (std::size_t k = 0; k < image_a.size(); ++k) expected.push_back(2.0 * Complex(image_a[k]) - 0.5 * Complex(image_b[k]));
  EXPECT_LT(direct::relative_error(beamform(plan, sum, GetParam()), expected), rounding());
}

TEST_P(BeamformLevel, ImagesDoNotDependOnTheNumberOfThreads) {
  const Grid grid{{Metres(-7.1e-3), Metres(8.3e-3), 70}, {Metres(1.03e-3), Metres(14.9e-3), 66}, {}};
  const ImagingPlan plan = make_plan(6, 480, grid);
  const Input input(Signals(6, 480, 14, false), MatrixKind::half_summed);
  const auto one = beamform(plan, input, GetParam(), 1);
  EXPECT_EQ(one, beamform(plan, input, GetParam(), 2));
  EXPECT_EQ(one, beamform(plan, input, GetParam(), 5));
}

/// The CPU has tiles of one kind only.
class BeamformTileKind : public BeamformLevel {};

TEST_P(BeamformTileKind, EveryWayToCutTheImageGivesTheSameOne) {
  // Fine enough for the narrowest windows, with shear waves too.
  const Grid grid{{Metres(-0.9e-3), Metres(1.1e-3), 70}, {Metres(2.03e-3), Metres(3.9e-3), 66}, {}};
  const Signals signals(19, 480, 15, true);
  for (const char* view : {"LL", "LT"}) {
    const ImagingPlan plan = make_plan(19, 480, grid, view);
    const Input input(signals, MatrixKind::half);
    const auto expected = direct::image(problem_of(plan, signals));
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      Way way = GetParam();
      way.kind = static_cast<beamform::TileKind>(kind);
      EXPECT_LT(direct::relative_error(beamform(plan, input, way), expected), precision()) << view << ", kind " << kind;
    }
    // As many tiles as there are for other counts of firings than of receivers.
    const std::vector<std::uint32_t> firing{17, 3, 4, 5, 6, 7, 8, 9, 10, 0};
    ImagingPlan sparse = plan;
    sparse.acquisition.events = element_events(firing);
    auto problem = problem_of(sparse, signals);
    problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) {
      return std::find(firing.begin(), firing.end(), tx) != firing.end() ? Complex(signals.at(tx, rx, k)) : Complex();
    };
    const auto of_firings = direct::image(problem);
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      Way way = GetParam();
      way.kind = static_cast<beamform::TileKind>(kind);
      if (!has_separate_counts(*way.kind)) continue;
      EXPECT_LT(direct::relative_error(beamform(sparse, input_of_firings(signals, firing), way), of_firings), precision())
          << view << ", kind " << kind << ", sparse";
    }
    ImagingPlan walking = plan;
    walking.acquisition.events = walking_events(19, {0, 3, 4, 11});
    problem.sample = [&](std::size_t tx, std::size_t rx, std::size_t k) {
      const std::size_t step = (rx + 19 - tx) % 19;
      return step == 0 || step == 3 || step == 4 || step == 11 ? Complex(signals.at(tx, rx, k)) * (19.0 / 4.0) : Complex();
    };
    const auto of_receivers = direct::image(problem);
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      Way way = GetParam();
      way.kind = static_cast<beamform::TileKind>(kind);
      if (!has_separate_counts(*way.kind)) continue;
      const Input received = input_of_received(signals, walking.acquisition, false);
      EXPECT_LT(direct::relative_error(beamform(walking, received, way), of_receivers), precision())
          << view << ", kind " << kind << ", receivers of their own";
    }
  }
}

/// Of the analytic form for its first source only; the others are in the shadow.
class PartlyAnalyticLeg final : public Leg {
 public:
  explicit PartlyAnalyticLeg(std::size_t sources) : sources_(sources) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      seconds[k] =
          source == 0 ? std::hypot(pixels[k].x.value, pixels[k].z.value) / 6320.0 : std::numeric_limits<double>::quiet_NaN();
    }
  }
  [[nodiscard]] std::optional<PointSourceForm> point_source(std::size_t source) const override {
    if (source != 0) return std::nullopt;
    return PointSourceForm{{}, MetresPerSecond(6320.0), Seconds(0.0)};
  }

 private:
  std::size_t sources_;
};

TEST_P(BeamformLevel, TakesLegsOfWhichOnlySomeSourcesAreAnalytic) {
  const Grid grid{{Metres(-1e-3), Metres(1e-3), 9}, {Metres(1e-3), Metres(5e-3), 9}, {}};
  ImagingPlan plan = make_plan(4, 200, grid);
  const auto leg = std::make_shared<PartlyAnalyticLeg>(4);
  plan.laws = {DelayLaw{"LL", leg, leg}};
  const Signals signals(4, 200, 12, true);
  auto problem = problem_of(plan, signals);
  problem.transmit_time = problem.receive_time = [&](std::size_t element, std::size_t pixel) {
    const Point p = plan.grid.at(pixel);
    return element == 0 ? std::hypot(p.x.value, p.z.value) / 6320.0 : std::numeric_limits<double>::quiet_NaN();
  };
  const auto image = beamform(plan, Input(signals, MatrixKind::half_summed), GetParam());
  EXPECT_LT(direct::relative_error(image, direct::image(problem)), precision());
}

std::vector<Way> cuda_ways() {
  std::vector<Way> ways = all_ways();
  std::erase_if(ways, [](const Way& way) { return way.backend == BackendKind::cpu; });
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Cuda, BeamformTileKind, testing::ValuesIn(cuda_ways()),
                         [](const auto& way) { return way.param.name(); });
INSTANTIATE_TEST_SUITE_P(Levels, BeamformLevel, testing::ValuesIn(all_ways()), [](const auto& way) { return way.param.name(); });

}  // namespace
}  // namespace echoform
