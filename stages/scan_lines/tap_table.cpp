#include "stages/scan_lines/tap_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace echoform::scan_lines {
namespace {

constexpr std::size_t nodes = 4;

/// The coefficient of tap `tap` at fraction `f`.
double coefficient(const DelayFilter& filter, std::size_t tap, double f) {
  const double phase = f * static_cast<double>(filter.phases);
  const std::size_t index = std::min(static_cast<std::size_t>(phase), filter.phases - 1);
  const double share = phase - static_cast<double>(index);
  return (1.0 - share) * filter.row(index)[tap] + share * filter.row(index + 1)[tap];
}

/// The cubic through `values` at the places `at`, as coefficients of its powers, by Newton's divided differences.
std::array<double, nodes> cubic_through(const std::array<double, nodes>& at, std::array<double, nodes> values) {
  for (std::size_t order = 1; order < nodes; ++order) {
    for (std::size_t k = nodes - 1; k >= order; --k) values[k] = (values[k] - values[k - 1]) / (at[k] - at[k - order]);
  }
  std::array<double, nodes> powers{};
  for (std::size_t k = nodes; k-- > 0;) {
    for (std::size_t power = nodes - 1; power > 0; --power) powers[power] = powers[power - 1] - at[k] * powers[power];
    powers[0] = values[k] - at[k] * powers[0];
  }
  return powers;
}

}  // namespace

TapTable make_tap_table(const DelayFilter& filter) {
  TapTable table{};
  table.taps = static_cast<std::uint32_t>(filter.taps);
  table.left = static_cast<std::int32_t>(filter.left());
  table.offset = static_cast<float>(filter.offset());
  std::array<double, nodes> at{};
  for (std::size_t k = 0; k < nodes; ++k) {
    at[k] = 0.5 - 0.5 * std::cos(std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(nodes));
  }
  for (std::size_t tap = 0; tap < filter.taps; ++tap) {
    for (std::size_t piece = 0; piece < coefficient_pieces; ++piece) {
      std::array<double, nodes> values{};
      for (std::size_t k = 0; k < nodes; ++k) {
        values[k] = coefficient(filter, tap, (static_cast<double>(piece) + at[k]) / static_cast<double>(coefficient_pieces));
      }
      const std::array<double, nodes> powers = cubic_through(at, values);
      for (std::size_t power = 0; power < nodes; ++power) table.cubic[tap][power][piece] = static_cast<float>(powers[power]);
    }
  }
  return table;
}

}  // namespace echoform::scan_lines
