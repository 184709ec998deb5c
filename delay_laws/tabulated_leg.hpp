// A leg's times to the pixels of a grid, computed ahead of time: the gate and the tables of every backend then look them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/ray_field.hpp"

namespace echoform {

/// A leg that takes times to the grid's pixels from a table and asks `leg` for those to other points. Times come from
/// `rays`; those of pixels outside are NaN. The table holds single precision
/// relative to the middle of some of each source's times, which keeps them to about 2^-25 of their spread: 3e-12 s where pixels
/// lie up to 0.1 ms apart, a hundredth of a sample at 3 GHz. Filled on `threads` threads (0: as many as processors). With a
/// `tolerance` above 0 rays give some times and polynomials the others where they are good to that
/// (delay_laws/interpolated_times.hpp); rays(grid)->found says how many rays it took. `departures`, where there are any, become
/// the leg's: a table of as many bytes.
[[nodiscard]] std::shared_ptr<const Leg> tabulate(std::shared_ptr<const Leg> leg, const Grid& grid, LegRays rays,
                                                  std::size_t threads, Seconds tolerance = Seconds(0.0),
                                                  std::unique_ptr<const Departures> departures = nullptr);

/// Bytes that the table takes.
[[nodiscard]] std::size_t leg_table_bytes(std::size_t sources, const Grid& grid);

}  // namespace echoform
