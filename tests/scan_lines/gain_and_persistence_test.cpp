// Stages before and behind the sum along lines.
#include <cmath>
#include <limits>

#include "stages/persistence/persistence.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class BesideLines : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> time_gain(std::shared_ptr<const std::vector<float>> gain) {
    return make_stage(time_gain_stage, TimeGainOptions{std::move(gain)}, backend());
  }
  [[nodiscard]] std::unique_ptr<Stage> persistence(double share) {
    return make_stage(persistence_stage, PersistenceOptions{share}, backend());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(BesideLines);

std::shared_ptr<std::vector<float>> rising_gain(std::size_t samples, float octaves) {
  auto gain = std::make_shared<std::vector<float>>();
  for (std::size_t n = 0; n < samples; ++n) gain->push_back(std::exp2(octaves * static_cast<float>(n)));
  return gain;
}

TestBlock noise_block(const BlockSpec& spec, unsigned seed) {
  TestBlock block(spec);
  std::mt19937 random(seed);
  std::normal_distribution<float> noise;
  for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n) block.as<float>()[n] = noise(random);
  return block;
}

bool same_bits(const StageResult& a, const StageResult& b) {
  return a.spec == b.spec && std::memcmp(a.block->as<float>(), b.block->as<float>(), a.spec.bytes()) == 0;
}

TEST_P(BesideLines, TimeGainIsAFactorASample) {
  for (const std::size_t rows : {1, 7, 70000}) {
    const BlockSpec spec = make_spec(ElementType::float32, rows, 33, 40);
    const TestBlock input(spec);
    const auto gain = rising_gain(33, 0.125F);
    for (std::size_t n = 0; n < rows * 40; ++n) input.as<float>()[n] = static_cast<float>(n % 281) - 100.0F;
    const auto stage = time_gain(gain);
    const StageResult result = run(*stage, spec, input);
    ASSERT_EQ(result.spec.row_stride, 48U);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = 0; n < 33; ++n) {
        ASSERT_EQ(result.block->as<float>()[row * 48 + n], (*gain)[n] * input.as<float>()[row * 40 + n]);
      }
    }
  }
  const auto short_gain = std::make_shared<std::vector<float>>(32, 1.0F);
  EXPECT_EQ(input_error([&] { (void)time_gain(short_gain)->prepare(make_spec(ElementType::float32, 7, 33, 40)); }),
            "time-gain stage, time gain: found 32; expected 33, one a sample");
}

/// Longer than the numbers that change at a time on a GPU.
TEST_P(BesideLines, ATimeGainMayChangeBetweenFrames) {
  constexpr std::size_t samples = 2500;
  const BlockSpec spec = make_spec(ElementType::float32, 3, samples);
  const TestBlock input = noise_block(spec, 3);
  const auto stage = time_gain(rising_gain(samples, 0.001F));
  const StageResult result = run(*stage, spec, input);
  for (const float octaves : {-0.002F, 0.004F}) {
    const TimeGainOptions other{rising_gain(samples, octaves)};
    ASSERT_TRUE(stage->accepts(other));
    stage->retune(other, queue());
    run_again(*stage, input, result);
    for (std::size_t n = 0; n < samples; ++n) {
      ASSERT_EQ(result.block->as<float>()[n], (*other.gain)[n] * input.as<float>()[n]) << n;
    }
  }
  EXPECT_FALSE(stage->accepts(TimeGainOptions{}));
  EXPECT_NE(input_error([&] { (void)stage->accepts(TimeGainOptions{rising_gain(samples - 1, 0.0F)}); }), "");
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
  const auto stage = persistence(0.75);
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
  const auto fresh = persistence(0.75);
  const StageResult first = run(*fresh, spec, bright);
  run_again(*fresh, sound, first);
  EXPECT_EQ(first.block->as<float>()[7], 4.0F);
  EXPECT_EQ(first.block->as<float>()[0], 2.5F);
  EXPECT_EQ(input_error([&] { (void)persistence(1.0); }), "persistence stage, share: found 1; expected 0 to 0.99");
}

TEST_P(BesideLines, AnotherShareCountsFromTheNextFrameOn) {
  const BlockSpec spec = make_spec(ElementType::float32, 2, 3);
  const TestBlock bright(spec);
  const TestBlock dark(spec);
  std::fill_n(bright.as<float>(), 6, 8.0F);
  std::fill_n(dark.as<float>(), 6, 0.0F);
  const auto stage = persistence(0.5);
  const StageResult result = run(*stage, spec, bright);
  ASSERT_TRUE(stage->accepts(PersistenceOptions{0.25}));
  stage->retune(PersistenceOptions{0.25}, queue());
  run_again(*stage, dark, result);
  EXPECT_EQ(result.block->as<float>()[5], 2.0F);
  stage->retune(PersistenceOptions{0.0}, queue());
  run_again(*stage, dark, result);
  EXPECT_EQ(result.block->as<float>()[5], 0.0F);
  EXPECT_NE(input_error([&] { (void)stage->accepts(PersistenceOptions{-0.1}); }), "");
}

TEST_P(BesideLines, PersistenceBeginsAnewWhereItIsToldTo) {
  const BlockSpec spec = make_spec(ElementType::float32, 2, 3);
  const TestBlock dark(spec);
  const TestBlock bright(spec);
  std::fill_n(dark.as<float>(), 6, 0.0F);
  std::fill_n(bright.as<float>(), 6, 8.0F);
  const auto stage = persistence(0.5);
  const StageResult result = run(*stage, spec, dark);
  stage->restart(queue());
  run_again(*stage, bright, result);
  EXPECT_EQ(result.block->as<float>()[5], 8.0F);
  run_again(*stage, dark, result);
  EXPECT_EQ(result.block->as<float>()[5], 4.0F);
  // So does preparing it.
  const StageResult again = run(*stage, spec, bright);
  EXPECT_EQ(again.block->as<float>()[0], 8.0F);
}

TEST_P(BesideLines, ResultsAreTheSameBitsEverywhere) {
  const BlockSpec spec = make_spec(ElementType::float32, 65, 301, 304);
  const TestBlock input = noise_block(spec, 5);
  const auto gain = rising_gain(301, 0.013F);
  const auto stage = time_gain(gain);
  const auto plain = make_time_gain_cpu({gain});
  // What pads a row is not written.
  const StageResult amplified = run(*stage, spec, input);
  const StageResult want = run_on_one_thread(*plain, spec, input);
  EXPECT_TRUE(same_bits(amplified, want));

  input.as<float>()[1234] = std::numeric_limits<float>::infinity();
  const auto fading = persistence(0.61);
  const auto plain_fading = make_persistence_cpu({0.61});
  const StageResult faded = run(*fading, spec, input);
  const StageResult want_faded = run_on_one_thread(*plain_fading, spec, input);
  ThreadTeam team(1);
  for (unsigned frame = 0; frame < 4; ++frame) {
    EXPECT_TRUE(same_bits(faded, want_faded)) << frame;
    const TestBlock next = noise_block(spec, 6 + frame);
    next.as<float>()[frame * 77] = std::numeric_limits<float>::quiet_NaN();
    run_again(*fading, next, faded);
    plain_fading->process(next.read(), want_faded.block->block(), team);
  }
}

}  // namespace
}  // namespace echoform::test
