// Lookups are counted where rays reach and within the samples that are imaged.
#include "benchmarks/lookups.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace echoform::benchmarks {
namespace {

/// Source k takes `first` + k samples to every pixel, and reaches those with x from k on.
class SteppedLeg final : public Leg {
 public:
  SteppedLeg(std::size_t sources, double first, double sample_rate)
      : sources_(sources), first_(first), sample_rate_(sample_rate) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const bool reached = pixels[k].x.value >= static_cast<double>(source);
      // A quarter more keeps rounding off the samples' edges.
      seconds[k] =
          reached ? (first_ + 0.25 + static_cast<double>(source)) / sample_rate_ : std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::size_t sources_;
  double first_;
  double sample_rate_;
};

constexpr double sample_rate = 40e6;

ImagingPlan plan_of(MatrixKind matrix) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, Metres(1e-3), Metres(), Hertz(), Hertz());
  plan.acquisition.samples = 20;
  plan.acquisition.sample_rate = Hertz(sample_rate);
  plan.acquisition.start_time = Seconds(4.0 / sample_rate);
  plan.acquisition.matrix = matrix;
  plan.grid = {{Metres(0.0), Metres(3.0), 4}, {Metres(0.0), Metres(1.0), 2}, {Metres(), Metres(), 1}};
  const auto leg = std::make_shared<SteppedLeg>(3, 6.0, sample_rate);
  plan.laws = {{"LL", leg, leg}};
  return plan;
}

// Source k reaches 4 - k of the 4 columns: i and j both reach 4 - max(i, j). Pairs (i <= j): (0,0) 4, (0,1) 3, (0,2) 2, (1,1) 3,
// (1,2) 2, (2,2) 2 columns, at samples 8.5, 9.5, 10.5, 10.5, 11.5, 12.5; times two rows.
TEST(Lookups, CountWhatRaysReach) {
  const LookupCount count = count_lookups(plan_of(MatrixKind::full), 2);
  EXPECT_EQ(count.all, 6.0 * 8.0);
  EXPECT_EQ(count.reached, 2.0 * (4 + 3 + 2 + 3 + 2 + 2));
}

TEST(Lookups, CountSamplesOfTheGateAlone) {
  ImagingPlan plan = plan_of(MatrixKind::full);
  plan.gate = SampleGate{9, 3};  // 9 <= u < 11
  const LookupCount count = count_lookups(plan, 1);
  EXPECT_EQ(count.all, 6.0 * 8.0);
  EXPECT_EQ(count.reached, 2.0 * (3 + 2 + 3));
}

TEST(Lookups, CountBothWaysWhereLegsDiffer) {
  ImagingPlan plan = plan_of(MatrixKind::full);
  const auto later = std::make_shared<SteppedLeg>(3, 7.0, sample_rate);
  plan.laws.push_back({"LT", plan.laws[0].transmit, later});
  const LookupCount count = count_lookups(plan, 2);
  // No view is halved where one is not reciprocal: all nine pairs of both.
  EXPECT_EQ(count.all, 2.0 * 9.0 * 8.0);
  EXPECT_EQ(count.reached, 2.0 * 2.0 * (4 + 3 + 2 + 3 + 3 + 2 + 2 + 2 + 2));
}

}  // namespace
}  // namespace echoform::benchmarks
