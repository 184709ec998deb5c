#include "stages/analytic_signal/paired_spectrum.hpp"

#include <cmath>
#include <numbers>

namespace echoform::hilbert {
namespace {

Complex root_of(std::size_t k, std::size_t length) {
  const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

}  // namespace

std::vector<PairFactors> pair_factors(const std::vector<float>& b, std::size_t length) {
  std::vector<PairFactors> factors;
  const std::size_t half = length / 2;
  for (std::size_t k = 0; 2 * k <= half; ++k) {
    factors.push_back({root_of(k, length), 0.5F * (b[k] + b[half - k]), 0.5F * (b[k] - b[half - k])});
  }
  return factors;
}

std::vector<ResponsePair> response_pairs(const std::vector<std::complex<float>>& c, std::size_t length) {
  std::vector<ResponsePair> factors;
  const std::size_t half = length / 2;
  for (std::size_t k = 0; 2 * k <= half; ++k) {
    const std::complex<float> sum = 0.5F * (c[k] + std::conj(c[half - k]));
    const std::complex<float> difference = 0.5F * (c[k] - std::conj(c[half - k]));
    factors.push_back({root_of(k, length), {sum.real(), sum.imag()}, {difference.real(), difference.imag()}});
  }
  return factors;
}

}  // namespace echoform::hilbert
