// The scan line of a transmit event: the origin and the direction of its beam. Receive beamformers follow it.
//
// An event states how its elements fire, but no line. The line follows from the firings, so that recordings, streams and the
// simulated source need not state it twice:
//   origin     the aperture's centre: the mean of the places of the elements that fire, dead ones counted in, for they belong to
//              the aperture. Of an array that is not flat (a curvilinear one) it is moved along the line to where the elements
//              nearest to the line lie, since the mean of an arc's places lies behind it.
//   direction  towards the focus, away from the virtual source, along the plane wave's normal; of one element its own normal.
//              A law is given the spherical wave that its delays fit best: towards where it converges, or away from where it
//              comes from.
// An aperture that an array's end cuts off has its centre beside the beam that it was meant for: its line is tilted towards the
// focus, as its sound is.
#pragma once

#include <cstddef>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

/// Places of a beam lie at origin + range * direction, range >= 0.
struct ScanLine {
  Point origin;         ///< in the probe's frame (probe_frame.hpp)
  Direction direction;  ///< there too; of unit length

  constexpr auto operator<=>(const ScanLine&) const = default;
};

/// The line of `event`, below event_count() of a validated acquisition. `velocity` (m/s, above 0) is that of the medium: it turns
/// the slowness of a plane wave, and the delays of a law, into a direction; other forms do not heed it. Nothing where there is no
/// such line: a row of a code, a plane wave that cannot run on in the medium (|slowness| * velocity > 1), and a law whose delays
/// are off those of every wave by more than a quarter of a period of the probe's centre frequency (where that is unknown, of 10
/// MHz).
[[nodiscard]] std::optional<ScanLine> line_of_event(const Acquisition& acquisition, std::size_t event, MetresPerSecond velocity);

}  // namespace echoform
