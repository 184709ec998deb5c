#include "stages/mean_image/mean_image.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class MeanImage : public StageTest {};
ECHOFORM_ALL_IMPLEMENTATIONS(MeanImage);

TEST_P(MeanImage, IsTheMeanAsItIsShown) {
  // A GPU takes 32 at a time.
  constexpr std::size_t most = 70;
  std::vector<BlockSpec> specs;
  std::vector<std::unique_ptr<TestBlock>> blocks;
  std::mt19937 random(4);
  std::normal_distribution<float> noise;
  const auto stride = [](std::size_t k) { return 33 + k % 3; };
  for (std::size_t k = 0; k < most; ++k) {
    BlockSpec spec = make_spec(ElementType::float32, 6, 33, stride(k));
    spec.sub_blocks = 2;
    blocks.push_back(std::make_unique<TestBlock>(spec));
    for (std::size_t n = 0; n < 6 * stride(k); ++n) blocks.back()->as<float>()[n] = noise(random);
    specs.push_back(spec);
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, most}) {
    const auto stage = make_stage(mean_image_stage, MeanImageOptions{}, backend());
    const InputSpecs inputs(std::span<const BlockSpec>(specs).first(count));
    const BlockSpec output = stage->prepare(inputs);
    EXPECT_EQ(output.row_stride, 33u);
    EXPECT_EQ(output.sub_blocks, 2u);
    const TestBlock result(output);
    std::vector<const TestBlock*> images;
    for (std::size_t k = 0; k < count; ++k) images.push_back(blocks[k].get());
    for (const ShownPart shown : {ShownPart::signed_values, ShownPart::magnitude, ShownPart::non_negative}) {
      ASSERT_TRUE(stage->accepts(MeanImageOptions{shown}));
      stage->retune(MeanImageOptions{shown}, queue());
      run_inputs(*stage, images, result);
      for (std::size_t row = 0; row < 6; ++row) {
        for (std::size_t n = 0; n < 33; ++n) {
          double mean = 0.0;
          for (std::size_t k = 0; k < count; ++k) mean += blocks[k]->as<float>()[row * stride(k) + n];
          mean /= static_cast<double>(count);
          if (shown == ShownPart::magnitude) mean = std::abs(mean);
          if (shown == ShownPart::non_negative) mean = std::max(mean, 0.0);
          // Sums and products of numbers below 5, of 70 below 40, each rounded.
          ASSERT_NEAR(result.as<float>()[row * 33 + n], mean, 2e-6);
        }
      }
    }
  }
}

TEST_P(MeanImage, RefusesImagesOfOtherShapes) {
  const auto stage = make_stage(mean_image_stage, MeanImageOptions{}, backend());
  const std::vector<BlockSpec> specs{make_spec(ElementType::float32, 6, 33), make_spec(ElementType::float32, 5, 33)};
  EXPECT_EQ(input_error([&] { (void)stage->prepare(InputSpecs(std::span(specs))); }),
            "mean-image stage, input 1: found 5 x 33; expected 6 x 33");
}

}  // namespace
}  // namespace echoform::test
