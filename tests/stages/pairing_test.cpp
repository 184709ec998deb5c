#include "stages/pairing/pairing.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/stages/pairing_of.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class Pairing : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const PairingOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_pairing_cuda(options, backend());
#endif
    return make_pairing_cpu(options, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Pairing);

std::size_t rows_of(MatrixKind kind, std::size_t n) {
  return kind == MatrixKind::full ? n * n : n * (n + 1) / 2;
}

/// Row of pair (i, j) by counting, so that no formula of the project is used.
std::size_t row_of(MatrixKind kind, std::size_t n, std::size_t i, std::size_t j) {
  if (kind == MatrixKind::full) return i * n + j;
  std::size_t row = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b, ++row) {
      if (a == std::min(i, j) && b == std::max(i, j)) return row;
    }
  }
  return row;
}

/// What one output row must hold, in double precision, for scale 1.
double expected(const RawFrame& frame, MatrixKind from, MatrixKind to, std::size_t n, std::size_t i, std::size_t j,
                std::size_t column) {
  const double one = frame.at(row_of(from, n, i, j), column);
  if (to == MatrixKind::full || i == j) return one;
  if (to == MatrixKind::half) return from == MatrixKind::half_summed ? 0.5 * one : one;
  if (from == MatrixKind::full) return one + frame.at(row_of(from, n, j, i), column);
  return from == MatrixKind::half ? 2.0 * one : one;
}

TEST_P(Pairing, EveryEncodingAndKindInBothForms) {
  constexpr double scale = 0.37;
  for (const std::size_t n : {1, 2, 5}) {
    for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      for (const MatrixKind from : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
        for (const bool reciprocal : {true, false}) {
          for (const bool with_dead : {false, true}) {
            // Rows that start anywhere, and rows that follow each other on boundaries of 4 samples.
            for (const std::size_t columns : {1, 37, 600}) {
              const std::size_t extra = n == 5 && columns == 600 ? 0 : 3;
              const RawFrame frame = make_raw_frame(encoding, rows_of(from, n), columns, extra, static_cast<unsigned>(n));
              PairingCase test{n, from, reciprocal, {}, scale};
              const std::size_t dead = n > 1 && with_dead ? 1 : SIZE_MAX;
              if (dead != SIZE_MAX) test.dead.push_back(dead);
              const auto stage = make(pairing_of(test));
              const StageResult result = run(*stage, frame.spec, *frame.block);
              const MatrixKind to = reciprocal                 ? MatrixKind::half_summed
                                    : from == MatrixKind::full ? MatrixKind::full
                                                               : MatrixKind::half;
              ASSERT_EQ(result.spec.rows, rows_of(to, n));
              SampleQuality counts;
              float peak = 0.0F;
              for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                  const bool live = i != dead && j != dead;
                  if (live && (from == MatrixKind::full || i <= j)) {
                    counts.clipped += frame.clipped_in_row[row_of(from, n, i, j)];
                    counts.invalid += frame.invalid_in_row[row_of(from, n, i, j)];
                  }
                  if (to != MatrixKind::full && j < i) continue;
                  const float* row = result.block->as<float>() + row_of(to, n, i, j) * result.spec.row_stride;
                  for (std::size_t column = 0; column < columns; ++column) {
                    const double sum = live ? expected(frame, from, to, n, i, j, column) : 0.0;
                    const double want = scale * sum;
                    // The scale and the product are rounded, 2^-24 each, and so is the sum of floats.
                    ASSERT_NEAR(row[column], want, std::abs(want) * 3.0 * 0x1p-24)
                        << "n " << n << " encoding " << int(encoding) << " from " << int(from) << " pair " << i << ", " << j;
                    peak = std::max(peak, std::abs(row[column]));
                  }
                }
              }
              EXPECT_EQ(stage->facts().quality.value(), counts);
              ASSERT_EQ(result.spec.trailer, on_cuda() ? 64u : 0u);
              if (on_cuda()) {
                EXPECT_EQ(result.block->as<float>()[result.spec.rows * result.spec.row_stride], peak);
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(Pairing, FullAndHalfOfReciprocalDataAgreeBitForBit) {
  constexpr std::size_t n = 6;
  constexpr std::size_t columns = 50;
  const RawFrame half = make_raw_frame(SampleEncoding::int16, rows_of(MatrixKind::half, n), columns, 0, 11);
  BlockSpec full_spec = make_raw_spec(SampleEncoding::int16, n * n, columns);
  const TestBlock full(full_spec);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      std::memcpy(full.as<std::int16_t>() + (i * n + j) * columns,
                  half.block->as<std::int16_t>() + row_of(MatrixKind::half, n, i, j) * columns, columns * 2);
    }
  }
  const auto from_half = make(pairing_of({.elements = n, .received = MatrixKind::half, .scale = 0.25}));
  const auto from_full = make(pairing_of({.elements = n, .scale = 0.25}));
  const StageResult a = run(*from_half, half.spec, *half.block);
  const StageResult b = run(*from_full, full_spec, full);
  ASSERT_EQ(a.spec, b.spec);
  for (std::size_t row = 0; row < a.spec.rows; ++row) {
    const std::size_t place = row * a.spec.row_stride;
    ASSERT_EQ(std::memcmp(a.block->as<float>() + place, b.block->as<float>() + place, columns * 4), 0) << "row " << row;
  }
}

TEST_P(Pairing, SumsOfFullScaleIntegersDoNotWrap) {
  const BlockSpec spec = make_raw_spec(SampleEncoding::int16, 4, 40);
  const TestBlock input(spec);
  std::fill_n(input.as<std::int16_t>(), 160, static_cast<std::int16_t>(-32768));
  const auto stage = make(pairing_of({.elements = 2}));
  const StageResult result = run(*stage, spec, input);
  EXPECT_EQ(result.block->as<float>()[result.spec.row_stride + 39], -65536.0F);
  EXPECT_EQ(stage->facts().quality.value().clipped, 160u);
}

TEST_P(Pairing, FactsStartAnewWithEachFrame) {
  const RawFrame loud = make_raw_frame(SampleEncoding::int16, 9, 256, 0, 3);
  const TestBlock silent(loud.spec);
  std::memset(silent.block().data, 0, loud.spec.bytes());
  const auto stage = make(pairing_of({.elements = 3}));
  const StageResult result = run(*stage, loud.spec, *loud.block, 2);
  const Stage& source = *stage;
  EXPECT_EQ(source.facts().quality.value().clipped, loud.clipped);
  run_again(*stage, silent, result);
  EXPECT_EQ(source.facts().quality.value().clipped, 0u);
  for (std::size_t row = 0; row < result.spec.rows; ++row) {
    for (std::size_t column = 0; column < 256; ++column) {
      ASSERT_EQ(result.block->as<float>()[row * result.spec.row_stride + column], 0.0F);
    }
  }
  if (on_cuda()) {
    EXPECT_EQ(result.block->as<float>()[result.spec.rows * result.spec.row_stride], 0.0F);
  }
}

TEST_P(Pairing, LongRowsInEveryEncoding) {
  // Longer than a block of CUDA takes at once, with an end that fills no thread; aligned and not.
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    for (const std::size_t columns : {4096, 8210}) {
      const RawFrame frame = make_raw_frame(encoding, 4, columns, columns == 4096 ? 0 : 1, 5);
      const auto stage = make(pairing_of({.elements = 2}));
      const StageResult result = run(*stage, frame.spec, *frame.block);
      const float* const row = result.block->as<float>() + result.spec.row_stride;
      for (std::size_t n = 0; n < columns; ++n) {
        const double sum = frame.at(1, n) + frame.at(2, n);
        ASSERT_NEAR(row[n], sum, std::abs(sum) * 0x1p-23) << "encoding " << int(encoding) << ", sample " << n;
      }
      EXPECT_EQ(stage->facts().quality.value(), (SampleQuality{frame.clipped, frame.invalid}));
    }
  }
}

TEST(PairingInput, RefusesWhatDoesNotFit) {
  const auto stage = make_pairing_cpu(pairing_of({.elements = 4}));
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::int16, 10, 5)); }),
            "pairing stage, input A-scans: found 10; expected 16");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::uint8, 16, 5)); }),
            "pairing stage, input type: found uint8; expected raw samples");
  PairingOptions beyond = pairing_of({.elements = 4});
  beyond.a_scans = 15;
  EXPECT_EQ(input_error([&] { (void)make_pairing_cpu(beyond); }),
            "pairing stage, source of a row: found A-scan 15; expected one below 15");
  EXPECT_EQ(input_error([] { (void)make_pairing_cpu({}); }), "pairing stage, rows: found none; expected at least one");
  EXPECT_THAT(input_error([] { (void)make_pairing_cpu(pairing_of({.elements = 4, .scale = 0.0})); }),
              testing::HasSubstr("pairing stage, sample scale: found 0"));
}

