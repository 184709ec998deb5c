#include "apps/soak/slope.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace echoform::soak {
namespace {

/// True if the values grow in all readings and in each half of them, and by more than the grain.
bool proven(std::span<const double> places, std::span<const double> values, double grain) {
  if (places.size() < fewest_readings) return false;
  const Slope whole = theil_sen(places, values);
  if (whole.low <= 0.0 || whole.median * (places.back() - places.front()) <= grain) return false;
  const std::size_t half = places.size() / 2;
  return theil_sen(places.first(half), values.first(half)).low > 0.0 &&
         theil_sen(places.subspan(half), values.subspan(half)).low > 0.0;
}

}  // namespace

Slope theil_sen(std::span<const double> places, std::span<const double> values) {
  const std::size_t n = places.size();
  if (n < 2) return {};
  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = i + 1; k < n; ++k) slopes.push_back((values[k] - values[i]) / (places[k] - places[i]));
  }
  std::sort(slopes.begin(), slopes.end());
  const auto at = [&](double rank) {
    const double held = std::clamp(rank, 0.0, static_cast<double>(slopes.size() - 1));
    return slopes[static_cast<std::size_t>(held)];
  };
  const double count = static_cast<double>(slopes.size());
  const double readings = static_cast<double>(n);
  // Kendall's S has the variance n (n - 1) (2 n + 5) / 18; 1.96 standard deviations give 95 %.
  const double spread = 1.96 * std::sqrt(readings * (readings - 1.0) * (2.0 * readings + 5.0) / 18.0);
  const std::size_t half = slopes.size() / 2;
  const double median = slopes.size() % 2 == 1 ? slopes[half] : 0.5 * (slopes[half - 1] + slopes[half]);
  // The same number of slopes lies below the lower end and above the upper end.
  return {median, at(std::floor(0.5 * (count - spread)) - 1.0), at(std::ceil(0.5 * (count + spread)))};
}

Growth judge_growth(std::span<const double> places, std::span<const double> values, double grain) {
  Growth growth;
  if (places.size() < 2) return growth;
  growth.whole = theil_sen(places, values);
  growth.rise = growth.whole.median * (places.back() - places.front());
  const std::size_t half = places.size() / 2;
  growth.grows = proven(places, values, grain) || proven(places.subspan(half), values.subspan(half), grain);
  return growth;
}

}  // namespace echoform::soak
