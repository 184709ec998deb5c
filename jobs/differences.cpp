#include "jobs/differences.hpp"

#include <algorithm>
#include <cmath>

namespace echoform {
namespace {

/// Number of lines along x in a block of work.
std::size_t lines_of_block(std::size_t length) {
  return std::max<std::size_t>(1, VectorMath::block / std::max<std::size_t>(1, length));
}

double value(std::span<const float> values, std::size_t place) {
  return static_cast<double>(values[place]);
}

}  // namespace

Differences::Differences(const VolumeShape& shape, VectorMath& math) : shape_(shape), math_(&math) {}

void Differences::for_lines(Line line) const {
  const auto body = [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) line(k / shape_.y, k % shape_.y, k * shape_.x);
  };
  math_->for_blocks(shape_.y * shape_.z, body, lines_of_block(shape_.x));
}

/// A line along x and its neighbours. A missing neighbour is the line itself, so that the difference is zero.
struct Differences::Neighbours {
  Neighbours(const float* volume, const VolumeShape& shape, std::size_t line)
      : here(volume + line * shape.x),
        before_y(line % shape.y > 0 ? here - shape.x : here),
        after_y(line % shape.y + 1 < shape.y ? here + shape.x : here),
        before_z(line / shape.y > 0 ? here - shape.x * shape.y : here),
        after_z(line / shape.y + 1 < shape.z ? here + shape.x * shape.y : here) {}

  const float* here;
  const float* before_y;
  const float* after_y;
  const float* before_z;
  const float* after_z;
};

/// The sum of term(dx, dy, dz) over all voxels.
template <class Term>
double Differences::sum_of(std::span<const float> volume, const Term& term) const {
  const std::size_t row = shape_.x;
  const std::size_t plane = shape_.x * shape_.y;
  const auto body = [&](std::size_t first, std::size_t last) {
    double total = 0.0;
    for (std::size_t line = first; line < last; ++line) {
      const bool behind_y = line % shape_.y > 0;
      const bool behind_z = line / shape_.y > 0;
      for (std::size_t x = 0; x < row; ++x) {
        const std::size_t n = line * row + x;
        const double here = value(volume, n);
        total += term(x > 0 ? here - value(volume, n - 1) : 0.0, behind_y ? here - value(volume, n - row) : 0.0,
                      behind_z ? here - value(volume, n - plane) : 0.0);
      }
    }
    return total;
  };
  return math_->sum(shape_.y * shape_.z, body, lines_of_block(row));
}

double Differences::squares(std::span<const float> volume) const {
  return sum_of(volume, [](double x, double y, double z) { return x * x + y * y + z * z; });
}

double Differences::lengths(std::span<const float> volume) const {
  return sum_of(volume, [](double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); });
}

void Differences::apply(double a, std::span<const float> volume, double b, std::span<float> differences) const {
  const std::size_t row = shape_.x;
  const std::size_t plane = shape_.x * shape_.y;
  const std::size_t all = voxels();
  for_lines([&](std::size_t z, std::size_t y, std::size_t first) {
    const auto put = [&](std::size_t axis, std::size_t n, double difference) {
      float& to = differences[axis * all + n];
      to = static_cast<float>(a * difference + (b == 0.0 ? 0.0 : b * static_cast<double>(to)));
    };
    for (std::size_t x = 0; x < row; ++x) {
      const std::size_t n = first + x;
      const double here = value(volume, n);
      put(0, n, x > 0 ? here - value(volume, n - 1) : 0.0);
      put(1, n, y > 0 ? here - value(volume, n - row) : 0.0);
      put(2, n, z > 0 ? here - value(volume, n - plane) : 0.0);
    }
  });
}

void Differences::add_transposed(double a, std::span<const float> differences, std::span<float> volume) const {
  const std::size_t row = shape_.x;
  const std::size_t plane = shape_.x * shape_.y;
  const std::size_t all = voxels();
  for_lines([&](std::size_t z, std::size_t y, std::size_t first) {
    for (std::size_t x = 0; x < row; ++x) {
      const std::size_t n = first + x;
      double sum = 0.0;
      if (x > 0) sum += value(differences, n);
      if (x + 1 < shape_.x) sum -= value(differences, n + 1);
      if (y > 0) sum += value(differences, all + n);
      if (y + 1 < shape_.y) sum -= value(differences, all + n + row);
      if (z > 0) sum += value(differences, 2 * all + n);
      if (z + 1 < shape_.z) sum -= value(differences, 2 * all + n + plane);
      volume[n] = static_cast<float>(static_cast<double>(volume[n]) + a * sum);
    }
  });
}

void Differences::add_curvature(double a, std::span<const float> volume, std::span<float> to) const {
  const std::size_t row = shape_.x;
  for_lines([&](std::size_t z, std::size_t y, std::size_t first) {
    const Neighbours of(volume.data(), shape_, z * shape_.y + y);
    float* const sums = to.data() + first;
    const auto put = [&](std::size_t x, std::size_t before, std::size_t after) {
      const double here = of.here[x];
      const double along_x = (here - static_cast<double>(of.here[before])) + (here - static_cast<double>(of.here[after]));
      const double along_y = (here - static_cast<double>(of.before_y[x])) + (here - static_cast<double>(of.after_y[x]));
      const double along_z = (here - static_cast<double>(of.before_z[x])) + (here - static_cast<double>(of.after_z[x]));
      sums[x] = static_cast<float>(static_cast<double>(sums[x]) + a * (along_x + along_y + along_z));
    };
    put(0, 0, row > 1 ? 1 : 0);
    for (std::size_t x = 1; x + 1 < row; ++x) put(x, x - 1, x + 1);
    if (row > 1) put(row - 1, row - 2, row - 1);
  });
}

}  // namespace echoform
