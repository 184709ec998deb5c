// The arrangement of the elements that fire in an event, which decides the shape of the wave that they send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/probe_frame.hpp"

namespace echoform {

enum class FiringShape : std::uint8_t {
  row,    ///< on one line
  curve,  ///< on a curve in one plane, which holds the direction of emission: a convex array, or a row of one
  array   ///< in two directions
};

/// A shape, and the frame of coordinates that goes with it: elements of a row lie on its x axis, those of a curve in its plane of
/// x and z, to `flat_array_tolerance`; z is the direction of emission as far as it is across the row. The frame is that of the
/// probe for arrays, and wherever it serves: for a linear array, centred or not, and for any part of it.
struct FiringPlaces {
  FiringShape shape = FiringShape::array;
  ProbeFrame frame;
};

/// firings_of() without those of dead elements.
[[nodiscard]] std::vector<Firing> living_firings(const Acquisition& acquisition, std::size_t event);

/// The shape of the elements that `firings` name, and its frame; `frame` is frame_of(probe). A single element of a linear or
/// a convex array has the shape of that array; any other single element counts as an array.
[[nodiscard]] FiringPlaces places_of_firings(const Probe& probe, const ProbeFrame& frame, std::span<const Firing> firings);

/// The part of a plane wave's slowness that its elements send, s/m along x and y of `places.frame` (z is 0). Delays of a row
/// determine nothing across the row, and those of a curve nothing across its plane: in both cases y is 0. `frame` is
/// frame_of(probe).
[[nodiscard]] Direction sent_slowness(const PlaneWaveEvent& event, const ProbeFrame& frame, const FiringPlaces& places);

}  // namespace echoform
