// Stages before and behind the sum along lines.
#include <cmath>
#include <limits>

#include "stages/persistence/persistence.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "tests/stages/stage_harness.hpp"

namespace echoform::test {
namespace {

class BesideLines : public StageTest {};
INSTANTIATE_TEST_SUITE_P(All, BesideLines,
                         testing::Values(Implementation{simd_level(), 1, BackendKind::cpu},
                                         Implementation{simd_level(), 3, BackendKind::cpu}),
                         implementation_name);

TEST_P(BesideLines, TimeGainIsAFactorASample) {
  const BlockSpec spec = make_spec(ElementType::float32, 7, 33, 40);
  const TestBlock input(spec);
  auto gain = std::make_shared<std::vector<float>>();
  for (std::size_t n = 0; n < 33; ++n) gain->push_back(std::exp2(static_cast<float>(n) / 8.0F));
  for (std::size_t n = 0; n < 7 * 40; ++n) input.as<float>()[n] = static_cast<float>(n) - 100.0F;
  const auto stage = make_time_gain_cpu({gain});
  const StageResult result = run(*stage, spec, input);
  ASSERT_EQ(result.spec.row_stride, 48U);
  for (std::size_t row = 0; row < 7; ++row) {
    for (std::size_t n = 0; n < 33; ++n) {
      ASSERT_EQ(result.block->as<float>()[row * 48 + n], (*gain)[n] * input.as<float>()[row * 40 + n]);
    }
  }
  gain = std::make_shared<std::vector<float>>(32, 1.0F);
  EXPECT_EQ(input_error_of([&] { (void)make_time_gain_cpu({gain})->prepare(spec); }),
            "time-gain stage, time gain: found 32; expected 33, one a sample");
}

TEST_P(BesideLines, ImagesFadeByTheirShare) {
  const BlockSpec spec = make_spec(ElementType::float32, 3, 5, 6);
  const TestBlock bright(spec);
  const TestBlock dark(spec);
  for (std::size_t n = 0; n < 18; ++n) {
    bright.as<float>()[n] = 2.0F;
    dark.as<float>()[n] = 0.0F;
  }
  bright.as<float>()[8] = std::numeric_limits<float>::quiet_NaN();
  const auto stage = make_persistence_cpu({0.75});
  const StageResult result = run(*stage, spec, bright);
  // The first frame comes out as it is.
  EXPECT_EQ(result.block->as<float>()[0], 2.0F);
  EXPECT_TRUE(std::isnan(result.block->as<float>()[7]));
  run_again(*stage, dark, result);
  EXPECT_EQ(result.block->as<float>()[0], 1.5F);
  EXPECT_EQ(result.block->as<float>()[7], 0.0F);  // what was no number has not stayed
  run_again(*stage, dark, result);
  EXPECT_EQ(result.block->as<float>()[14], 1.125F);
  // What is no number leaves what was before it as it was.
  const TestBlock sound(spec);
  for (std::size_t n = 0; n < 18; ++n) sound.as<float>()[n] = 4.0F;
  run_again(*stage, sound, result);
  EXPECT_EQ(result.block->as<float>()[7], 1.0F);
  run_again(*stage, bright, result);
  EXPECT_TRUE(std::isnan(result.block->as<float>()[7]));
  run_again(*stage, sound, result);
  EXPECT_EQ(result.block->as<float>()[7], 1.75F);
  // A pixel's first number comes out as it is, whatever was there before.
  const auto fresh = make_persistence_cpu({0.75});
  const StageResult first = run(*fresh, spec, bright);
  run_again(*fresh, sound, first);
  EXPECT_EQ(first.block->as<float>()[7], 4.0F);
  EXPECT_EQ(first.block->as<float>()[0], 2.5F);
  EXPECT_EQ(input_error_of([] { (void)make_persistence_cpu({1.0}); }), "persistence stage, share: found 1; expected 0 to 0.99");
}

}  // namespace
}  // namespace echoform::test
