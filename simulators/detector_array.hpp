// Detectors of sound that light makes: all around the part, in a row or on a plane, described by a few numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

enum class DetectorKind : std::uint8_t {
  none,
  ring,        ///< a circle, or a part of one, in the plane of x and z
  arc,         ///< half of a circle at most, which turns about z: its azimuths are positions within a frame
  sphere,      ///< rings of constant angle from z
  hemisphere,  ///< the half of one that lies at z below its centre's
  plane,       ///< rows on z = 0
  line,        ///< one row along x on z = 0
};

/// Values that are not stated have the defaults below; values that a kind does not use must not be stated. Angles are in
/// degrees, from +z: of a ring towards +x, of an arc and of rings of a sphere towards the azimuth's direction, which is +x
/// at 0 and +y at 90.
struct DetectorArray {
  DetectorKind kind = DetectorKind::none;
  std::optional<std::size_t> count;  ///< of a ring, an arc, a line: 256; of each ring of a sphere, each row of a plane: 16
  std::vector<std::size_t> counts;   ///< of each ring of a sphere or hemisphere; empty: `count` in each
  std::optional<std::size_t> rows;   ///< rings of a sphere or hemisphere, rows of a plane along y: 16
  std::optional<Metres> radius;      ///< of all but plane and line: 40 mm
  /// Of the first and the last detector, or ring of a sphere. Absent: a whole ring, from 0; an arc, a sphere or a hemisphere in
  /// equal parts, detectors in the middle of each.
  std::optional<std::array<double, 2>> angles;
  std::optional<std::size_t> positions;           ///< azimuths of an arc: 90
  std::optional<std::array<double, 2>> azimuths;  ///< of the first and the last; absent: all around, from 0
  std::optional<Metres> pitch;                    ///< of a plane and a line: 0.5 mm
  std::optional<Metres> row_pitch;                ///< of a plane: pitch
  std::array<Metres, 3> centre{};                 ///< of all of them
  Metres element_width;                           ///< as detectors_of() turns it: along a ring and an arc; 0 is a point
  Metres element_length;                          ///< at right angles to that

  [[nodiscard]] bool stated() const { return kind != DetectorKind::none; }
};

/// Throws InputError (naming `where` and the key) where no kind is stated, a number is out of range, there are more elements or
/// positions than `limits`, angles of a ring come full circle, or something is stated that the kind has no use for.
void validate(const DetectorArray& array, const AcquisitionLimits& limits, std::string_view where);

/// Where they are: elements of length-1 normals, inwards, of plane and line towards +z; its azimuths, of an arc of several, as
/// positions. Of an array that has passed validate().
struct DetectorPlaces {
  Probe probe;
  std::vector<Pose> positions;
};
[[nodiscard]] DetectorPlaces places_of(const DetectorArray& array);

/// An acquisition of such detectors, sampling and encoding left as they are by default: a passive event for each of `pulses`, at
/// each of its positions in turn; without pulses one of unknown light. `positions`: where all of them are moved to within a
/// frame, of kinds that have no positions of their own; empty: they stay.
[[nodiscard]] Acquisition acquisition_of_detectors(const DetectorArray& array, std::span<const PassiveEvent> pulses = {},
                                                   std::span<const Pose> positions = {});

}  // namespace echoform
