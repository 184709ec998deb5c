// What the beamformer on the CPU refuses, and what the contact law does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "stages/beamform/beamform.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

/// Every source takes the same time to every pixel.
class ConstantLeg final : public Leg {
 public:
  ConstantLeg(std::size_t sources, double time) : sources_(sources), time_(time) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t, std::span<const Point>, std::span<double> seconds) const override {
    for (double& t : seconds) t = time_;
  }

 private:
  std::size_t sources_;
  double time_;
};

std::string refusal(const BeamformOptions& options, const BlockSpec& spec) {
  const auto backend = make_cpu_backend(1);
  return test::input_error([&] {
    const BlockSpec output = make_beamform_cpu(options, *backend)->prepare(spec);
    (void)output;
  });
}
std::string refusal(const ImagingPlan& plan, const BlockSpec& spec) {
  return refusal(options_of(plan, MatrixKind::half_summed), spec);
}

TEST(BeamformInput, RefusesWhatItCannotUse) {
  const Grid grid{{Metres(0.0), Metres(1e-3), 4}, {Metres(1e-3), Metres(2e-3), 4}, {}};
  const ImagingPlan plan = make_plan(4, 100, grid);
  BlockSpec spec = Input(Signals(4, 100, 1, true), MatrixKind::half_summed).spec;
  EXPECT_EQ(refusal(plan, spec), "");
  BlockSpec interleaved = spec;
  interleaved.type = ElementType::complex64;
  EXPECT_EQ(refusal(plan, interleaved),
            "beamform input: found complex64 [10, 100] with rows of 176; expected planar complex64 [10, 100] with rows of at "
            "least 164");
  BlockSpec tight = spec;
  tight.row_stride = 112;
  EXPECT_EQ(refusal(plan, tight),
            "beamform input: found planar complex64 [10, 100] with rows of 112; expected planar complex64 [10, 100] with rows of "
            "at least 164");
  EXPECT_EQ(refusal(make_plan(4, 100, grid, "LT"), spec),
            "beamform stage, pairs: found sums of both directions; expected each direction: the law or the weights tell (i, j) "
            "from (j, i)");
  ImagingPlan infinite = plan;
  const auto leg = std::make_shared<ConstantLeg>(4, std::numeric_limits<double>::infinity());
  infinite.laws = {DelayLaw{"LL", leg, leg}};
  EXPECT_THAT(refusal(infinite, spec), testing::HasSubstr("expected finite times below 1 s, or NaN where there is no path"));
}

TEST(BeamformInput, RefusesDelaysThatDoNotFitTheTables) {
  const Grid grid{{Metres(0.0), Metres(1e-3), 4}, {Metres(1e-3), Metres(2e-3), 4}, {}};
  const BlockSpec spec = Input(Signals(4, 100, 1, true), MatrixKind::half_summed).spec;
  ImagingPlan plan = make_plan(4, 100, grid);
  plan.acquisition.start_time = Seconds(-0.9);
  EXPECT_EQ(refusal(plan, spec), "");  // 18 million samples to either side, of which none is in the A-scan
  for (const double start : {-0.9, 0.9}) {
    plan.acquisition.start_time = Seconds(start);
    plan.acquisition.sample_rate = Hertz(1e12);
    EXPECT_THAT(refusal(plan, spec),
                testing::HasSubstr("expected a sample rate, a start time and a time offset that fit the grid"));
  }
  // A pixel far away, without any offset.
  plan.acquisition.start_time = Seconds(0.0);
  plan.grid.x.last = Metres(9.0);
  EXPECT_THAT(refusal(plan, spec), testing::HasSubstr("more than 268435456 samples away"));
}

TEST(BeamformInput, DirectivityNeedsAWavelength) {
  const Grid grid{{Metres(0.0), Metres(1e-3), 4}, {Metres(1e-3), Metres(2e-3), 4}, {}};
  const BlockSpec spec = Input(Signals(4, 100, 1, true), MatrixKind::half_summed).spec;
  ImagingPlan plan = make_plan(4, 100, grid, "TT");
  plan.apodization.directivity = true;
  plan.material.longitudinal_velocity = MetresPerSecond(0.0);
  EXPECT_EQ(refusal(plan, spec), "");  // the legs of the contact law say their own
  const auto leg = std::make_shared<ConstantLeg>(4, 1e-6);
  plan.laws = {DelayLaw{"TT", leg, leg}};
  EXPECT_EQ(refusal(plan, spec),
            "[apodization] directivity: found a material without longitudinal velocity; expected [material] "
            "longitudinal_velocity, which "
            "the directivity needs");
}

TEST(ContactLaw, RefusesUnknownViewsAndMissingVelocities) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, Metres(1e-3), Metres(0.0), Hertz(0.0), Hertz(0.0));
  const auto message = [&](const Material& material, const std::string& view) -> std::string {
    try {
      const DelayLaw law = make_delay_law("contact", {acquisition, material, view});
      return law.reciprocal() ? "reciprocal" : "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  EXPECT_EQ(message(aluminium, "LL"), "reciprocal");
  EXPECT_EQ(message(aluminium, "T-T"), "reciprocal");
  EXPECT_EQ(message(aluminium, "L-T"), "accepted");
  EXPECT_EQ(message(aluminium, "LQ"),
            "[imaging] views: found \"LQ\"; expected LL, LT, TL or TT, or the legs of both "
            "sides with a hyphen between them, such as TT-T, up to 3 a side");
  EXPECT_EQ(message({MetresPerSecond(6320.0), {}}, "LT"),
            "[material] shear_velocity: found none; expected a positive velocity, which the view needs");
}

}  // namespace
}  // namespace echoform
