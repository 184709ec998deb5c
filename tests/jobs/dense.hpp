// Small problems of least squares with a matrix that is there, and their solution in double precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "jobs/communicator.hpp"
#include "jobs/solver.hpp"
#include "operators/linear_operator.hpp"

namespace echoform::test {

/// Rows of a matrix, of which a process may have a part.
class DenseOperator final : public LinearOperator {
 public:
  DenseOperator(std::vector<double> matrix, std::size_t columns) : matrix_(std::move(matrix)), columns_(columns) {}

  [[nodiscard]] std::size_t image_size() const noexcept override { return columns_; }
  [[nodiscard]] std::size_t data_size() const noexcept override { return matrix_.size() / columns_; }
  void apply(std::span<const float> image, std::span<float> data) override {
    for (std::size_t row = 0; row < data.size(); ++row) {
      double sum = 0.0;
      for (std::size_t k = 0; k < columns_; ++k) sum += at(row, k) * static_cast<double>(image[k]);
      data[row] = static_cast<float>(sum);
    }
  }
  void adjoint(std::span<const float> data, std::span<float> image) override {
    for (std::size_t k = 0; k < columns_; ++k) {
      double sum = 0.0;
      for (std::size_t row = 0; row < data.size(); ++row) sum += at(row, k) * static_cast<double>(data[row]);
      image[k] = static_cast<float>(sum);
    }
  }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return matrix_[row * columns_ + column]; }

 private:
  std::vector<double> matrix_;
  std::size_t columns_;
};

inline std::vector<double> drawn(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> values;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = values(generator);
  return numbers;
}

inline std::vector<float> as_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// What it makes of images is rounded to steps, as sums of large numbers are.
class RoundedOperator final : public LinearOperator {
 public:
  RoundedOperator(LinearOperator& exact, double step) : exact_(exact), step_(step) {}

  [[nodiscard]] std::size_t image_size() const noexcept override { return exact_.image_size(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return exact_.data_size(); }
  void apply(std::span<const float> image, std::span<float> data) override {
    exact_.apply(image, data);
    for (float& value : data) value = static_cast<float>(step_ * std::round(static_cast<double>(value) / step_));
  }
  void adjoint(std::span<const float> data, std::span<float> image) override { exact_.adjoint(data, image); }

 private:
  LinearOperator& exact_;
  double step_;
};

/// A problem with all that it refers to, solved by a team of so many.
struct Problem {
  Problem(std::vector<double> matrix, std::vector<double> y, const VolumeShape& its_shape, std::size_t threads = 1)
      : shape(its_shape),
        dense(std::move(matrix), shape.voxels()),
        data(as_float(y)),
        team(threads, "test"),
        math(team),
        communicator(make_single_process()) {}

  [[nodiscard]] LeastSquares least_squares() { return {dense, data, shape, math, *communicator}; }

  VolumeShape shape;
  DenseOperator dense;
  std::vector<float> data;
  ThreadTeam team;
  VectorMath math;
  std::unique_ptr<Communicator> communicator;
};

/// The matrix D^T D by its definition: D has one row for each pair of neighbours.
inline std::vector<double> curvature_matrix(const VolumeShape& shape) {
  const std::size_t n = shape.voxels();
  std::vector<double> matrix(n * n);
  const auto pair = [&](std::size_t a, std::size_t b) {
    matrix[a * n + a] += 1.0;
    matrix[b * n + b] += 1.0;
    matrix[a * n + b] -= 1.0;
    matrix[b * n + a] -= 1.0;
  };
  const auto place = [&](std::size_t x, std::size_t y, std::size_t z) { return (z * shape.y + y) * shape.x + x; };
  for (std::size_t z = 0; z < shape.z; ++z) {
    for (std::size_t y = 0; y < shape.y; ++y) {
      for (std::size_t x = 0; x < shape.x; ++x) {
        if (x + 1 < shape.x) pair(place(x, y, z), place(x + 1, y, z));
        if (y + 1 < shape.y) pair(place(x, y, z), place(x, y + 1, z));
        if (z + 1 < shape.z) pair(place(x, y, z), place(x, y, z + 1));
      }
    }
  }
  return matrix;
}

/// H^T H + weight * R, n x n, and H^T y.
struct NormalEquations {
  std::vector<double> matrix;
  std::vector<double> right;
};
inline NormalEquations normal_equations(const DenseOperator& dense, std::span<const float> data, double weight,
                                        const std::vector<double>& penalty) {
  const std::size_t n = dense.image_size();
  NormalEquations normal{std::vector<double>(n * n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = 0; row < data.size(); ++row) normal.right[i] += dense.at(row, i) * static_cast<double>(data[row]);
    for (std::size_t j = 0; j < n; ++j) {
      double sum = weight * penalty[i * n + j];
      for (std::size_t row = 0; row < data.size(); ++row) sum += dense.at(row, i) * dense.at(row, j);
      normal.matrix[i * n + j] = sum;
    }
  }
  return normal;
}

/// The solution of the normal equations by Cholesky's factors.
inline std::vector<double> solved(NormalEquations normal) {
  const std::size_t n = normal.right.size();
  std::vector<double>& a = normal.matrix;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  std::vector<double>& x = normal.right;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
    x[i] /= a[i * n + i];
  }
  return x;
}

/// |a - b| / |b|
template <class A, class B>
double distance(const A& a, const B& b) {
  double difference = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    all += std::pow(static_cast<double>(b[k]), 2);
  }
  return std::sqrt(difference / all);
}

}  // namespace echoform::test
