#include "jobs/filtered_model.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/errors.hpp"
#include "tests/jobs/dense.hpp"

namespace echoform::test {
namespace {

constexpr std::size_t filtered_rows = 3, filtered_samples = 50, filtered_voxels = 7;

FilterOptions filter_of(FilterKind kind) {
  FilterOptions options;
  options.kind = kind;
  options.sample_rate = Hertz(50e6);
  options.low = Hertz(2e6);
  options.high = Hertz(9e6);
  options.skirt = Hertz(2e6);
  options.upper_skirt = Hertz(5e6);
  if (kind == FilterKind::wiener) {
    options.pulse = std::make_shared<const MeasuredPulse>(MeasuredPulse{{0.0, 1.0, -0.7, 0.3, 0.0, -0.1}, Hertz(50e6)});
    options.noise = 0.05;
  }
  return options;
}

std::unique_ptr<LinearOperator> filtered(const std::vector<double>& matrix, const FilterOptions& filter, ThreadTeam& team,
                                         std::size_t of_row = filtered_samples) {
  return make_filtered_model(std::make_unique<DenseOperator>(matrix, filtered_voxels), of_row, filter, team);
}

TEST(FilteredModel, ItsAdjointIsItsTranspose) {
  const std::vector<double> matrix = drawn(filtered_rows * filtered_samples * filtered_voxels, 3);
  ThreadTeam team(2, "test");
  // Rounding of transforms of 50 samples. Of Wiener's, whose phases turn, the transpose is another filter.
  for (const FilterKind kind : {FilterKind::mean, FilterKind::band, FilterKind::wiener})
    EXPECT_LT(dot_test(*filtered(matrix, filter_of(kind), team), 4), 1e-6) << static_cast<int>(kind);
}

TEST(FilteredModel, TakesTheMeanOfEachRow) {
  const std::vector<double> matrix = drawn(filtered_rows * filtered_samples * filtered_voxels, 1),
                            image = drawn(filtered_voxels, 2);
  ThreadTeam team(2, "test");
  const auto model = filtered(matrix, filter_of(FilterKind::mean), team);
  std::vector<float> data(model->data_size());
  model->apply(as_float(image), data);
  for (std::size_t row = 0; row < filtered_rows; ++row) {
    std::vector<double> expected(filtered_samples);
    double mean = 0.0;
    for (std::size_t n = 0; n < filtered_samples; ++n) {
      for (std::size_t v = 0; v < filtered_voxels; ++v)
        expected[n] += matrix[(row * filtered_samples + n) * filtered_voxels + v] * image[v];
      mean += expected[n] / static_cast<double>(filtered_samples);
    }
    // Some ten in size, by transforms in single precision.
    for (std::size_t n = 0; n < filtered_samples; ++n)
      EXPECT_NEAR(static_cast<double>(data[row * filtered_samples + n]), expected[n] - mean, 1e-5) << row << ' ' << n;
  }
}

TEST(FilteredModel, HasTheSameBitsForAnyNumberOfThreadsAndSaysWhatItHolds) {
  const std::vector<double> matrix = drawn(filtered_rows * filtered_samples * filtered_voxels, 5),
                            image = drawn(filtered_voxels, 6);
  std::vector<float> of_one(filtered_rows * filtered_samples), of_three(filtered_rows * filtered_samples);
  ThreadTeam one(1, "test"), three(3, "test");
  const FilterOptions filter = filter_of(FilterKind::band);
  filtered(matrix, filter, one)->apply(as_float(image), of_one);
  const auto model = filtered(matrix, filter, three);
  model->apply(as_float(image), of_three);
  EXPECT_EQ(of_one, of_three);
  EXPECT_EQ(model->bytes(), filtered_model_bytes(filtered_rows * filtered_samples, filtered_samples, filter, 3));
}

TEST(FilteredModel, RefusesRowsThatDoNotShareOutTheData) {
  ThreadTeam team(1, "test");
  const std::vector<double> matrix = drawn(filtered_rows * filtered_samples * filtered_voxels, 7);
  EXPECT_THROW(static_cast<void>(filtered(matrix, filter_of(FilterKind::mean), team, 0)), InputError);
  EXPECT_THROW(static_cast<void>(filtered(matrix, filter_of(FilterKind::mean), team, 49)), InputError);
}

}  // namespace
}  // namespace echoform::test
