#include "stages/compression/compression.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "stages/compression/compression_math.hpp"
#include "stages/compression/running_reference.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

StageFacts known(float reference) {
  return {.quality = {}, .reference = ShownReference{reference, reference}};
}

class CompressionStage : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const Compression& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_compression_cuda(options, backend());
#endif
    return make_compression_cpu(options, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(CompressionStage);

/// Level before rounding, in double precision.
double level_of_envelope(double envelope, double reference, const Compression& options) {
  const double decibels = 20.0 * std::log10(envelope / reference) + options.gain_db;
  return std::clamp(255.0 * (1.0 + decibels / options.dynamic_range_db), 0.0, 255.0);
}

Compression fixed(double range, double gain, double reference) {
  Compression options;
  options.dynamic_range_db = range;
  options.gain_db = gain;
  options.reference = ReferenceMode::fixed;
  options.reference_value = reference;
  return options;
}

TestBlock filled(const BlockSpec& spec, const std::vector<float>& values) {
  TestBlock block(spec);
  std::copy(values.begin(), values.end(), block.as<float>());
  return block;
}

TEST(FastLog2, IsWithinItsStatedError) {
  // Every 997th of all positive normal floats. 3e-6 of the series, and the rounding of results up to 128.
  double worst = 0.0;
  for (std::uint32_t bits = 0x00800000u; bits < 0x7f800000u; bits += 997) {
    const double exact = std::log2(static_cast<double>(std::bit_cast<float>(bits)));
    worst = std::max(worst, std::abs(fast_log2(bits) - exact));
  }
  EXPECT_LT(worst, 3e-6 + 0x1p-17);
  EXPECT_LT(worst * 20.0 * std::log10(2.0), 1e-4) << "dB";
}

TEST(ExactLog2, IsWithinItsStatedError) {
  for (std::uint32_t bits = 0x00800000u; bits < 0x7f800000u; bits += 9973) {
    const double exact = std::log2(static_cast<double>(std::bit_cast<float>(bits)));
    ASSERT_NEAR(exact_log2(bits), exact, 1e-15 * std::max(1.0, std::abs(exact)));
  }
}

TEST_P(CompressionStage, EqualsTheFormula) {
  for (const Compression& options :
       {fixed(40.0, 0.0, 1.0), fixed(60.0, 12.0, 37.0), fixed(23.5, -6.0, 1e-3), fixed(200.0, 0.0, 1e9)}) {
    const std::size_t rows = 37;
    const std::size_t columns = 203;
    const BlockSpec spec = make_spec(ElementType::float32, rows, columns);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> decibels(-options.dynamic_range_db - 20.0, 20.0);
    std::vector<float> envelope(rows * columns);
    for (float& e : envelope)
      e = static_cast<float>(options.reference_value * std::pow(10.0, (decibels(random) - options.gain_db) / 20.0));
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, filled(spec, envelope));
    ASSERT_EQ(result.spec, make_spec(ElementType::uint8, rows, columns, columns));
    // 1e-4 dB of the logarithm and the rounding of products of up to a few thousand, in levels.
    const double slack = 255.0 / options.dynamic_range_db * 1e-4 + 1e-3;
    for (std::size_t n = 0; n < envelope.size(); ++n) {
      const double want = level_of_envelope(envelope[n], options.reference_value, options);
      ASSERT_NEAR(result.block->as<std::uint8_t>()[n], want, 0.5 + slack) << "envelope " << envelope[n];
    }
  }
}

TEST_P(CompressionStage, EndsOfTheScaleAndValuesThatAreNone) {
  const BlockSpec spec = make_spec(ElementType::float32, 1, 12);
  const float inf = std::numeric_limits<float>::infinity();
  const TestBlock input = filled(spec, {1.0F, 0.01F, 0.1F, 1.5F, 0.009F, 0.0F, -0.0F, -1.0F, std::nanf(""), -std::nanf(""), inf,
                                        std::numeric_limits<float>::denorm_min()});
  const auto stage = make(fixed(40.0, 0.0, 1.0));
  const StageResult result = run(*stage, spec, input);
  const std::vector<int> levels(result.block->as<std::uint8_t>(), result.block->as<std::uint8_t>() + 12);
  // 0.1 is -20 dB, half of the scale: 127.5, up or down by its rounding.
  EXPECT_THAT(levels, testing::ElementsAre(255, 0, testing::AnyOf(127, 128), 255, 0, 0, 0, 0, 0, 0, 255, 0));
}

