// The gate against the samples that pairs and pixels really look up, one by one.
#include "methods/tfm/gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "delay_laws/delay_law.hpp"
#include "delay_laws/leg_bounds.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/section.hpp"
#include "tests/methods/small_arrays.hpp"

namespace echoform {
namespace {

/// A leg without the analytic form, whose times bend; NaN beyond a depth.
class TableLeg final : public Leg {
 public:
  explicit TableLeg(std::size_t sources, double unreached = 1.0) : sources_(sources), unreached_(unreached) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const double x = pixels[k].x.value - 1e-3 * static_cast<double>(source);
      const double z = pixels[k].z.value;
      seconds[k] = z > unreached_ ? std::numeric_limits<double>::quiet_NaN() : 1e-6 + (z * z + std::abs(x)) / 5000.0;
    }
  }

 private:
  std::size_t sources_;
  double unreached_;
};

ImagingPlan plan_of(const std::vector<std::string>& views = {"LL"}) {
  ImagingPlan plan;
  Acquisition& a = plan.acquisition;
  a = test::frames_of(test::sixteen_elements(), 4096, Hertz(40e6), Seconds(-0.3e-6));
  a.time_offset = Seconds(0.1e-6);
  plan.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-5e-3), Metres(6e-3), 33}, {Metres(10e-3), Metres(32e-3), 29}, {}};
  for (const auto& view : views) plan.laws.push_back(make_delay_law("contact", {a, plan.material, view}));
  return plan;
}

TimeRange plain_bounds(const Leg& leg, std::size_t source, const Grid& grid) {
  const std::vector<Point> points = grid.points();
  std::vector<double> times(points.size());
  leg.travel_times(source, points, times);
  TimeRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double time : times) {
    if (std::isnan(time)) continue;
    range = {std::min(range.least, time), std::max(range.greatest, time)};
  }
  return range;
}

TEST(LegBounds, HoldEveryPixelOfPointSources) {
  const ImagingPlan plan = plan_of();
  const Leg& leg = *plan.laws[0].transmit;
  const auto bounds = leg_bounds(leg, plan.grid);
  ASSERT_EQ(bounds.size(), 16U);
  for (std::size_t source = 0; source < bounds.size(); ++source) {
    const TimeRange plain = plain_bounds(leg, source, plan.grid);
    EXPECT_LE(bounds[source].least, plain.least * (1.0 + 1e-12));
    EXPECT_GE(bounds[source].greatest, plain.greatest * (1.0 - 1e-12));
    // The farthest point is a corner, hence a pixel; the nearest lies at most half a pixel off one.
    EXPECT_NEAR(bounds[source].greatest, plain.greatest, 1e-15);
    EXPECT_NEAR(bounds[source].least, plain.least, 1e-9);
  }
}

TEST(LegBounds, AreThePixelsOwnElsewhere) {
  const ImagingPlan plan = plan_of();
  for (const std::size_t threads : {1U, 3U}) {
    const TableLeg leg(5, 20e-3);
    const auto bounds = leg_bounds(leg, plan.grid, threads);
    for (std::size_t source = 0; source < bounds.size(); ++source) {
      const TimeRange plain = plain_bounds(leg, source, plan.grid);
      EXPECT_EQ(bounds[source].least, plain.least);
      EXPECT_EQ(bounds[source].greatest, plain.greatest);
    }
  }
  EXPECT_TRUE(leg_bounds(TableLeg(1, 1e-3), plan.grid)[0].empty());
}

TEST(LegBounds, TellMirroredLaws) {
  const ImagingPlan plan = plan_of({"LT", "TL", "LL"});
  EXPECT_TRUE(mirrored(plan.laws[0], plan.laws[1]));
  EXPECT_FALSE(mirrored(plan.laws[0], plan.laws[0]));
  EXPECT_FALSE(mirrored(plan.laws[0], plan.laws[2]));
  EXPECT_TRUE(mirrored(plan.laws[2], plan.laws[2]));
  EXPECT_FALSE(same_leg(TableLeg(2), TableLeg(2))) << "nothing says that they are";
}

