// When sound of a grid's voxels arrives at detectors, and how much of it they record.
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
  std::size_t facing = 0;          ///< detectors that face some of the grid
  double beyond = 0.0;             ///< share of the paths from voxels to detectors facing them whose time is not in the record
  std::size_t voxels_unheard = 0;  ///< voxels, of those tried, whose sound is in no record
  std::size_t voxels_tried = 0;
};

/// Sound propagates at `velocity`, and within `object` at the velocity of the object. Times are bounds over the whole grid;
/// shares are those of up to nine places along each axis. `opens` and `closes` are the first and the last sample's times,
/// in s.
[[nodiscard]] ReachOfGrid reach_of(const Grid& grid, std::span<const Detector> detectors, MetresPerSecond velocity,
                                   const std::optional<SoundInclusion>& object, double opens, double closes);

/// Whether the grid's box holds the point, to a nanometre.
[[nodiscard]] bool holds(const Grid& grid, const Point& point);

}  // namespace echoform
