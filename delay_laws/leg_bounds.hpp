// The range of times at which a leg's waves reach a grid, which decides which samples an image can need.
#pragma once

#include <cstddef>
#include <vector>

#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"

namespace echoform {

/// Seconds; empty (least > greatest) for a source that reaches no pixel.
struct TimeRange {
  double least = 0.0;
  double greatest = 0.0;
  [[nodiscard]] bool empty() const { return !(least <= greatest); }
};

/// One range per source. The range of a point source is that of the nearest and farthest point of the box around the grid,
/// which contains all pixels. The range of another source is that of the pixels themselves, evaluated on `threads` threads
/// (0: as many as processors). Throws what the leg throws.
[[nodiscard]] std::vector<TimeRange> leg_bounds(const Leg& leg, const Grid& grid, std::size_t threads = 0);

/// Whether the legs give the same times: the same leg (Leg::is()), or the same point sources.
[[nodiscard]] bool same_leg(const Leg& a, const Leg& b);

/// Whether b is a with its legs exchanged. If so, by reciprocity, a half matrix gives the same image for both.
[[nodiscard]] bool mirrored(const DelayLaw& a, const DelayLaw& b);

}  // namespace echoform
