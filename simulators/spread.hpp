// Numbers between two ends.
#pragma once

#include <array>
#include <cstddef>

namespace echoform {

/// Number `index` of `count` that are equally spaced, both ends counted in; one alone lies in the middle.
[[nodiscard]] inline double spread(const std::array<double, 2>& ends, std::size_t index, std::size_t count) {
  if (count < 2) return 0.5 * (ends[0] + ends[1]);
  return ends[0] + (ends[1] - ends[0]) * static_cast<double>(index) / static_cast<double>(count - 1);
}

}  // namespace echoform
