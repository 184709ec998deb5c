#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::adaptive {
namespace {

/// Without the checks for infinities that std::complex's product makes.
struct Complex {
  double real = 0.0;
  double imaginary = 0.0;
};

void add(Complex& sum, const Complex& a) {
  sum.real += a.real;
  sum.imaginary += a.imaginary;
}
void subtract(Complex& sum, const Complex& a) {
  sum.real -= a.real;
  sum.imaginary -= a.imaginary;
}
/// a conj(b).
Complex product(const Complex& a, const Complex& b) {
  return {a.real * b.real + a.imaginary * b.imaginary, a.imaginary * b.real - a.real * b.imaginary};
}

/// Adds those of one point's subarrays, sum over l of x_l x_l^H, to the lower triangle. Along a diagonal each entry is the one
/// before it, less what the first subarray had there and with what one behind the last would have.
void add_covariance(const float* real, const float* imaginary, std::size_t channels, std::size_t length, Complex* matrix) {
  const std::size_t subarrays = channels - length + 1;
  const auto at = [&](std::size_t n) { return Complex{real[n], imaginary[n]}; };
  for (std::size_t lag = 0; lag < length; ++lag) {
    Complex sum;
    for (std::size_t l = 0; l < subarrays; ++l) add(sum, product(at(l + lag), at(l)));
    for (std::size_t column = 0;; ++column) {
      add(matrix[(column + lag) * length + column], sum);
      if (column + lag + 1 == length) break;
      subtract(sum, product(at(column + lag), at(column)));
      add(sum, product(at(column + lag + subarrays), at(column + subarrays)));
    }
  }
}

/// Cholesky's, in place, of the lower triangle of a Hermitian matrix that is positive definite: right becomes the solution.
void solve(Complex* matrix, std::size_t length, Complex* right) {
  for (std::size_t i = 0; i < length; ++i) {
    Complex* const row = matrix + i * length;
    for (std::size_t j = 0; j <= i; ++j) {
      const Complex* const other = matrix + j * length;
      Complex sum = row[j];
      for (std::size_t k = 0; k < j; ++k) subtract(sum, product(row[k], other[k]));
      if (i == j) {
        row[j] = {std::sqrt(sum.real), 0.0};
      } else {
        row[j] = {sum.real / other[j].real, sum.imaginary / other[j].real};
      }
    }
  }
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Complex& l = matrix[i * length + k];
      subtract(right[i], product(l, {right[k].real, -right[k].imaginary}));
    }
    right[i] = {right[i].real / matrix[i * length + i].real, right[i].imaginary / matrix[i * length + i].real};
  }
  for (std::size_t i = length; i-- > 0;) {
    for (std::size_t k = i + 1; k < length; ++k) subtract(right[i], product(right[k], matrix[k * length + i]));
    right[i] = {right[i].real / matrix[i * length + i].real, right[i].imaginary / matrix[i * length + i].real};
  }
}

}  // namespace

std::size_t subarray_length(const AdaptiveOptions& options, std::size_t channels) {
  const auto length = static_cast<std::size_t>(std::floor(options.subarray * static_cast<double>(channels)));
  return std::clamp<std::size_t>(length, 1, std::max<std::size_t>(1, channels));
}

float capon(const AdaptiveOptions& options, const ChannelWindow& window) {
  const std::size_t channels = window.channels;
  const std::size_t length = subarray_length(options, channels);
  const std::size_t subarrays = channels - length + 1;
  auto* const matrix = reinterpret_cast<Complex*>(window.workspace);
  Complex* const weights = matrix + length * length;
  std::fill_n(matrix, length * length, Complex{});
  for (std::size_t k = 0; k < window.points; ++k) {
    add_covariance(window.real + k * channels, window.imaginary + k * channels, channels, length, matrix);
  }
  double trace = 0.0;
  for (std::size_t i = 0; i < length; ++i) trace += matrix[i * length + i].real;
  if (!(trace > 0.0)) return 0.0F;
  // The scale of R is without meaning: so that its entries neither overflow nor vanish it becomes of trace 1.
  for (std::size_t i = 0; i < length * length; ++i) matrix[i] = {matrix[i].real / trace, matrix[i].imaginary / trace};
  const double load = options.loading / static_cast<double>(length);
  for (std::size_t i = 0; i < length; ++i) matrix[i * length + i].real += load;
  std::fill_n(weights, length, Complex{1.0, 0.0});
  solve(matrix, length, weights);

  const float* const real = window.real + window.centre * channels;
  const float* const imaginary = window.imaginary + window.centre * channels;
  double sum = 0.0;
  Complex norm;
  for (std::size_t i = 0; i < length; ++i) {
    add(norm, weights[i]);
    Complex x;
    for (std::size_t l = 0; l < subarrays; ++l) add(x, {real[i + l], imaginary[i + l]});
    sum += product(x, weights[i]).real;
  }
  // a^H R^-1 a is real but for rounding.
  return static_cast<float>(sum / (norm.real * static_cast<double>(subarrays)));
}

}  // namespace echoform::adaptive
