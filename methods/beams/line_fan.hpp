// How the lines of an image lie to each other: a sector whose lines meet in a point, in a plane or in space, or parallel lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

enum class FanShape : std::uint8_t { sector, parallel };

/// Evenly spaced lines. A sector's lie in the plane of x and z or, of a matrix array, at azimuths and elevations in space:
/// azimuth a and elevation b is the direction (sin a cos b, sin b, cos a cos b). Parallel ones lie in the plane of x and z.
struct LineFan {
  FanShape shape = FanShape::sector;
  std::size_t lines = 0;  ///< all: [elevation, azimuth]
  double first = 0.0;     ///< of a sector: azimuth of line 0, radians; else x of its origin in m
  double pitch = 0.0;     ///< > 0; of one azimuth 0
  Point apex;             ///< of a sector: where its lines meet; else the origin of line 0
  Metres radius;          ///< of a sector: from there to the lines' origins
  double angle = 0.0;     ///< of parallel lines
  std::size_t elevations = 1;
  double first_elevation = 0.0;  ///< radians
  double elevation_pitch = 0.0;  ///< > 0; of one elevation 0

  [[nodiscard]] std::size_t azimuths() const { return lines / elevations; }
  [[nodiscard]] bool volume() const { return elevations > 1 && azimuths() > 1; }
  /// Whether it is a plane of one azimuth, that of y and what lies ahead.
  [[nodiscard]] bool across() const { return elevations > 1 && azimuths() == 1; }
  [[nodiscard]] double at(std::size_t line) const { return first + static_cast<double>(line % azimuths()) * pitch; }
  [[nodiscard]] double elevation_at(std::size_t line) const {
    return first_elevation + static_cast<double>(line / azimuths()) * elevation_pitch;
  }
  /// Without its event.
  [[nodiscard]] ImageLine line(std::size_t k) const;
  /// Where a display image has a place: a volume where it is; a plane by x and z; that of one azimuth by y and what lies ahead.
  /// Lines of one elevation are seen along y.
  [[nodiscard]] Point shown(const Point& place) const;
};

struct FannedLines {
  LineFan fan;
  std::vector<ImageLine> lines;  ///< in the fan's order
};

/// Lines that are formed of each event, beside each other.
struct LinesOfEvent {
  std::size_t azimuths = 1;
  std::size_t elevations = 1;
};

/// The lines of `events` of an acquisition, `of_event` of each: of K along an axis, line k of an event lies at (k - (K - 1) / 2)
/// / K of the distance of neighbouring events beside it. The image's lines are even, and delays are those of the event's wave to
/// them. The events' own lines are so to half of their distance: those of an aperture that moves by whole elements are not quite
/// even, nor plane waves of even angles at another velocity. Throws InputError, naming `where`, for events that no line follows
/// from, and for lines that are less even, neither meet in a point nor are parallel (to 1e-4 of a radian and 10 um), leave the
/// plane y = 0 and are parallel or of a single row of elements, or are no grid of azimuths and elevations.
[[nodiscard]] FannedLines make_lines(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                     const LinesOfEvent& of_event, MetresPerSecond velocity, std::string_view where);

/// The fans of an image: where events have parallel lines of several angles (to 1e-4 of a radian), at least two of each, a fan of
/// each angle, by angle; else the one that make_lines() makes of all. Throws as make_lines() does.
[[nodiscard]] std::vector<FannedLines> make_fans(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                                 const LinesOfEvent& of_event, MetresPerSecond velocity, std::string_view where);

}  // namespace echoform
