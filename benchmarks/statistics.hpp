// Medians and spread of repeated measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace echoform::benchmarks {

struct Spread {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
};

/// The spread of `values`, of which there must be at least one.
[[nodiscard]] inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
  return {median, values.front(), values.back()};
}

}  // namespace echoform::benchmarks