TEST_P(CompressionStage, OfMaskedPixelsThoseWithoutValueAloneAreLevelZero) {
  const BlockSpec spec = make_spec(ElementType::float32, 1, 12);
  const float inf = std::numeric_limits<float>::infinity();
  const TestBlock input = filled(spec, {1.0F, 0.01F, 0.1F, 1.5F, 0.009F, 0.0F, -0.0F, -1.0F, std::nanf(""), -std::nanf(""), inf,
                                        std::numeric_limits<float>::denorm_min()});
  for (const ScaleKind scale : {ScaleKind::decibels, ScaleKind::power_decibels}) {
    Compression options = fixed(scale == ScaleKind::decibels ? 40.0 : 20.0, 0.0, 1.0);
    options.scale = scale;
    const auto plain = make(options);
    options.masked = true;
    EXPECT_FALSE(plain->accepts(options)) << "levels stand for something else";
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    const std::vector<int> levels(result.block->as<std::uint8_t>(), result.block->as<std::uint8_t>() + 12);
    // No echo, however weak, is taken for a pixel without a value, nor the other way round. 0.1 is half of the scale, 127.5.
    EXPECT_THAT(levels, testing::ElementsAre(255, 1, testing::AnyOf(127, 128), 255, 1, 1, 1, 1, 0, 0, 255, 1));
  }
}

TEST_P(CompressionStage, RunningReferenceRisesAtOnceAndFallsByItsFraction) {
  Compression options;
  options.running_fraction = 0.25;
  options.reference_value = 9.0;
  const BlockSpec spec = make_spec(ElementType::float32, 300, 101);
  const auto stage = make(options);
  const Stage& reference = *stage;
  const TestBlock input(spec);
  const StageResult result = run(*stage, spec, input, 0);
  float* const envelope = input.as<float>();
  const auto frame = [&](float peak) {
    std::fill_n(envelope, 300 * 101, 0.5F * peak);
    envelope[17031] = peak;
    envelope[3] = std::numeric_limits<float>::infinity();  // neither may become the reference
    envelope[4] = std::nanf("");
    run_again(*stage, input, result);
    return int(result.block->as<std::uint8_t>()[17031]);
  };
  EXPECT_EQ(frame(0.0F), 0);
  EXPECT_EQ(reference.facts().reference.value().shown, 9.0F) << "none yet";
  EXPECT_EQ(frame(4.0F), 255);
  EXPECT_EQ(reference.facts().reference.value().shown, 4.0F);
  EXPECT_EQ(frame(100.0F), 255);
  EXPECT_EQ(reference.facts().reference.value().shown, 100.0F);
  const int dimmer = frame(20.0F);  // 100 + 0.25 (20 - 100) = 80; 20 / 80 is -12.04 dB of 40
  EXPECT_FLOAT_EQ(reference.facts().reference.value().shown, 80.0F);
  EXPECT_EQ(dimmer, static_cast<int>(std::lround(255.0 * (1.0 + 20.0 * std::log10(0.25) / 40.0))));
  (void)frame(0.0F);
  EXPECT_FLOAT_EQ(reference.facts().reference.value().shown, 60.0F);
}

TEST_P(CompressionStage, GoesOnFromAnotherReferenceBetweenFrames) {
  Compression options;
  options.running_fraction = 0.5;
  const BlockSpec spec = make_spec(ElementType::float32, 3, 5);
  const auto stage = make(options);
  Stage& reference = *stage;
  reference.resume(known(8.0F));
  EXPECT_EQ(reference.facts().reference.value().shown, 8.0F);
  const TestBlock input = filled(spec, std::vector<float>(15, 4.0F));
  const StageResult result = run(*stage, spec, input);
  EXPECT_EQ(reference.facts().reference.value().shown, 6.0F) << "half the way from 8 to 4";
  reference.resume(known(std::nanf("")));
  reference.resume(known(0.0F));
  reference.resume(known(100.0F));
  run_again(*stage, input, result);
  EXPECT_EQ(reference.facts().reference.value().shown, 52.0F);
}

