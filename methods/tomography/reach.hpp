// When sound of a grid's voxels arrives at detectors, and what of it they hear.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "acquisition/detectors.hpp"
#include "base/grid.hpp"
#include "stages/back_projection/back_projection.hpp"

namespace echoform {

struct ReachOfGrid {
  double earliest = 0.0;  ///< s, over all detectors that face some of the grid
  double latest = 0.0;
  std::size_t facing = 0;  ///< detectors that face some of the grid
  double beyond = 0.0;     ///< part of the ways from voxels to detectors that face them whose time the record does not hold
  std::size_t voxels_unheard = 0;  ///< of those tried, that no record holds anything of
  std::size_t voxels_tried = 0;
};

/// Sound goes at `velocity`, within `object` at that one's. Times are bounds of the whole grid; parts are of up to nine places
/// along each axis. `opens` and `closes` are the first and the last sample's times, in s.
[[nodiscard]] ReachOfGrid reach_of(const Grid& grid, std::span<const Detector> detectors, MetresPerSecond velocity,
                                   const std::optional<SoundInclusion>& object, double opens, double closes);

/// Whether the grid's box holds the point, to a nanometre.
[[nodiscard]] bool holds(const Grid& grid, const Point& point);

}  // namespace echoform
