// Pairing of rows as they were received: how samples of every encoding are read.
#include <gmock/gmock.h>

#include "pipeline/raw_samples.hpp"
#include "stages/block_checks.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/raw_rows/sample_scale.hpp"
#include "tests/stages/pairing_of.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class ReceivedRows : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(std::size_t rows, double sample_scale = 1.0) {
    const PairingOptions options = rows_as_received(rows, sample_scale);
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_pairing_cuda(options, backend());
#endif
    return make_pairing_cpu(options, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(ReceivedRows);

// Sizes about the widths of the loops: 16 samples a shuffle with 4 in reserve, pieces of 512; on CUDA 4 samples
// a thread, 512 a warp, 4096 a block.
constexpr std::size_t row_lengths[] = {1, 2, 3, 15, 16, 17, 19, 20, 21, 36, 511, 512, 513, 1031, 4096, 4104, 9000};

TEST_P(ReceivedRows, EqualTheSamplesTimesTheScale) {
  constexpr double scale = 0.0123;
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    for (const std::size_t columns : row_lengths) {
      for (const std::size_t rows : {1, 7}) {
        const RawFrame frame = make_raw_frame(encoding, rows, columns, columns % 3, 7);
        const auto stage = make(rows, scale);
        const StageResult result = run(*stage, frame.spec, *frame.block);
        ASSERT_EQ(result.spec.type, ElementType::float32);
        ASSERT_EQ(result.spec.row_stride % 16, 0u);
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t column = 0; column < columns; ++column) {
            const double expected = scale * frame.at(row, column);
            // The scale and the product are each rounded to single precision: half a unit of 2^-23 each.
            ASSERT_NEAR(result.block->as<float>()[row * result.spec.row_stride + column], expected, std::abs(expected) * 0x1p-23)
                << "encoding " << int(encoding) << ", " << columns << " columns, row " << row << ", column " << column;
          }
        }
        const SampleQuality seen = stage->facts().quality.value();
        EXPECT_EQ(seen.clipped, frame.clipped);
        EXPECT_EQ(seen.invalid, frame.invalid);
      }
    }
  }
}

TEST_P(ReceivedRows, CountsStartAnewWithEachFrame) {
  const RawFrame frame = make_raw_frame(SampleEncoding::int16, 5, 100, 0, 3);
  const auto stage = make(5);
  const StageResult result = run(*stage, frame.spec, *frame.block);
  run_again(*stage, *frame.block, result);
  EXPECT_EQ(stage->facts().quality.value().clipped, frame.clipped);
}

TEST_P(ReceivedRows, EveryTwelveBitValueAtBothPlaces) {
  constexpr std::size_t columns = 2 * 4096;
  const BlockSpec spec = make_raw_spec(SampleEncoding::packed12, 1, columns);
  const TestBlock input(spec);
  for (int value = -2048; value < 2048; ++value) {
    const auto place = static_cast<std::size_t>(2 * (value + 2048));
    put_packed12(input.as<unsigned char>(), place, value);
    put_packed12(input.as<unsigned char>(), place + 1, -1 - value);
  }
  const auto stage = make(1);
  const StageResult result = run(*stage, spec, input);
  for (int value = -2048; value < 2048; ++value) {
    const auto place = static_cast<std::size_t>(2 * (value + 2048));
    ASSERT_EQ(result.block->as<float>()[place], static_cast<float>(value));
    ASSERT_EQ(result.block->as<float>()[place + 1], static_cast<float>(-1 - value));
  }
  EXPECT_EQ(stage->facts().quality.value().clipped, 4u);
}

TEST_P(ReceivedRows, LargeFramesGoPastTheCachesWithTheSameValues) {
  // Just above the size at which rows are written by streaming stores, with rows that do not fill pieces.
  const std::size_t columns = 4099;
  const std::size_t rows = streaming_bytes / (4 * padded_columns(columns)) + 1;
  const BlockSpec spec = make_raw_spec(SampleEncoding::int16, rows, columns);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < rows * columns; ++n) input.as<std::int16_t>()[n] = static_cast<std::int16_t>(n * 2654435761u >> 7);
  const auto stage = make(rows);
  const StageResult result = run(*stage, spec, input);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      ASSERT_EQ(result.block->as<float>()[row * result.spec.row_stride + column],
                static_cast<float>(input.as<std::int16_t>()[row * columns + column]));
    }
  }
}

TEST(ReceivedRowsInput, RefusesWhatCannotBeRead) {
  const auto stage = make_pairing_cpu(rows_as_received(4));
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::complex64, 1, 1)); }),
            "pairing stage, input type: found complex64; expected raw samples");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::int16, 0, 5)); }),
            "pairing stage, input shape: found 0 rows of 5; expected at least one of each");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::int16, 4, 5, 8)); }),
            "pairing stage, input row stride: found 8; expected at least 10");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::int16, 4, 5, 11)); }),
            "pairing stage, input row stride: found 11 bytes; expected a multiple of 2 for int16 samples");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::packed12, 4, 5, 7)); }),
            "pairing stage, input row stride: found 7; expected at least 8");
  EXPECT_THAT(input_error([&] { (void)stage->prepare(make_raw_spec(SampleEncoding::int16, SIZE_MAX / 2, 5)); }),
              testing::HasSubstr("expected at most"));
  for (const double scale : {0.0, std::numeric_limits<double>::quiet_NaN(), 1e60, 1e-60}) {
    EXPECT_THAT(input_error([&] { (void)make_pairing_cpu(rows_as_received(1, scale)); }),
                testing::HasSubstr("pairing stage, sample scale: found"));
  }
}

}  // namespace
}  // namespace echoform::test