TEST_P(CompressionStage, IsTheSameBitsEverywhereFrameAfterFrame) {
  Compression options;
  options.running_fraction = 0.3;
  options.dynamic_range_db = 47.0;
  // Rows without and with gaps, whole and broken groups of four.
  for (const BlockSpec& spec : {make_spec(ElementType::float32, 200, 400), make_spec(ElementType::float32, 61, 203, 210)}) {
    const auto stage = make(options);
    const auto plain = make_compression_cpu(options, SimdLevel::portable);
    ThreadTeam one(1);
    const TestBlock input(spec);
    const StageResult result = run(*stage, spec, input, 0);
    const TestBlock want(plain->prepare(spec));
    std::mt19937 random(5);
    std::exponential_distribution<float> envelope;
    for (int frame = 0; frame < 6; ++frame) {
      const float scale = std::exp2(static_cast<float>(frame * 7 % 5));
      for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n) input.as<float>()[n] = scale * envelope(random);
      run_again(*stage, input, result);
      plain->process(input.read(), want.block(), one);
      ASSERT_EQ(std::memcmp(result.block->as<std::uint8_t>(), want.as<std::uint8_t>(), result.spec.bytes()), 0) << frame;
      ASSERT_EQ(stage->facts().reference.value().shown, plain->facts().reference.value().shown);
    }
  }
}

TEST_P(CompressionStage, OptionsThatChangeBetweenFramesAreThoseOfAFreshStage) {
  const BlockSpec spec = make_spec(ElementType::float32, 61, 203, 210);
  const auto stage = make(Compression{});
  Stage& reference = *stage;
  const TestBlock input(spec);
  std::mt19937 random(7);
  std::exponential_distribution<float> envelope;
  for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n) input.as<float>()[n] = envelope(random);
  const StageResult result = run(*stage, spec, input);
  const float peak = reference.facts().reference.value().shown;
  Compression running;
  running.gain_db = -7.5;
  running.dynamic_range_db = 61.0;
  // Gain of a running reference, fixed ones, and back to running: of the same frame the peak is the same.
  for (const Compression& options : {running, fixed(30.0, 2.0, 1.5), fixed(55.0, -1.0, 0.25), running, Compression{}}) {
    ASSERT_TRUE(reference.accepts(options));
    reference.retune(options, queue());
    run_again(*stage, input, result);
    const auto fresh = make(options);
    const StageResult want = run(*fresh, spec, input);
    ASSERT_EQ(std::memcmp(result.block->as<std::uint8_t>(), want.block->as<std::uint8_t>(), result.spec.bytes()), 0);
    const bool follows = options.reference == ReferenceMode::running;
    EXPECT_EQ(reference.facts().reference.value().shown, follows ? peak : static_cast<float>(options.reference_value));
  }
  Compression wrong;
  wrong.dynamic_range_db = 0.0;
  EXPECT_THROW(static_cast<void>(reference.accepts(wrong)), InputError);
  run_again(*stage, input, result);
  const auto fresh = make(Compression{});
  const StageResult want = run(*fresh, spec, input);
  EXPECT_EQ(std::memcmp(result.block->as<std::uint8_t>(), want.block->as<std::uint8_t>(), result.spec.bytes()), 0);
}

TEST_P(CompressionStage, FixedReferenceIgnoresPeaks) {
  const BlockSpec spec = make_spec(ElementType::float32, 2, 3);
  const auto stage = make(fixed(40.0, 0.0, 2.0));
  const StageResult result = run(*stage, spec, filled(spec, {8, 8, 8, 8, 8, 8}));
  EXPECT_EQ(stage->facts().reference.value().shown, 2.0F);
}

/// Level before rounding of a number, in double precision.
double level_of_number_at(double value, ScaleKind scale, double end) {
  const double low = scale == ScaleKind::symmetric ? -end : 0.0;
  return 1.0 + 254.0 * std::clamp((value - low) / (end - low), 0.0, 1.0);
}

