#include "stages/scan_lines/rest_polynomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace echoform::gpu {
namespace {

constexpr std::size_t most_nodes = 5;

double place_of(std::size_t k, std::size_t count) {
  return count < 2 ? 0.0 : 2.0 * static_cast<double>(k) / static_cast<double>(count - 1) - 1.0;
}

}  // namespace

RestPolynomial rest_polynomial(std::span<const double> rests, double most_error) {
  RestPolynomial result{};
  result.terms[0] = std::numeric_limits<float>::quiet_NaN();
  const std::size_t count = rests.size();
  const std::size_t nodes = std::min(count, most_nodes);
  if (nodes == 0) return result;
  std::array<double, most_nodes> x{};
  std::array<double, most_nodes> divided{};
  for (std::size_t node = 0; node < nodes; ++node) {
    const double angle = std::numbers::pi * (static_cast<double>(node) + 0.5) / static_cast<double>(nodes);
    const double place = 0.5 * (1.0 - std::cos(angle)) * static_cast<double>(count - 1);
    const std::size_t k = count <= most_nodes ? node : static_cast<std::size_t>(std::lround(place));
    x[node] = place_of(k, count);
    divided[node] = rests[k];
  }
  for (std::size_t order = 1; order < nodes; ++order) {
    for (std::size_t node = nodes - 1; node >= order; --node) {
      divided[node] = (divided[node] - divided[node - 1]) / (x[node] - x[node - order]);
    }
  }
  // Converts to coefficients of powers: p = p (x - x_node) + divided[node], from the last node down.
  std::array<double, most_nodes> powers{};
  for (std::size_t node = nodes; node-- > 0;) {
    for (std::size_t power = most_nodes - 1; power > 0; --power) powers[power] = powers[power - 1] - x[node] * powers[power];
    powers[0] = divided[node] - x[node] * powers[0];
  }
  for (std::size_t k = 0; k < count; ++k) {
    const double at = place_of(k, count);
    double value = 0.0;
    for (std::size_t power = most_nodes; power-- > 0;) value = value * at + powers[power];
    if (!(std::abs(value - rests[k]) <= most_error)) return result;
  }
  for (std::size_t power = 0; power < most_nodes; ++power) result.terms[power] = static_cast<float>(powers[power]);
  return result;
}

}  // namespace echoform::gpu
