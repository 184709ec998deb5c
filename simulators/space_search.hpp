// Least times over places on shapes in space, all of a way's at once: what least_search.hpp is for curves.
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

/// Moves `at`, two parameters on each shape, to where the time is locally least over all of them together, and returns that time:
/// of nine places on each shape, in a square about the one at hand, the least of all combinations (by dynamic programming), then
/// of nine half as far apart where that is the middle one of each. `width` is how far apart the first ones are; the last ones are
/// 1 / 4096 of it. A time that is stationary there is exact to the square of that. NaN where the search does not come to rest.
double narrow_down(const SpacePolyline& way, SpaceParameters& at, const SpaceParameters& width);

}  // namespace echoform::simulated
