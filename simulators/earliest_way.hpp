// What searches on curves and on shapes have in common: least times from row to row.
#pragma once

#include <cstddef>
#include <limits>

namespace echoform::simulated {

/// The least time to `to` by way of one of a row's places: to each of them its time in s, then straight on at `slowness`, s/m.
/// `through` becomes the place's number: of equal times the first of Row::in_turn. Where no time is finite it stays as it was,
/// and the time is infinite.
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
