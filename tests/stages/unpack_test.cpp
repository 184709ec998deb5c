#include "stages/unpack/unpack.hpp"

#include <gmock/gmock.h>

#include "pipeline/raw_samples.hpp"
#include "stages/block_checks.hpp"
#include "stages/unpack/sample_scale.hpp"
#include "tests/stages/raw_frames.hpp"

namespace echoform::test {
namespace {

class Unpack : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(double sample_scale) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_unpack_cuda(sample_scale, backend());
#endif
    return make_unpack_cpu(sample_scale, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Unpack);

// Sizes about the widths of the loops: 16 samples a shuffle with 4 in reserve, pieces of 512; on CUDA 4 samples
// a thread, 512 a warp, 4096 a block.
constexpr std::size_t row_lengths[] = {1, 2, 3, 15, 16, 17, 19, 20, 21, 36, 511, 512, 513, 1031, 4096, 4104, 9000};

TEST_P(Unpack, EqualsTheSamplesTimesTheScale) {
  constexpr double scale = 0.0123;
  for (const ElementType type : {ElementType::int16, ElementType::packed12, ElementType::float32}) {
    for (const std::size_t columns : row_lengths) {
      for (const std::size_t rows : {1, 7}) {
        const RawFrame frame = make_raw_frame(type, rows, columns, columns % 3, 7);
        const auto stage = make(scale);
        const StageResult result = run(*stage, frame.spec, *frame.block);
        ASSERT_EQ(result.spec.type, ElementType::float32);
        ASSERT_EQ(result.spec.row_stride % 16, 0u);
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t column = 0; column < columns; ++column) {
            const double expected = scale * frame.at(row, column);
            // The scale and the product are each rounded to single precision: half a unit of 2^-23 each.
            ASSERT_NEAR(result.block->as<float>()[row * result.spec.row_stride + column], expected, std::abs(expected) * 0x1p-23)
                << "type " << int(type) << ", " << columns << " columns, row " << row << ", column " << column;
          }
        }
        const SampleQuality seen = stage->facts().quality.value();
        EXPECT_EQ(seen.clipped, frame.clipped);
        EXPECT_EQ(seen.invalid, frame.invalid);
      }
    }
  }
}

TEST_P(Unpack, CountsStartAnewWithEachFrame) {
  const RawFrame frame = make_raw_frame(ElementType::int16, 5, 100, 0, 3);
  const auto stage = make(1.0);
  const StageResult result = run(*stage, frame.spec, *frame.block);
  run_again(*stage, *frame.block, result);
  EXPECT_EQ(stage->facts().quality.value().clipped, frame.clipped);
}

TEST_P(Unpack, EveryTwelveBitValueAtBothPlaces) {
  constexpr std::size_t columns = 2 * 4096;
  const BlockSpec spec = make_spec(ElementType::packed12, 1, columns);
  const TestBlock input(spec);
  for (int value = -2048; value < 2048; ++value) {
    const auto place = static_cast<std::size_t>(2 * (value + 2048));
    put_packed12(input.as<unsigned char>(), place, value);
    put_packed12(input.as<unsigned char>(), place + 1, -1 - value);
  }
  const auto stage = make(1.0);
  const StageResult result = run(*stage, spec, input);
  for (int value = -2048; value < 2048; ++value) {
    const auto place = static_cast<std::size_t>(2 * (value + 2048));
    ASSERT_EQ(result.block->as<float>()[place], static_cast<float>(value));
    ASSERT_EQ(result.block->as<float>()[place + 1], static_cast<float>(-1 - value));
  }
  EXPECT_EQ(stage->facts().quality.value().clipped, 4u);
}

TEST_P(Unpack, LargeFramesGoPastTheCachesWithTheSameValues) {
  // Just above the size at which rows are written by streaming stores, with rows that do not fill pieces.
  const std::size_t columns = 4099;
  const std::size_t rows = streaming_bytes / (4 * padded_columns(columns)) + 1;
  const BlockSpec spec = make_spec(ElementType::int16, rows, columns);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < rows * columns; ++n) input.as<std::int16_t>()[n] = static_cast<std::int16_t>(n * 2654435761u >> 7);
  const auto stage = make(1.0);
  const StageResult result = run(*stage, spec, input);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      ASSERT_EQ(result.block->as<float>()[row * result.spec.row_stride + column],
                static_cast<float>(input.as<std::int16_t>()[row * columns + column]));
    }
  }
}

TEST(UnpackInput, RefusesWhatItCannotRead) {
  const auto stage = make_unpack_cpu(1.0);
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::complex64, 1, 1)); }),
            "unpack stage, input type: found complex64; expected int16 or packed12 or float32");
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::int16, 0, 5)); }),
            "unpack stage, input shape: found 0 rows of 5; expected at least one of each");
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::int16, 4, 5, 4)); }),
            "unpack stage, input row stride: found 4; expected at least 5");
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::packed12, 4, 5, 7)); }),
            "unpack stage, input row stride: found 7; expected at least 8");
  EXPECT_THAT(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::int16, SIZE_MAX / 2, 5)); }),
              testing::HasSubstr("expected at most"));
  for (const double scale : {0.0, std::numeric_limits<double>::quiet_NaN(), 1e60, 1e-60}) {
    EXPECT_THAT(input_error_of([&] { (void)make_unpack_cpu(scale); }), testing::HasSubstr("unpack stage, sample scale: found"));
  }
}

}  // namespace
}  // namespace echoform::test