TEST_P(CompressionStage, NumbersAreEvenlySpacedOnTheirScale) {
  for (const ScaleKind scale : {ScaleKind::symmetric, ScaleKind::from_zero}) {
    for (const double end : {1.0, 0.308, 3e-7, 5e12}) {
      Compression options;
      options.scale = scale;
      options.end = end;
      options.gain_db = 20.0;  // of no effect: the end is stated
      const BlockSpec spec = make_spec(ElementType::float32, 37, 203);
      std::mt19937 random(2);
      std::uniform_real_distribution<double> number(-1.2 * end, 1.2 * end);
      std::vector<float> values(37 * 203);
      for (float& value : values) value = static_cast<float>(number(random));
      const auto stage = make(options);
      const StageResult result = run(*stage, spec, filled(spec, values));
      for (std::size_t n = 0; n < values.size(); ++n) {
        // Single precision of levels up to 255.
        ASSERT_NEAR(result.block->as<std::uint8_t>()[n], level_of_number_at(values[n], scale, end), 0.5 + 1e-4) << values[n];
      }
      EXPECT_EQ(stage->facts().reference.value().shown, static_cast<float>(end));
    }
  }
}

TEST_P(CompressionStage, NumbersAtTheEndsAndWhatHasNoValue) {
  const BlockSpec spec = make_spec(ElementType::float32, 1, 9);
  const float inf = std::numeric_limits<float>::infinity();
  const TestBlock input = filled(spec, {-2.0F, -1.0F, 0.0F, -0.0F, 1.0F, 2.0F, inf, -inf, std::nanf("")});
  Compression options;
  options.end = 1.0;
  options.scale = ScaleKind::symmetric;
  const auto levels_of = [&] {
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    return std::vector<int>(result.block->as<std::uint8_t>(), result.block->as<std::uint8_t>() + 9);
  };
  EXPECT_THAT(levels_of(), testing::ElementsAre(1, 1, 128, 128, 255, 255, 255, 1, 0));
  options.scale = ScaleKind::from_zero;
  EXPECT_THAT(levels_of(), testing::ElementsAre(1, 1, 1, 1, 255, 255, 255, 1, 0));
}

/// The end follows the peaks of magnitudes as a reference follows those of envelopes; a gain of 20 dB brings it down to a tenth.
TEST_P(CompressionStage, TheEndOfASymmetricScaleFollowsMagnitudes) {
  Compression options;
  options.scale = ScaleKind::symmetric;
  options.running_fraction = 0.25;
  options.gain_db = 20.0;
  const BlockSpec spec = make_spec(ElementType::float32, 3, 40);
  const auto stage = make(options);
  std::vector<float> values(120, 0.5F);
  values[70] = -8.0F;
  values[71] = std::numeric_limits<float>::infinity();
  const StageResult result = run(*stage, spec, filled(spec, values));
  EXPECT_FLOAT_EQ(stage->facts().reference.value().shown, 0.8F);
  EXPECT_FLOAT_EQ(stage->facts().reference.value().known, 8.0F);
  EXPECT_EQ(result.block->as<std::uint8_t>()[0], 207) << "128 + 127 * 0.5 / 0.8";
  values[70] = -4.0F;
  run_again(*stage, filled(spec, values), result);
  EXPECT_FLOAT_EQ(stage->facts().reference.value().shown, 0.7F) << "a quarter of the way from 8 to 4";
  Compression other = options;
  other.gain_db = 0.0;
  ASSERT_TRUE(stage->accepts(other));
  stage->retune(other, queue());
  run_again(*stage, filled(spec, values), result);
  EXPECT_FLOAT_EQ(stage->facts().reference.value().shown, 6.25F);
  other.scale = ScaleKind::from_zero;
  EXPECT_FALSE(stage->accepts(other)) << "images of another scale are made by another stage";
  const auto positive = make(other);
  static_cast<void>(run(*positive, spec, filled(spec, values)));
  EXPECT_FLOAT_EQ(positive->facts().reference.value().shown, 0.5F) << "the peak of what is above 0";
}

