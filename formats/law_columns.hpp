// A transmit law as MFMC and ONDE store one: columns of equal length.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "acquisition/firings.hpp"

namespace echoform::formats {

struct LawColumns {
  explicit LawColumns(std::span<const Firing> firings) {
    for (const Firing& firing : firings) {
      elements.push_back(static_cast<int>(firing.element + 1));
      delays.push_back(firing.delay);
      weights.push_back(firing.weight);
    }
  }
  /// Where they do not, there is no column.
  [[nodiscard]] bool delays_differ_from_0() const {
    return std::ranges::any_of(delays, [](double delay) { return delay != 0.0; });
  }
  [[nodiscard]] bool weights_differ_from_1() const {
    return std::ranges::any_of(weights, [](double weight) { return weight != 1.0; });
  }

  std::vector<int> elements;  ///< from 1
  std::vector<double> delays;
  std::vector<double> weights;
};

}  // namespace echoform::formats
