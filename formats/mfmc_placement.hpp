// Where an MFMC file puts its probe.
#pragma once

#include <string>

#include "acquisition/acquisition.hpp"
#include "base/vector3.hpp"
#include "formats/mfmc_parts.hpp"

namespace echoform::formats {

/// A probe's origin and axes in global coordinates. Of the directions only x counts in full; y gives the plane, magnitudes
/// nothing.
/// Directions that are zero are those of a probe whose z points into the part.
struct MfmcPlacement {
  Vector3 position;
  Vector3 x_direction;
  Vector3 y_direction;
};

/// The probe in global coordinates. On a wedge, whose face lies on the part, the face becomes the plane z = 0: the probe is
/// rotated about WEDGE_SURFACE_POINT by the smallest angle that makes the face level, and moved along z. Stand-off and tilt
/// are then those of the wedge, whatever z and axes the placement states; x and y of that point stay. Throws InputError,
/// naming `where`, if directions are parallel, an element emits towards -z, lies inside the part (z > 0) or beyond the
/// wedge's face, or the face stands upright. `around`: of a probe that takes several places, which may lead around the part:
/// of emission and of z without a wedge nothing is asked then.
[[nodiscard]] Probe place_probe(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where,
                                bool around = false);

/// The probe in coordinates of its own, in which no placement has put it anywhere, and the pose by which a placement does so. For
/// probes without a wedge: that puts them by its face. Throws InputError, naming `where`, as place_probe() of directions.
[[nodiscard]] Probe unplaced_probe(const MfmcProbe& probe);
[[nodiscard]] Pose pose_of(const MfmcPlacement& placement, const std::string& where);
[[nodiscard]] MfmcPlacement placement_of(const Pose& pose);

/// Whether every element that states its axes has ELEMENT_MAJOR x ELEMENT_MINOR against the probe's z and so, placed as stated,
/// would emit out of the part: its writer turned them the other way round. Throws as place_probe().
[[nodiscard]] bool emission_is_backwards(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where);
/// Reverses the emission of the elements that state their axes.
void turn_emission(MfmcProbe& probe);

/// Whether PROBE_X_DIRECTION or PROBE_Y_DIRECTION is zero.
[[nodiscard]] bool lacks_direction(const MfmcPlacement& placement);

/// Degrees, 0 to 90, between the wedge's face as the placement has it and the level on which place_probe() lays it; 0 without a
/// wedge. Throws as place_probe().
[[nodiscard]] double face_tilt(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where);

}  // namespace echoform::formats
