#include "stages/analytic_signal/fused_hilbert.hpp"

#include <cmath>
#include <numbers>

namespace echoform {

std::size_t fused_hilbert_length(std::size_t at_least) {
  for (const int length : hilbert::fused_lengths) {
    if (static_cast<std::size_t>(length) >= at_least) return static_cast<std::size_t>(length);
  }
  return 0;
}

namespace hilbert {

std::size_t twiddle_count(int length) {
  const Shape shape = shape_of(length);
  std::size_t count = 0;
  int span = length;
  for (int pass = 0; pass + 1 < shape.passes; ++pass) {
    span /= shape.radix[pass];
    count += static_cast<std::size_t>(kept_below(shape.radix[pass])) * static_cast<std::size_t>(span);
  }
  return count;
}

std::vector<Complex> twiddle_table(int length) {
  const Shape shape = shape_of(length);
  std::vector<Complex> table;
  int span = length;
  for (int pass = 0; pass + 1 < shape.passes; ++pass) {
    const int radix = shape.radix[pass];
    const int stride = span / radix;
    for (int k = 0; k < kept_below(radix); ++k) {
      for (int j = 0; j < stride; ++j) {
        const double angle = -2.0 * std::numbers::pi * static_cast<double>(kept_powers[k] * j % span) / span;
        table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
      }
    }
    span = stride;
  }
  return table;
}

std::size_t lowest_frequency(int length, int b) {
  const Shape shape = shape_of(length);
  // The digits of b, lowest first, are those of the passes from the last but one to the first. In the frequency, the digit of the
  // first pass is the lowest.
  int weight = length / shape.radix[shape.passes - 1];
  int frequency = 0;
  for (int pass = shape.passes - 2; pass >= 0; --pass) {
    weight /= shape.radix[pass];
    frequency += weight * (b % shape.radix[pass]);
    b /= shape.radix[pass];
  }
  return static_cast<std::size_t>(frequency);
}

std::vector<Complex> filter_table(const std::vector<std::complex<double>>& response, int length) {
  const auto bins = static_cast<std::size_t>(length);
  const std::size_t butterflies = bins / 16;
  std::vector<Complex> table(bins);
  for (std::size_t b = 0; b < butterflies; ++b) {
    for (std::size_t q = 0; q < 16; ++q) {
      const std::size_t frequency = lowest_frequency(length, static_cast<int>(b)) + butterflies * q;
      const bool negative = 2 * frequency > bins;
      const std::complex<double> factor = negative ? std::conj(response[bins - frequency]) : response[frequency];
      table[q * butterflies + b] = {static_cast<float>(factor.real()), static_cast<float>(factor.imag())};
    }
  }
  return table;
}

}  // namespace hilbert
}  // namespace echoform