TEST(Gate, LengthsAreQuickToTransform) {
  EXPECT_EQ(gate_length(1), 16U);
  EXPECT_EQ(gate_length(1400), 1536U) << "3 x 512, 10 % more";
  EXPECT_EQ(gate_length(1024), 1024U);
  EXPECT_EQ(gate_length(1025), 1152U) << "2^7 3^2: 1280 is more than 12 % longer";
  EXPECT_EQ(gate_length(7900), 8192U);
  EXPECT_EQ(gate_length(9210), 9216U) << "10240 is 11 % longer, and too long for the GPU's own transform";
  EXPECT_EQ(gate_length(145), 160U) << "no power of two is within reach";
}

TEST(Gate, GrowsBeyondTheGuardByNoMoreThanIsStated) {
  for (std::size_t needed = 1; needed <= 100000; ++needed) {
    const std::size_t length = gate_length(needed);
    ASSERT_GE(length, needed);
    ASSERT_LE(static_cast<double>(length), 1.125 * static_cast<double>(needed) + 24.0) << needed;
  }
  const ImagingPlan plan = plan_of();
  const auto reach = samples_reached(plan);
  for (const std::size_t guard : {0U, 64U, 100U}) {
    const auto gate = choose_gate(plan, guard);
    ASSERT_TRUE(gate);
    const double before = reach->first - static_cast<double>(gate->first);
    EXPECT_GE(before, static_cast<double>(guard));
    EXPECT_LE(before, static_cast<double>(guard) + 7.0) << "all that is more stands behind";
    const double needed = reach->last + 1.0 + static_cast<double>(guard) - static_cast<double>(gate->first);
    EXPECT_LE(static_cast<double>(gate->count), 1.125 * needed + 24.0);
  }
}

TEST(Gate, HoldsEverySampleThatIsLookedUp) {
  for (const auto& views : {std::vector<std::string>{"LL"}, std::vector<std::string>{"LT", "TT"}}) {
    for (const std::size_t guard : {0U, 64U, 100U}) {
      const ImagingPlan plan = plan_of(views);
      const auto gate = choose_gate(plan, guard);
      ASSERT_TRUE(gate);
      EXPECT_EQ(gate->first % 8, 0U);
      EXPECT_EQ(gate->count % 16, 0U);
      EXPECT_LE(gate->first + gate->count, plan.acquisition.samples);
      const double zero = (plan.acquisition.start_time - plan.acquisition.time_offset).value;
      for (const DelayLaw& law : plan.laws) {
        for (std::size_t tx = 0; tx < 16; ++tx) {
          for (std::size_t rx = 0; rx < 16; ++rx) {
            const TimeRange a = plain_bounds(*law.transmit, tx, plan.grid);
            const TimeRange b = plain_bounds(*law.receive, rx, plan.grid);
            const double low = (a.least + b.least - zero) * 40e6;
            const double high = (a.greatest + b.greatest - zero) * 40e6;
            EXPECT_LE(static_cast<double>(gate->first + guard), low);
            EXPECT_GE(static_cast<double>(gate->first + gate->count), std::floor(high) + 2.0 + static_cast<double>(guard));
          }
        }
      }
    }
  }
}

TEST(Gate, EndsWithTheAScan) {
  ImagingPlan plan = plan_of();
  const auto long_gate = choose_gate(plan, 64);
  double latest = 0.0;
  for (std::size_t i = 0; i < 16; ++i) latest = std::max(latest, plain_bounds(*plan.laws[0].transmit, i, plan.grid).greatest);
  const double u = (2.0 * latest - (plan.acquisition.start_time - plan.acquisition.time_offset).value) * 40e6;
  const auto wanted = static_cast<std::size_t>(u) + 2 + 64;
  for (std::size_t samples = 300; samples < 700; ++samples) {
    plan.acquisition.samples = samples;
    const auto gate = choose_gate(plan, 64);
    if (!gate) continue;
    EXPECT_LE(gate->first + gate->count, samples);
    EXPECT_LE(gate->first, long_gate->first);
    EXPECT_GE(gate->first + gate->count, std::min(samples, wanted));
  }
  plan.acquisition.samples = 50;
  EXPECT_FALSE(choose_gate(plan, 64)) << "all of it lies before the image";
}

