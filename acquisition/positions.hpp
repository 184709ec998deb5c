// Frames that are acquired from several positions of the probe: what is acquired at each of them, as an acquisition of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// The probe in the part's coordinates, where `pose`, whose axes are of length 1 and across each other, puts its own: centres,
/// normals and the axis that its frame follows. Width and length of an element, which are along the part's x and y, change places
/// where what lay along x lies rather along y.
[[nodiscard]] Probe placed(Probe probe, const Pose& pose);

/// `count` poses along a line, turned nowhere: pose k is k times `step` along `direction` (of length 1) from the origin.
[[nodiscard]] std::vector<Pose> line_of_poses(std::size_t count, Metres step, const Direction& direction);

/// What a frame of several positions holds of one of them.
struct PositionPart {
  /// The probe stands where the position puts it, and nothing is said of positions. Where every element fires once, in their
  /// order, and all record, it is full matrix capture.
  Acquisition acquisition;
  std::vector<std::uint32_t> events;  ///< of the frame, ascending: event k of `acquisition` is its events[k]
};
/// The part of a frame at position number `position`, which must exist. `acquisition` has passed validate() and states
/// positions.
[[nodiscard]] PositionPart part_at(const Acquisition& acquisition, std::size_t position);

/// The probe with the elements of all positions, one position after the other; that of the acquisition where it states none. For
/// those who ask how far elements reach.
[[nodiscard]] Probe probe_at_all_positions(const Acquisition& acquisition);

/// Throws InputError, naming `where` and the position: for more than `most` positions, such as are not finite or farther than 1
/// km off, axes that are not of length 1 or not across each other (to 1e-3), elements that would not emit towards +z there (but
/// where nobody transmits), positions without events or at which none fires, and events at positions that are not stated.
void validate_positions(const Acquisition& acquisition, std::size_t most, std::string_view where);

}  // namespace echoform
