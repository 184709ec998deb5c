// Models as matrices in double precision, worked out entry by entry: what operators are compared with.
#pragma once

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"
#include "operators/spherical_model.hpp"

namespace echoform::test {

struct DenseModel {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> entries;  // [row][column]

  DenseModel(std::size_t of_rows, std::size_t of_columns) : rows(of_rows), columns(of_columns), entries(of_rows * of_columns) {}
  [[nodiscard]] double& at(std::size_t row, std::size_t column) { return entries[row * columns + column]; }
  [[nodiscard]] std::vector<double> apply(std::span<const float> image) const;
  [[nodiscard]] std::vector<double> adjoint(std::span<const float> data) const;
};

/// As interpolated_model.hpp says, by rings about the line from each detector to the grid's middle.
[[nodiscard]] DenseModel dense_interpolated_model(const ModelGeometry& geometry);
/// As spherical_model.hpp says: for each frequency, voxel and detector one term.
[[nodiscard]] DenseModel dense_spherical_model(const ModelGeometry& geometry, const SphericalModelOptions& options = {});

[[nodiscard]] inline std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = values(generator);
  return numbers;
}

[[nodiscard]] inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// |values - reference| / |reference|.
[[nodiscard]] double distance(std::span<const float> values, std::span<const double> reference);

/// The larger one of the distances of data of a drawn image, and of the adjoint's image of drawn data.
[[nodiscard]] double distance(LinearOperator& linear, const DenseModel& reference);

/// |<H x, y> - <x, H^T y>| / (|H x| |y|).
[[nodiscard]] double dot_test(const DenseModel& model, unsigned seed);

}  // namespace echoform::test
