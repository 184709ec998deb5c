#include "stages/wall_filter/clutter_space.hpp"

#include <algorithm>
#include <cmath>

#include "stages/wall_filter/clutter_rotation.hpp"

namespace echoform {

HermitianVectors::HermitianVectors(std::size_t size) : size_(size), matrix_(size * size), vectors_(size * size), order_(size) {}

double HermitianVectors::beside_diagonal() const noexcept {
  double beside = 0.0;
  double all = 0.0;
  for (std::size_t p = 0; p < size_; ++p) {
    for (std::size_t q = 0; q < size_; ++q) {
      const double square = std::norm(matrix_[p * size_ + q]);
      all += square;
      if (p != q) beside += square;
    }
  }
  return all > 0.0 ? beside / all : 0.0;
}

void HermitianVectors::rotate(std::size_t p, std::size_t q) noexcept {
  const Complex between = matrix_[p * size_ + q];
  if (between == Complex()) return;
  const ClutterRotation rotation =
      clutter_rotation(matrix_[p * size_ + p].real(), matrix_[q * size_ + q].real(), between.real(), between.imag());
  const Complex turn(rotation.turn_re, rotation.turn_im);
  const double c = rotation.c;
  const double s = rotation.s;
  const auto turn_columns = [&](std::vector<Complex>& of) {
    for (std::size_t row = 0; row < size_; ++row) {
      Complex& a = of[row * size_ + p];
      Complex& b = of[row * size_ + q];
      const Complex x = a;
      const Complex y = b * turn;
      a = c * x - s * y;
      b = s * x + c * y;
    }
  };
  turn_columns(matrix_);
  turn_columns(vectors_);
  for (std::size_t column = 0; column < size_; ++column) {
    Complex& a = matrix_[p * size_ + column];
    Complex& b = matrix_[q * size_ + column];
    const Complex x = a;
    const Complex y = b * std::conj(turn);
    a = c * x - s * y;
    b = s * x + c * y;
  }
}

std::span<const std::size_t> HermitianVectors::find() noexcept {
  std::ranges::fill(vectors_, Complex());
  for (std::size_t n = 0; n < size_; ++n) {
    vectors_[n * size_ + n] = 1.0;
    order_[n] = n;
  }
  const auto finite = [](const Complex& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); };
  if (!std::ranges::all_of(matrix_, finite)) return order_;
  for (int sweep = 0; sweep < most_clutter_sweeps && beside_diagonal() > small_beside_diagonal; ++sweep) {
    for (std::size_t p = 0; p + 1 < size_; ++p) {
      for (std::size_t q = p + 1; q < size_; ++q) rotate(p, q);
    }
  }
  // std::sort allocates no memory. Equal values are sorted by their places.
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const double of_a = matrix_[a * size_ + a].real();
    const double of_b = matrix_[b * size_ + b].real();
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return order_;
}

}  // namespace echoform