TEST_P(Pairing, FloatsOfScaleOnePassThroughBitForBit) {
  const RawFrame frame = make_raw_frame(SampleEncoding::float32, rows_of(MatrixKind::half, 3), 600, 0, 19);
  const auto stage = make(pairing_of({.elements = 3, .received = MatrixKind::half, .reciprocal = false}));
  const StageResult result = run(*stage, frame.spec, *frame.block);
  for (std::size_t row = 0; row < frame.spec.rows; ++row) {
    for (std::size_t n = 0; n < 600; ++n) {
      ASSERT_EQ(result.block->as<float>()[row * result.spec.row_stride + n], static_cast<float>(frame.at(row, n)));
    }
  }
}

TEST_P(Pairing, FloatsThatTheScaleTakesTooFarAreInvalid) {
  // 2^57 and more after the scale, or 2^56 before it (sample_math.hpp): at weight 2^40 from 2^17 on.
  const BlockSpec spec = make_raw_spec(SampleEncoding::float32, 1, 6);
  const TestBlock input(spec);
  const float samples[] = {0x1p17F, -0x1p17F, 0x1.fffffep16F, -0x1.fffffep16F, 1.0F, 0.0F};
  std::copy_n(samples, 6, input.as<float>());
  const auto stage = make(pairing_of({.elements = 1, .scale = 0x1p40}));
  const StageResult result = run(*stage, spec, input);
  const float expected[] = {0.0F, 0.0F, 0x1.fffffep56F, -0x1.fffffep56F, 0x1p40F, 0.0F};
  for (std::size_t n = 0; n < 6; ++n) EXPECT_EQ(result.block->as<float>()[n], expected[n]) << n;
  EXPECT_EQ(stage->facts().quality.value().invalid, 2u);
}

}  // namespace
}  // namespace echoform::test
