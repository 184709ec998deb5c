// The loop of stages that make each row of their output from the same row of their input.
#pragma once

#include <algorithm>
#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Numbers that a thread takes at a time, unless one row has more: a few microseconds of work.
inline constexpr std::size_t row_map_grain = 16384;

/// Calls work(row) for each of `rows` rows of `columns` numbers, on the team behind `queue`; returns when all are done.
template <class Work>
void for_each_row(ExecutionQueue& queue, std::size_t rows, std::size_t columns, const Work& work) noexcept {
  const std::size_t grain = std::max<std::size_t>(1, row_map_grain / columns);
  team_of(queue).for_each(rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    for (std::size_t row = first; row < last; ++row) work(row);
  });
}

}  // namespace echoform
