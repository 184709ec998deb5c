// Recordings whose file states the place of each frame, as scans: the place becomes a count of the encoder.
#pragma once

#include <memory>

#include "config/configuration.hpp"
#include "formats/recording.hpp"

namespace echoform {

/// The unit of counts of frames for which the file states none.
enum class PlacedCounts : unsigned char {
  as_configured,  ///< [scan] encoder_step, sign and origin: for imaging the frames by the same settings
  exact,          ///< nanometres along the path: the configuration is changed to state that
};

/// Where frames have places of their own (Recording::pose()) and [scan] has a path, `recording` becomes one whose probe stands
/// where the path has s = 0 and whose frames have the counts at which it takes them to their places; else nothing changes. A
/// place lies s = its origin's part along a line from the origin of the coordinates, and of a circle as far round as its axes are
/// turned.
///
/// Counts that the file has besides stay as they are where all of them lead to the same places, within [scan] tolerance. Where
/// one does not, the places count, and a warning of the recording says so. Of a file that is placed by its
/// encoder (Recording::placed_by_encoder()) the counts are what was measured: they always stay, and the warning says what
/// differs.
///
/// Throws InputError, naming the first such frame and by how much: for an element that lies farther than [scan] tolerance from
/// where the path takes it, or faces more than `most_place_turn` elsewhere, and for counts `as_configured` that come no nearer
/// than that to a place; as check_scan_path() and apply_overrides().
void follow_path(std::unique_ptr<Recording>& recording, Configuration& configuration, PlacedCounts counts);

inline constexpr double most_place_turn = 0.5;  ///< degrees

}  // namespace echoform
