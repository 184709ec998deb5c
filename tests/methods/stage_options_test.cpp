// What the stages of TFM are told of an imaging plan.
#include "methods/tfm/stage_options.hpp"

#include <gmock/gmock.h>

namespace echoform::test {
namespace {

TEST(TfmStageOptions, ScaleOfFloatsIsThePlansAlone) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.encoding = SampleEncoding::float32;
  plan.acquisition.sample_scale = 2.0;
  EXPECT_EQ(half_matrix_options(plan).sample_scale, 1.0) << "field 13 of a Hello says nothing of float32";
  for (const SampleEncoding encoding : {SampleEncoding::float32, SampleEncoding::int16, SampleEncoding::packed12}) {
    plan.acquisition.encoding = encoding;
    plan.sample_scale = 0.5;
    EXPECT_EQ(half_matrix_options(plan).sample_scale, 0.5) << "replaces 2, and multiplies floats";
  }
}

TEST(TfmStageOptions, TakesElementsAndFormFromThePlan) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.probe.elements[2].dead = true;
  plan.acquisition.sample_scale = 2.0;
  plan.apodization.sides = ApodizationSides::transmit;
  const HalfMatrixOptions options = half_matrix_options(plan);
  EXPECT_EQ(options.elements, 3u);
  EXPECT_FALSE(options.reciprocal);
  EXPECT_EQ(options.sample_scale, 2.0);
  EXPECT_THAT(options.dead, testing::ElementsAre(2u));
}

TEST(TfmStageOptions, AccuracyAndInterpolationChooseTheForm) {
  ImagingPlan plan;
  plan.accuracy = 1e-3;
  EXPECT_TRUE(analytic_signal_options(plan).half);
  EXPECT_FALSE(analytic_signal_options(plan).nearest);
  plan.accuracy = 9e-4;
  plan.interpolation = Interpolation::nearest;
  EXPECT_FALSE(analytic_signal_options(plan).half);
  EXPECT_TRUE(analytic_signal_options(plan).nearest);
}

}  // namespace
}  // namespace echoform::test
