// What recipes, setups and blocks keep: bytes by plain counting, equal steps once, and every fault by its line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/block.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/recipe_memory.hpp"
#include "pipeline/stage.hpp"
#include "tests/pipeline/support.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

const StageKind plain_stage{.name = "plain"};

TEST(BlockBytes, CountLeadRowsGapsAndTrailer) {
  BlockSpec floats{.type = ElementType::float32, .rows = 3, .columns = 5, .row_stride = 8, .lead = 2, .trailer = 12};
  EXPECT_EQ(floats.bytes(), (2U + 3U * 8U) * 4U + 12U);
  floats.row_stride = 0;
  EXPECT_EQ(floats.bytes(), (2U + 3U * 5U) * 4U + 12U) << "rows that follow each other at once";
  BlockSpec complex = floats;
  complex.type = ElementType::complex64;
  EXPECT_EQ(complex.bytes(), (2U + 3U * 5U) * 8U + 12U);
  const BlockSpec raw{.type = ElementType::raw, .encoding = SampleEncoding::int16, .rows = 4, .columns = 7};
  EXPECT_EQ(raw.bytes(), 4U * 7U * 2U);
}

TEST(RecipeMemory, IsTheSumOfWhatIsSharedAndWhatSlotsHave) {
  RecipeMemory memory;
  memory.host_shared = 1;
  memory.host_of_slot = 10;
  memory.device_stages = 100;
  memory.device_blocks = 1000;
  memory.device_of_slot = 10000;
  EXPECT_EQ(memory.host(3), 31U);
  EXPECT_EQ(memory.device(2), 21100U);
}

ImagingSetup small_setup() {
  ImagingSetup setup;
  setup.acquisition = small_acquisition(4, 8);
  setup.gate = {0, 8};
  const std::size_t block = setup.recipe.add(plain_stage, {}, {0});
  OutputDescription image{"LL", OutputKind::envelope, {}};
  setup.recipe.outputs.push_back({image, block});
  return setup;
}

TEST(Recipes, HaveEqualStepsOnce) {
  Recipe recipe;
  EXPECT_EQ(recipe.add(plain_stage, {}, {0}), 1U);
  EXPECT_EQ(recipe.add(plain_stage, {}, {1}), 2U);
  EXPECT_EQ(recipe.add(plain_stage, {}, {0}), 1U) << "the first again";
  EXPECT_EQ(recipe.add(plain_stage, {}, {1}), 2U) << "the second again";
  EXPECT_EQ(recipe.steps.size(), 2U);
}

TEST(Setups, GatesLieWithinTheAScan) {
  ImagingSetup setup = small_setup();
  for (const SampleGate gate : {SampleGate{0, 2}, SampleGate{6, 2}, SampleGate{0, 8}, SampleGate{3, 5}}) {
    setup.gate = gate;
    EXPECT_NO_THROW(validate(setup, "setup")) << gate.first << ", " << gate.count;
  }
  for (const SampleGate gate : {SampleGate{0, 1}, SampleGate{0, 9}, SampleGate{7, 2}, SampleGate{4, 5}, SampleGate{9, 2}}) {
    setup.gate = gate;
    EXPECT_EQ(input_error([&] { validate(setup, "setup"); }),
              fmt::format("setup gate: found {} samples from {} on; expected at least 2 within the 8 of an A-scan", gate.count,
                          gate.first));
  }
}

TEST(Setups, OutputsAreOfBlocksThatAreThere) {
  const auto fault_of = [](auto change) {
    ImagingSetup setup = small_setup();
    change(setup.recipe);
    return input_error([&] { validate(setup, "setup"); });
  };
  EXPECT_EQ(fault_of([](Recipe&) {}), "");
  EXPECT_EQ(fault_of([](Recipe& recipe) { recipe.outputs[0].reference_block = 1; }), "") << "the last step's";
  EXPECT_THAT(fault_of([](Recipe& recipe) { recipe.outputs[0].reference_block = 2; }),
              testing::HasSubstr("reference of an output"));
  EXPECT_THAT(fault_of([](Recipe& recipe) { recipe.outputs[0].block = 0; }), testing::HasSubstr("output"));
  EXPECT_THAT(fault_of([](Recipe& recipe) { recipe.outputs[0].block = 2; }), testing::HasSubstr("output"));
  EXPECT_THAT(fault_of([](Recipe& recipe) { recipe.outputs.clear(); }), testing::HasSubstr("found none; expected at least one"));
  EXPECT_THAT(fault_of([](Recipe& recipe) { recipe.outputs.push_back(recipe.outputs[0]); }),
              testing::HasSubstr("two images of one kind called \"LL\""));
}

}  // namespace
}  // namespace echoform::test
