// Searches for minimum times over places on shapes in space, over all shapes of a path at once; least_search.hpp does so for
// curves.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "simulators/sampled_shape.hpp"

namespace echoform::simulated {

/// Through the couplant, off the backwall and off the front surface, or back through it.
inline constexpr std::size_t most_shapes = 3;

/// Straight legs from one place to another by way of a place on each of several shapes.
struct SpacePolyline {
  Spot from;
  Spot to;
  std::span<const SampledShape* const> shapes;  ///< 1 to most_shapes
  std::span<const double> slowness;             ///< of the legs, s/m; one more than shapes
};

using SpaceParameters = std::array<Parameters2, most_shapes>;

/// Moves `at`, two parameters on each shape, to a local minimum of the time over all shapes together, and returns that time.
/// Each step looks at nine places on each shape, in a square about the present one, and moves to the combination of minimum
/// time (by dynamic programming). Only where no place moved, the next places are half as far apart. `width` is the distance
/// of the first places; the last ones are 1 / 4096 of it apart. A time that is stationary there is exact to the square of
/// that. NaN where the search does not converge.
double narrow_down(const SpacePolyline& way, SpaceParameters& at, const SpaceParameters& width);

}  // namespace echoform::simulated
