// The common step of searches on curves and on shapes: minimum times from row to row.
#pragma once

#include <cstddef>
#include <limits>

namespace echoform::simulated {

/// The minimum time to `to` through one of a row's places: the place's time in s, plus the straight distance from there at
/// `slowness` in s/m. Sets `through` to the number of that place; of equal times, the first in the order of Row::in_turn.
/// Where no time is finite, `through` is unchanged, and the time is infinite.
template <class Row, class End>
[[nodiscard]] double earliest(const Row& row, const End& to, double slowness, std::size_t& through) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : Row::in_turn) {
    const double time = row.time[i] + distance(row.at[i], to) * slowness;
    if (!(time < least)) continue;
    least = time;
    through = i;
  }
  return least;
}

}  // namespace echoform::simulated