TEST_P(CompressionStage, PowersHaveHalfAsManyDecibels) {
  Compression options;
  options.scale = ScaleKind::power_decibels;
  const BlockSpec spec = make_spec(ElementType::float32, 1, 4);
  const TestBlock input = filled(spec, {4.0F, 0.4F, 4e-2F, 4e-4F});
  const auto levels_of = [&] {
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    EXPECT_FLOAT_EQ(stage->facts().reference.value().shown, 4.0F);
    return std::vector<int>(result.block->as<std::uint8_t>(), result.block->as<std::uint8_t>() + 4);
  };
  // 0, -10, -20 and -40 of 40 dB.
  EXPECT_THAT(levels_of(), testing::ElementsAre(255, 191, testing::AnyOf(127, 128), 0));
  // A fixed reference is one of amplitudes: 0 dB is its square.
  options.reference = ReferenceMode::fixed;
  options.reference_value = 2.0;
  EXPECT_THAT(levels_of(), testing::ElementsAre(255, 191, testing::AnyOf(127, 128), 0));
}

TEST_P(CompressionStage, NumbersAreTheSameBitsEverywhere) {
  for (const ScaleKind scale : {ScaleKind::symmetric, ScaleKind::from_zero}) {
    Compression options;
    options.scale = scale;
    const BlockSpec spec = make_spec(ElementType::float32, 61, 203, 210);
    const TestBlock input(spec);
    std::mt19937 random(11);
    std::normal_distribution<float> number;
    for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n) input.as<float>()[n] = number(random);
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    const auto plain = make_compression_cpu(options, SimdLevel::portable);
    const StageResult want = run_on_one_thread(*plain, spec, input);
    EXPECT_EQ(std::memcmp(result.block->as<std::uint8_t>(), want.block->as<std::uint8_t>(), result.spec.bytes()), 0);
  }
}

TEST(RunningReferenceState, KeepsZeroInTheMiddleThroughSilence) {
  Compression options;
  options.scale = ScaleKind::symmetric;
  RunningReference reference{options};
  reference.follow(1.0F);
  for (int frame = 0; frame < 5000; ++frame) reference.follow(0.0F);
  EXPECT_EQ(level_of_number(std::bit_cast<std::uint32_t>(0.0F), reference.curve()), 128);
}

TEST(RunningReferenceState, GoesOnFromAnother) {
  RunningReference reference{Compression{}};
  reference.resume(5.0F);
  EXPECT_EQ(reference.value(), 5.0F);
  reference.resume(std::nanf(""));
  reference.resume(-1.0F);
  reference.resume(0.0F);
  EXPECT_EQ(reference.value(), 5.0F);
  RunningReference still(fixed(40.0, 0.0, 2.0));
  still.resume(5.0F);
  EXPECT_EQ(still.value(), 2.0F);
}

TEST(RunningReferenceState, StaysANumberThroughSilence) {
  RunningReference reference{Compression{}};
  reference.follow(1.0F);
  for (int frame = 0; frame < 5000; ++frame) reference.follow(0.0F);
  EXPECT_TRUE(std::isnormal(reference.value()));
  EXPECT_TRUE(std::isfinite(reference.curve().offset));
}

TEST_P(CompressionStage, RefusesOptionsOutOfRange) {
  Compression options;
  options.dynamic_range_db = 0.0;
  EXPECT_EQ(input_error([&] { (void)make(options); }), "compression stage, dynamic range: found 0; expected 1 to 200 dB");
  options = {};
  options.gain_db = std::nan("");
  EXPECT_EQ(input_error([&] { (void)make(options); }), "compression stage, gain: found nan; expected -200 to 200 dB");
  options = {};
  options.running_fraction = 0.0;
  EXPECT_EQ(input_error([&] { (void)make(options); }), "compression stage, running fraction: found 0; expected 1e-06 to 1");
  options = {};
  options.reference_value = -1.0;
  EXPECT_EQ(input_error([&] { (void)make(options); }),
            "compression stage, reference value: found -1; expected a positive number that single precision can hold");
  const auto stage = make(Compression{});
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::uint8, 1, 8)); }),
            "compression stage, input type: found uint8; expected float32");
}

}  // namespace
}  // namespace echoform::test
