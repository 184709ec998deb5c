// A leg's times to the pixels of a grid, computed ahead of time: the gate and the tables of every backend then look them up.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "delay_laws/delay_law.hpp"
#include "pipeline/grid.hpp"

namespace echoform {

/// Fills `seconds` with the times of `source` to all pixels of the grid in image order. Called from several threads.
using SourceTimes = std::function<void(std::size_t source, std::span<double> seconds)>;

/// A leg that takes times to the grid's pixels from a table and asks `leg` for those to other points. The table holds single
/// precision relative to the middle of each source's times, which keeps them to 2^-25 of their spread: 3e-12 s where pixels lie
/// up to 0.1 ms apart, a hundredth of a sample at 3 GHz.
/// Sources are computed on `threads` threads (0: as many as processors).
[[nodiscard]] std::shared_ptr<const Leg> tabulate(std::shared_ptr<const Leg> leg, const Grid& grid, const SourceTimes& times,
                                                  std::size_t threads);

/// Bytes that the table takes.
[[nodiscard]] std::size_t leg_table_bytes(std::size_t sources, const Grid& grid);

}  // namespace echoform
