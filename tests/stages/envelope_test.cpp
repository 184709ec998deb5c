#include "stages/envelope/envelope.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class Envelope : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const EnvelopeOptions& options = {}) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_envelope_cuda(options);
#endif
    return make_envelope_cpu(options, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Envelope);

TEST_P(Envelope, EqualsTheMagnitude) {
  for (const std::size_t rows : {1, 3, 40}) {
    for (const std::size_t columns : {1, 7, 16, 33, 1000}) {
      const BlockSpec spec = make_spec(ElementType::complex64, rows, columns, columns + 2);
      const TestBlock input(spec);
      std::mt19937 random(static_cast<unsigned>(columns));
      std::uniform_real_distribution<float> exponent(-30.0F, 30.0F);
      std::normal_distribution<float> noise;
      for (std::size_t n = 0; n < 2 * rows * spec.row_stride; ++n)
        input.as<float>()[n] = noise(random) * std::exp2(exponent(random));
      const auto stage = make();
      const StageResult result = run(*stage, spec, input);
      ASSERT_EQ(result.spec, make_spec(ElementType::float32, rows, columns, columns));
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
          const float* z = input.as<float>() + 2 * (row * spec.row_stride + column);
          const double want = std::hypot(static_cast<double>(z[0]), static_cast<double>(z[1]));
          // Two squares, a sum and a root, each rounded: under 2 units of 2^-24 relative.
          ASSERT_NEAR(result.block->as<float>()[row * columns + column], want, want * 0x1p-23);
        }
      }
    }
  }
}

TEST_P(Envelope, OfPlanarRowsIsTheSameBits) {
  constexpr std::size_t rows = 5;
  constexpr std::size_t columns = 37;
  const BlockSpec interleaved = make_spec(ElementType::complex64, rows, columns);
  const BlockSpec planar = make_spec(ElementType::planar_complex64, rows, columns, columns + 11);
  const TestBlock one(interleaved);
  const TestBlock other(planar);
  std::mt19937 random(9);
  std::normal_distribution<float> noise;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t n = 0; n < columns; ++n) {
      for (std::size_t part = 0; part < 2; ++part) {
        const float value = noise(random);
        one.as<float>()[2 * (row * columns + n) + part] = value;
        other.as<float>()[(2 * row + part) * (columns + 11) + n] = value;
      }
    }
  }
  const auto stage = make();
  const StageResult want = run(*stage, interleaved, one);
  const auto again = make();
  const StageResult result = run(*again, planar, other);
  ASSERT_EQ(result.spec, want.spec);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0);
}

/// As the analytic signal leaves them on CUDA; behind an odd number of them two pixels are not read at a time.
TEST_P(Envelope, PassesOverLeadingZeros) {
  for (const auto& [lead, stride] : {std::pair<std::size_t, std::size_t>{8, 6}, {1, 6}, {8, 9}, {3, 9}}) {
    BlockSpec spec = make_spec(ElementType::complex64, 4, 6, stride);
    spec.lead = lead;
    const TestBlock input(spec);
    for (std::size_t n = 0; n < 2 * (lead + 4 * stride); ++n) input.as<float>()[n] = n < 2 * lead ? 0.0F : static_cast<float>(n);
    const auto stage = make();
    const StageResult result = run(*stage, spec, input);
    ASSERT_EQ(result.spec, make_spec(ElementType::float32, 4, 6, 6));
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t n = 0; n < 6; ++n) {
        const double re = 2.0 * static_cast<double>(lead + row * stride + n);
        EXPECT_FLOAT_EQ(result.block->as<float>()[row * 6 + n], static_cast<float>(std::hypot(re, re + 1.0)));
      }
    }
  }
}

TEST_P(Envelope, IsTheSameBitsEverywhere) {
  const BlockSpec spec = make_spec(ElementType::complex64, 33, 250);
  const TestBlock input(spec);
  std::mt19937 random(7);
  std::normal_distribution<float> noise;
  for (std::size_t n = 0; n < 2 * 33 * 250; ++n) input.as<float>()[n] = noise(random);
  const auto stage = make();
  const StageResult result = run(*stage, spec, input);
  const auto plain = make_envelope_cpu({}, SimdLevel::portable);
  const StageResult want = run_on_one_thread(*plain, spec, input);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0);
}

TEST_P(Envelope, KeepsVolumesAndPropagatesNan) {
  BlockSpec spec = make_spec(ElementType::complex64, 6, 20);
  spec.sub_blocks = 3;
  const TestBlock input(spec);
  std::fill_n(input.as<float>(), 240, 1.0F);
  input.as<float>()[77] = std::nanf("");
  const auto stage = make();
  const StageResult result = run(*stage, spec, input);
  EXPECT_EQ(result.spec.sub_blocks, 3u);
  for (std::size_t n = 0; n < 120; ++n) EXPECT_EQ(std::isnan(result.block->as<float>()[n]), n == 38);
}

/// Of planar and interleaved rows, with gaps and leading zeros.
TEST_P(Envelope, OfSoundingsIsTheMeanOfTheirEnvelopes) {
  for (const std::size_t soundings : {2, 3, 32}) {
    for (const auto& [type, columns, gap, lead] :
         {std::tuple<ElementType, std::size_t, std::size_t, std::size_t>{ElementType::complex64, 33, 0, 0},
          {ElementType::complex64, 16, 3, 5},
          {ElementType::planar_complex64, 37, 11, 0}}) {
      constexpr std::size_t rows = 6;
      BlockSpec spec = make_spec(type, rows * soundings, columns, columns + gap);
      spec.lead = lead;
      const bool planar = type == ElementType::planar_complex64;
      const TestBlock input(spec);
      std::mt19937 random(static_cast<unsigned>(columns + soundings));
      std::normal_distribution<float> noise;
      std::vector<double> mean(rows * columns);
      for (std::size_t row = 0; row < spec.rows; ++row) {
        for (std::size_t n = 0; n < columns; ++n) {
          float* const re = input.as<float>() + 2 * (lead + row * spec.row_stride) + (planar ? n : 2 * n);
          float* const im = re + (planar ? spec.row_stride : 1);
          *re = noise(random);
          *im = noise(random);
          mean[row / soundings * columns + n] += std::hypot(double{*re}, double{*im}) / static_cast<double>(soundings);
        }
      }
      const auto stage = make({soundings});
      const StageResult result = run(*stage, spec, input);
      ASSERT_EQ(result.spec, make_spec(ElementType::float32, rows, columns, columns));
      // Each sum is rounded, and none of its terms is negative: a unit of 2^-24 for each term, and as in a single envelope.
      const double rounding = static_cast<double>(soundings + 3) * 0x1p-24;
      for (std::size_t k = 0; k < mean.size(); ++k) ASSERT_NEAR(result.block->as<float>()[k], mean[k], mean[k] * rounding);
      const auto plain = make_envelope_cpu({soundings}, SimdLevel::portable);
      const StageResult want = run_on_one_thread(*plain, spec, input);
      EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0);
    }
  }
}

TEST_P(Envelope, WantsAsManyRowsOfEachSounding) {
  for (const std::size_t soundings : {0, 4}) {
    const auto stage = make({soundings});
    EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::complex64, 6, 8)); }),
              "envelope stage, rows: found 6 of " + std::to_string(soundings) + " soundings; expected as many of each sounding");
  }
}

TEST_P(Envelope, RefusesOtherTypes) {
  const auto stage = make();
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::float32, 1, 8)); }),
            "envelope stage, input type: found float32; expected complex64 or planar complex64");
}

}  // namespace
}  // namespace echoform::test
