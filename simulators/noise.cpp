#include "simulators/noise.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>

namespace echoform {
namespace {

constexpr std::size_t quantile_count = 65536;

/// x with Phi(x) = probability, by Newton's method on the error function from the previous quantile.
double refine_quantile(double probability, double start) {
  double x = start;
  for (int step = 0; step < 60; ++step) {
    const double excess = 0.5 * std::erfc(-x / std::numbers::sqrt2) - probability;
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    const double change = excess / density;
    x -= change;
    if (std::abs(change) < 1e-12) break;
  }
  return x;
}

struct QuantileTable {
  std::array<float, quantile_count> value{};

  QuantileTable() {
    // The loop goes outwards from the median: each quantile starts from its neighbour, and the distribution is symmetric.
    std::array<double, quantile_count / 2> half{};
    double x = 0.0;
    double square = 0.0;
    for (std::size_t k = 0; k < half.size(); ++k) {
      x = refine_quantile(0.5 + (static_cast<double>(k) + 0.5) / static_cast<double>(quantile_count), x);
      half[k] = x;
      square += x * x;
    }
    const double to_unit_variance = std::sqrt(static_cast<double>(half.size()) / square);
    for (std::size_t k = 0; k < half.size(); ++k) {
      value[half.size() + k] = static_cast<float>(half[k] * to_unit_variance);
      value[half.size() - 1 - k] = -value[half.size() + k];
    }
  }
};

const QuantileTable& quantiles() {
  static const auto table = std::make_unique<QuantileTable>();
  return *table;
}

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ULL;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

void add_noise(const NoiseKey& key, double rms, std::span<float> values) noexcept {
  const auto& table = quantiles().value;
  // Each part is mixed before the next is added: keys that differ in one number give unrelated streams.
  std::uint64_t state = mix(key.seed + golden);
  state = mix(state + key.frame + golden);
  state = mix(state + ((std::uint64_t{key.transmit} << 32) | key.receive) + golden);
  const float scale = static_cast<float>(rms);
  std::size_t n = 0;
  while (n < values.size()) {
    state += golden;
    std::uint64_t bits = mix(state);
    for (std::size_t k = 0; k < 4 && n < values.size(); ++k, ++n, bits >>= 16) values[n] += scale * table[bits & 0xFFFFU];
  }
}

}  // namespace echoform
