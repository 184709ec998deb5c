// What the stages of TFM are told of an imaging plan.
#include "methods/tfm/stage_options.hpp"

#include <gmock/gmock.h>

#include "methods/tfm/recipe.hpp"
#include "stages/compression/compression.hpp"

namespace echoform::test {
namespace {

TEST(TfmStageOptions, ScaleOfFloatsIsThePlansAlone) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.encoding = SampleEncoding::float32;
  plan.acquisition.sample_scale = 2.0;
  EXPECT_EQ(pairing_options(plan, plan_pairs(plan)).sample_scale, 1.0) << "field 13 of a Hello says nothing of float32";
  for (const SampleEncoding encoding : {SampleEncoding::float32, SampleEncoding::int16, SampleEncoding::packed12}) {
    plan.acquisition.encoding = encoding;
    plan.sample_scale = 0.5;
    EXPECT_EQ(pairing_options(plan, plan_pairs(plan)).sample_scale, 0.5) << "replaces 2, and multiplies floats";
  }
}

TEST(TfmStageOptions, PairsFollowTheWeightsAndTheEvents) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.sample_rate = 40.0_MHz;
  plan.acquisition.samples = 100;
  plan.material.longitudinal_velocity = MetresPerSecond(6000.0);
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
  const auto sources = [&] { return pairing_options(plan, plan_pairs(plan)).sources->size(); };
  EXPECT_EQ(beamform_options(plan, plan_pairs(plan), 0).pairs, summed_pairs(3));
  EXPECT_EQ(sources(), 6u);
  EXPECT_FLOAT_EQ(beamform_options(plan, plan_pairs(plan), 0).scale, 1.0F / 9.0F);

  plan.apodization.sides = ApodizationSides::transmit;
  EXPECT_EQ(beamform_options(plan, plan_pairs(plan), 0).pairs, all_pairs(3, 3));
  EXPECT_EQ(sources(), 9u);

  plan.apodization.sides = ApodizationSides::both;
  const std::vector<std::uint32_t> firing{2, 0};
  plan.acquisition.events = element_events(firing);
  const BeamformOptions sparse = beamform_options(plan, plan_pairs(plan), 0);
  EXPECT_EQ(sparse.pairs, all_pairs(2, 3));
  EXPECT_EQ(sources(), 6u);
  EXPECT_EQ(sparse.aperture.firing, firing);
  EXPECT_FLOAT_EQ(sparse.scale, 1.0F / 9.0F) << "pairs that were not received count as zeros";
  ASSERT_EQ(sparse.law.transmit->sources(), 2u);
  EXPECT_EQ(sparse.law.transmit->point_source(0)->origin, plan.acquisition.probe.elements[2].centre);
  EXPECT_EQ(sparse.law.receive, plan.laws[0].receive);

  EXPECT_EQ(beamform_options(plan, plan_pairs(plan), 0), sparse) << "made again, the same sources of the same leg";
  plan.acquisition.events = element_events(std::vector<std::uint32_t>{0, 2});
  EXPECT_NE(beamform_options(plan, plan_pairs(plan), 0), sparse);

  plan.acquisition.events = element_events(std::vector<std::uint32_t>{0, 1, 2});
  EXPECT_EQ(beamform_options(plan, plan_pairs(plan), 0).pairs, summed_pairs(3)) << "all elements in turn are a full matrix";
}

TEST(TfmStageOptions, OfSparseFiringsDifferInNothingButWhatWasChanged) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(6, 1.0_mm, 0.8_mm, 5.0_MHz, 3.0_MHz);
  plan.acquisition.sample_rate = 40.0_MHz;
  plan.acquisition.samples = 100;
  plan.acquisition.events = element_events(std::vector<std::uint32_t>{4, 1});
  plan.material = {MetresPerSecond(6000.0), MetresPerSecond(3000.0)};
  for (const char* view : {"LL", "LT"}) plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, view}));
  const Recipe before = make_tfm_recipe(plan);
  plan.compression.gain_db = 6.0;
  const Recipe after = make_tfm_recipe(plan);
  ASSERT_EQ(after.steps.size(), before.steps.size());
  EXPECT_EQ(after.outputs, before.outputs);
  for (std::size_t step = 0; step < after.steps.size(); ++step) {
    EXPECT_EQ(after.steps[step] == before.steps[step], after.steps[step].stage != &compression_stage)
        << after.steps[step].stage->name << ": else a change of the gain would make tables anew";
  }
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
