#include "operators/spreading_kernel.hpp"

#include <cmath>
#include <numbers>

namespace echoform::spreading {
namespace {

constexpr double beta = 2.30 * width;
constexpr double half_width = 0.5 * width;

}  // namespace

double kernel(double x) {
  const double part = x / half_width;
  return std::abs(part) > 1.0 ? 0.0 : std::exp(beta * (std::sqrt(1.0 - part * part) - 1.0));
}

double kernel_transform(double frequency) {
  // With x = half_width sin(a) the integrand is smooth up to its ends, and the midpoint rule as exact as double precision.
  constexpr int points = 400;
  const double step = std::numbers::pi / points;
  double sum = 0.0;
  for (int k = 0; k < points; ++k) {
    const double angle = (static_cast<double>(k) + 0.5) * step - 0.5 * std::numbers::pi;
    const double x = half_width * std::sin(angle);
    sum += std::exp(beta * (std::cos(angle) - 1.0)) * std::cos(2.0 * std::numbers::pi * frequency * x) * std::cos(angle);
  }
  return half_width * step * sum;
}

std::vector<float> make_table() {
  const auto share = [](std::int32_t place, std::int32_t lane) {
    return lane >= width ? 0.0 : kernel(static_cast<double>(lane - lead) - static_cast<double>(place) / places);
  };
  std::vector<float> table(static_cast<std::size_t>(places + 1) * table_row);
  for (std::int32_t place = 0; place <= places; ++place) {
    float* const row = table.data() + static_cast<std::ptrdiff_t>(place) * table_row;
    for (std::int32_t lane = 0; lane < lanes; ++lane) {
      row[lane] = static_cast<float>(share(place, lane));
      row[lanes + lane] = place == places ? 0.0F : static_cast<float>(share(place + 1, lane) - share(place, lane));
    }
  }
  return table;
}

}  // namespace echoform::spreading