TEST(Gate, LeavesDeadElementsOut) {
  ImagingPlan plan = plan_of();
  // Near the array, so that its outer elements are much farther away than the inner ones.
  plan.grid = {{Metres(-0.5e-3), Metres(0.5e-3), 5}, {Metres(2e-3), Metres(6e-3), 5}, {}};
  const auto all = choose_gate(plan, 0);
  for (std::size_t i = 0; i < 6; ++i) {
    plan.acquisition.probe.elements[i].dead = true;
    plan.acquisition.probe.elements[15 - i].dead = true;
  }
  EXPECT_LT(choose_gate(plan, 0)->count, all->count);
}

TEST(Gate, IsThatOfPairsThatFireAndRecord) {
  // TableLeg's times grow along the array, element by element: those at its begin are the nearest, those at its end the farthest.
  ImagingPlan plan = plan_of();
  plan.acquisition.probe = make_linear_probe(32, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  const auto leg = std::make_shared<const TableLeg>(32);
  const auto other = std::make_shared<const TableLeg>(32, 25e-3);
  plan.laws = {{"same", leg, leg}, {"other", leg, other}};
  plan.acquisition.probe.elements[20].dead = true;
  plan.acquisition.probe.elements[31].dead = true;
  const double zero = (plan.acquisition.start_time - plan.acquisition.time_offset).value;
  const auto expect_brute_force = [&](const std::vector<std::uint32_t>& firing, const std::vector<std::uint32_t>& recording) {
    double earliest = std::numeric_limits<double>::infinity();
    double latest = -earliest;
    for (const DelayLaw& law : plan.laws) {
      for (const std::uint32_t tx : firing) {
        for (const std::uint32_t rx : recording) {
          const auto& elements = plan.acquisition.probe.elements;
          if (elements[tx].dead || elements[rx].dead) continue;
          const TimeRange a = plain_bounds(*law.transmit, tx, plan.grid);
          const TimeRange b = plain_bounds(*law.receive, rx, plan.grid);
          earliest = std::min(earliest, a.least + b.least);
          latest = std::max(latest, a.greatest + b.greatest);
        }
      }
    }
    const auto reach = samples_reached(plan);
    ASSERT_TRUE(reach);
    EXPECT_EQ(reach->first, std::floor((earliest - zero) * 40e6));
    EXPECT_EQ(reach->last, std::floor((latest - zero) * 40e6) + 1.0);
  };
  std::vector<std::uint32_t> all(32);
  std::iota(all.begin(), all.end(), 0);
  expect_brute_force(all, all);
  const SampleReach of_all = *samples_reached(plan);

  const std::vector<std::uint32_t> some{20, 13, 17, 9};  // 20 is dead
  plan.acquisition.events = element_events(some);
  expect_brute_force(some, all);
  EXPECT_GT(samples_reached(plan)->first, of_all.first) << "those nearest to the image record, but do not fire";
  EXPECT_LT(samples_reached(plan)->last, of_all.last);

  // Those that record may be some, too.
  for (TransmitEvent& event : plan.acquisition.events) event.receivers = {30, 31, 12};
  expect_brute_force(some, {30, 31, 12});
  EXPECT_LT(choose_gate(plan, 0)->count, static_cast<std::size_t>(of_all.last - of_all.first));
}

TEST(Gate, IsForLiveRunsUnlessToldOtherwise) {
  Acquisition acquisition = plan_of().acquisition;
  Configuration configuration;
  configuration.grid.z = {Metres(10e-3), Metres(32e-3)};
  const Material steel{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  const auto gate_of = [&](CropWish crop, ImagingUse use) {
    tfm(configuration).crop = crop;
    return build_plan(configuration, acquisition, steel, 1, use)->gate.has_value();
  };
  EXPECT_TRUE(gate_of(CropWish::live, ImagingUse::live));
  EXPECT_FALSE(gate_of(CropWish::live, ImagingUse::recording));
  EXPECT_TRUE(gate_of(CropWish::always, ImagingUse::recording));
  EXPECT_FALSE(gate_of(CropWish::never, ImagingUse::live));
}

}  // namespace
}  // namespace echoform
