// Stages behind the envelopes of lines: several steering angles become one image, and lines have a gain of their own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class BehindLines : public StageTest {};
ECHOFORM_ALL_IMPLEMENTATIONS(BehindLines);

/// Lines at three angles, of other pitches, counts and depths each.
LineCompoundOptions three_angles() {
  LineCompoundOptions options;
  options.sets = {{0, 31, Metres(-7e-3), Metres(0.0), Metres(0.5e-3), -0.2},
                  {31, 24, Metres(-6e-3), Metres(0.1e-3), Metres(0.52e-3), 0.05},
                  {55, 40, Metres(-6.5e-3), Metres(-0.1e-3), Metres(0.35e-3), 0.3}};
  options.image = 1;
  options.ranges = {Metres(2e-3), Metres(0.1e-3), 121};
  return options;
}

constexpr std::size_t compound_rows = 95;
constexpr std::size_t compound_stride = 128;

/// From where a place is in the plane, in double precision.
double compounded_at(const LineCompoundOptions& options, const float* input, std::size_t line, std::size_t range) {
  const SteeredLines& image = options.sets[options.image];
  const double r = options.ranges.at(range).value;
  const double x = image.x.value + static_cast<double>(line) * image.pitch.value + r * std::sin(image.angle);
  const double z = image.z.value + r * std::cos(image.angle);
  double sum = 0.0;
  int covering = 0;
  for (const SteeredLines& set : options.sets) {
    const double u = (x - (z - set.z.value) * std::tan(set.angle) - set.x.value) / set.pitch.value;
    const double v = ((z - set.z.value) / std::cos(set.angle) - options.ranges.first.value) / options.ranges.spacing.value;
    const auto lines = static_cast<double>(set.lines - 1);
    const auto ranges = static_cast<double>(options.ranges.count - 1);
    if (u < -1e-6 || u > lines + 1e-6 || v < -1e-6 || v > ranges + 1e-6) continue;
    const double i = std::clamp(std::floor(u), 0.0, lines - 1.0);
    const double k = std::clamp(std::floor(v), 0.0, ranges - 1.0);
    const auto at = [&](double of_line, double of_range) {
      return static_cast<double>(
          input[(set.first_row + static_cast<std::size_t>(of_line)) * compound_stride + static_cast<std::size_t>(of_range)]);
    };
    const double f = u - i;
    const double g = v - k;
    sum += (1.0 - f) * ((1.0 - g) * at(i, k) + g * at(i, k + 1)) + f * ((1.0 - g) * at(i + 1, k) + g * at(i + 1, k + 1));
    ++covering;
  }
  return sum / covering;
}

TEST_P(BehindLines, CompoundingIsTheMeanOfWhatCovers) {
  const LineCompoundOptions options = three_angles();
  const BlockSpec spec = make_spec(ElementType::float32, compound_rows, 121, compound_stride);
  const TestBlock input(spec);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  for (std::size_t n = 0; n < compound_rows * compound_stride; ++n) input.as<float>()[n] = uniform(random);
  const auto stage = make_stage(line_compound_stage, options, backend());
  const StageResult result = run(*stage, spec, input);
  ASSERT_EQ(result.spec.rows, 24U);
  ASSERT_EQ(result.spec.row_stride, 121U);
  std::size_t of_one = 0;
  for (std::size_t line = 0; line < 24; ++line) {
    for (std::size_t k = 0; k < 121; ++k) {
      const double expected = compounded_at(options, input.as<float>(), line, k);
      // Shares of a range in single precision.
      ASSERT_NEAR(result.block->as<float>()[line * 121 + k], expected, 2e-6) << line << ' ' << k;
      if (result.block->as<float>()[line * 121 + k] == input.as<float>()[(31 + line) * compound_stride + k]) ++of_one;
    }
  }
  const auto plain = make_line_compound_cpu(options);
  const StageResult same = run_on_one_thread(*plain, spec, input);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), same.block->as<float>(), result.spec.bytes()), 0);
  EXPECT_GT(of_one, 0U);  // somewhere the image's own set is alone
  // One of the angles alone, while frames run.
  LineCompoundOptions alone = options;
  alone.all = false;
  ASSERT_TRUE(stage->accepts(StageOptions(alone)));
  stage->retune(StageOptions(alone), queue());
  run_again(*stage, input, result);
  for (std::size_t k = 0; k < 121; ++k) {
    ASSERT_EQ(result.block->as<float>()[5 * 121 + k], input.as<float>()[36 * compound_stride + k]);
  }
  LineCompoundOptions others = options;
  others.sets[0].angle = 0.1;
  EXPECT_FALSE(stage->accepts(StageOptions(others)));
}

TEST_P(BehindLines, CompoundingOfWhatDoesNotFitIsRefused) {
  const BlockSpec spec = make_spec(ElementType::float32, compound_rows, 121, compound_stride);
  const auto refusal = [&](const LineCompoundOptions& wanted) {
    return input_error([&] { (void)make_stage(line_compound_stage, wanted, backend())->prepare(spec); });
  };
  LineCompoundOptions options = three_angles();
  options.image = 3;
  EXPECT_EQ(refusal(options), "line-compound stage, image: found 3; expected one of 3 sets");
  options = three_angles();
  options.sets[2].lines = 41;
  EXPECT_EQ(refusal(options), "line-compound stage, last row of a set: found 96; expected at most 95");
  options = three_angles();
  options.ranges.count = 120;
  EXPECT_EQ(refusal(options), "line-compound stage, ranges: found 120; expected 121, those of the input, at least 2");
  options = three_angles();
  options.sets[1].pitch = Metres(0.0);
  EXPECT_EQ(
      refusal(options),
      "line-compound stage, lines of a set: found 0 m apart at 0.05 rad; expected a distance above 0, less than a quarter turn");
}

TEST_P(BehindLines, LineGainIsAFactorALine) {
  const BlockSpec spec = make_spec(ElementType::float32, 5, 33, 40);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < 5 * 40; ++n) input.as<float>()[n] = static_cast<float>(n);
  auto gain = std::make_shared<std::vector<float>>(std::vector<float>{1.0F, 0.5F, 0.0F, 3.0F, -1.0F});
  const auto stage = make_stage(line_gain_stage, LineGainOptions{gain}, backend());
  const StageResult result = run(*stage, spec, input);
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t n = 0; n < 33; ++n) {
      ASSERT_EQ(result.block->as<float>()[row * 33 + n], (*gain)[row] * input.as<float>()[row * 40 + n]);
    }
  }
  const LineGainOptions other{std::make_shared<std::vector<float>>(5, 0.75F)};
  ASSERT_TRUE(stage->accepts(other));
  stage->retune(other, queue());
  run_again(*stage, input, result);
  for (std::size_t n = 0; n < 33; ++n) ASSERT_EQ(result.block->as<float>()[2 * 33 + n], 0.75F * input.as<float>()[2 * 40 + n]);
  const auto few = std::make_shared<std::vector<float>>(4, 1.0F);
  EXPECT_EQ(input_error([&] { (void)make_stage(line_gain_stage, LineGainOptions{few}, backend())->prepare(spec); }),
            "line-gain stage, gain: found 4; expected 5, one a line");
}

}  // namespace
}  // namespace echoform::test
