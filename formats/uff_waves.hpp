// Waves as USTB's files state them, and the transmit events that they are here.
//
// USTB (https://github.com/runngezhang/ustb, +uff/wave.m and +midprocess/das.m) has a wave pass the origin of coordinates at its
// time 0, and a clock of the wave's own: sample n was taken at initial_time + n / sampling_frequency + delay. On the clock of the
// samples a wave is at the place p at
//
//     plane          n . p / c - delay                                n = (sin az cos el, sin el, cos az cos el)
//     spherical      (s |p - v| + o |v|) / c - delay                  s = -1 where p lies before the source v, else 1
//     photoacoustic  - delay                                          everywhere
//
// where o is -1 for sources deeper than 1 mm behind z = 0, and 1 for all others: foci, and the elements that fire alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"
#include "base/units.hpp"

namespace echoform::formats {

/// A point in spherical coordinates: distance (sin azimuth cos elevation, sin elevation, cos azimuth cos elevation).
struct UffPoint {
  double distance = 0.0;   ///< metres; infinite of what lies in a direction alone
  double azimuth = 0.0;    ///< radians
  double elevation = 0.0;  ///< radians
};
/// The unit vector towards `point`.
[[nodiscard]] Direction direction_to(const UffPoint& point);
/// The point in that direction at that distance.
[[nodiscard]] UffPoint point_towards(const Direction& direction, double distance);

enum class UffWavefront : std::uint8_t { plane, spherical, photoacoustic };

struct UffWave {
  UffWavefront wavefront = UffWavefront::spherical;
  UffPoint source;     ///< of a plane wave its direction
  double delay = 0.0;  ///< seconds
  double speed = 0.0;  ///< m/s, > 0
};

struct UffEvents {
  std::vector<TransmitEvent> events;  ///< empty: full matrix capture
  Seconds zero;                       ///< on the clock of the samples, when the events' time is 0
};

/// The events of `waves`, at least one. A source at an element is that element, which fires alone; where all are such, or light,
/// and fire at one time to within `same_time` seconds, the events count from then. Throws InputError, naming `where` and the
/// wave, for light beside other waves and at several times, and for plane waves that run away from the part.
[[nodiscard]] UffEvents events_of(std::span<const UffWave> waves, const Probe& probe, Seconds same_time,
                                  const std::string& where);

/// The waves of an acquisition that has passed validate(), of one position: plane waves are at the angles that they have at
/// `velocity`, which is > 0. Throws InputError, naming `where` and the event, for laws of several elements, codes, and plane
/// waves that cannot run on at that velocity.
[[nodiscard]] std::vector<UffWave> waves_of(const Acquisition& acquisition, MetresPerSecond velocity, const std::string& where);

}  // namespace echoform::formats
