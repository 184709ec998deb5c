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

}  // namespace hilbert
}  // namespace echoform
