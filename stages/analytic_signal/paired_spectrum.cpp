#include "stages/analytic_signal/paired_spectrum.hpp"

#include <cmath>
#include <numbers>

namespace echoform::hilbert {

std::vector<PairFactors> pair_factors(const std::vector<float>& b, std::size_t length) {
  std::vector<PairFactors> factors;
  const std::size_t half = length / 2;
  for (std::size_t k = 0; 2 * k <= half; ++k) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    factors.push_back({{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))},
                       0.5F * (b[k] + b[half - k]),
                       0.5F * (b[k] - b[half - k])});
  }
  return factors;
}

}  // namespace echoform::hilbert
