// Frames that are acquired from several positions of the probe: the part of each position, as an acquisition of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// The probe in the part's coordinates, moved by `pose`, whose axes are perpendicular unit vectors: the centres, the normals
/// and the axis that its frame follows. Width and length of an element are along the part's x and y, so they are exchanged
/// if the pose puts x closer to y.
[[nodiscard]] Probe placed(Probe probe, const Pose& pose);

/// `count` poses along a line, without rotation: pose k is k times `step` along `direction` (a unit vector) from the origin.
[[nodiscard]] std::vector<Pose> line_of_poses(std::size_t count, Metres step, const Direction& direction);

/// The part of a frame that belongs to one of its positions.
struct PositionPart {
  /// The probe is placed at the position, and no positions are stated. If every element fires once, in order, and all
  /// record, it is full matrix capture.
  Acquisition acquisition;
  std::vector<std::uint32_t> events;  ///< of the frame, ascending: event k of `acquisition` is its events[k]
};
/// The part of a frame at position number `position`, which must exist. `acquisition` has passed validate() and states
/// positions.
[[nodiscard]] PositionPart part_at(const Acquisition& acquisition, std::size_t position);

/// The probe with the elements of all positions, one position after the other; that of the acquisition if it states no
/// positions. It serves to find the extent of all elements.
[[nodiscard]] Probe probe_at_all_positions(const Acquisition& acquisition);

/// Throws InputError, naming `where` and the position, for more than `most` positions, positions that are not finite or
/// farther than 1 km off, axes that are not perpendicular unit vectors (to 1e-3), positions without events or at which no
/// element fires, and events at positions that are not stated. It also throws for elements that would not emit towards +z at
/// a position, unless nobody transmits.
void validate_positions(const Acquisition& acquisition, std::size_t most, std::string_view where);

}  // namespace echoform
