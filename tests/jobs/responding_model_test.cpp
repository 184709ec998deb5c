#include "operators/responding_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/errors.hpp"
#include "tests/jobs/dense.hpp"

namespace echoform::test {
namespace {

constexpr std::size_t detector_rows = 3, row_samples = 20, image_voxels = 7;
const std::vector<double> response_samples = {0.1, -0.4, 1.0, 0.3, -0.2, 0.05};

std::unique_ptr<LinearOperator> responding(const std::vector<double>& matrix, const ImpulseResponse& response, ThreadTeam& team) {
  return make_responding_model(std::make_unique<DenseOperator>(matrix, image_voxels), row_samples, response, team);
}

TEST(RespondingModel, ConvolvesRowsWithinTheRecord) {
  const std::vector<double> matrix = drawn(detector_rows * row_samples * image_voxels, 1), image = drawn(image_voxels, 2);
  for (const std::size_t zero : {0U, 2U, 5U}) {
    ThreadTeam team(2, "test");
    const auto model = responding(matrix, {response_samples, zero}, team);
    std::vector<float> data(model->data_size());
    model->apply(as_float(image), data);
    for (std::size_t row = 0; row < detector_rows; ++row) {
      for (std::size_t n = 0; n < row_samples; ++n) {
        double expected = 0.0;
        for (std::size_t k = 0; k < response_samples.size(); ++k) {
          const std::size_t from = n + zero - k;
          if (from >= row_samples) continue;  // or below 0
          double pressure = 0.0;
          for (std::size_t v = 0; v < image_voxels; ++v)
            pressure += matrix[(row * row_samples + from) * image_voxels + v] * image[v];
          expected += response_samples[k] * pressure;
        }
        // Some ten in size, by transforms in single precision.
        EXPECT_NEAR(static_cast<double>(data[row * row_samples + n]), expected, 1e-5) << zero << ' ' << row << ' ' << n;
      }
    }
  }
}

TEST(RespondingModel, ItsAdjointIsItsTranspose) {
  const std::vector<double> matrix = drawn(detector_rows * row_samples * image_voxels, 3);
  ThreadTeam team(1, "test");
  // Rounding of transforms of 32 samples.
  for (const std::size_t zero : {0U, 3U}) EXPECT_LT(dot_test(*responding(matrix, {response_samples, zero}, team), 4), 1e-6);
}

TEST(RespondingModel, HasTheSameBitsForAnyNumberOfThreadsAndSaysWhatItHolds) {
  const std::vector<double> matrix = drawn(detector_rows * row_samples * image_voxels, 5), image = drawn(image_voxels, 6);
  std::vector<float> of_one(detector_rows * row_samples), of_three(detector_rows * row_samples);
  ThreadTeam one(1, "test"), three(3, "test");
  responding(matrix, {response_samples, 1}, one)->apply(as_float(image), of_one);
  const auto model = responding(matrix, {response_samples, 1}, three);
  model->apply(as_float(image), of_three);
  EXPECT_EQ(of_one, of_three);
  EXPECT_EQ(model->bytes(), responding_model_bytes(detector_rows * row_samples, row_samples, {response_samples, 1}, 3));
}

TEST(RespondingModel, RefusesWhatDoesNotBelongTogether) {
  ThreadTeam team(1, "test");
  const std::vector<double> matrix = drawn(detector_rows * row_samples * image_voxels, 7);
  const auto make = [&](std::size_t of_row, const ImpulseResponse& response) {
    static_cast<void>(make_responding_model(std::make_unique<DenseOperator>(matrix, image_voxels), of_row, response, team));
  };
  EXPECT_THROW(make(0, {response_samples, 0}), InputError);
  EXPECT_THROW(make(19, {response_samples, 0}), InputError);
  EXPECT_THROW(make(row_samples, {response_samples, 6}), InputError);
  EXPECT_THROW(make(row_samples, {{}, 0}), InputError);
  EXPECT_THROW(make(row_samples, {{1.0, std::numeric_limits<double>::infinity()}, 0}), InputError);
  EXPECT_NO_THROW(make(row_samples, {response_samples, 5}));
}

}  // namespace
}  // namespace echoform::test
