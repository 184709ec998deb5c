// The arrangement of the lines of an image: a sector whose lines meet in a point, in a plane or in space, or parallel lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

enum class FanShape : std::uint8_t { sector, parallel };

/// Evenly spaced lines. The lines of a sector lie in the plane of x and z or, for a matrix array, at azimuths and
/// elevations in space: azimuth a and elevation b is the direction (sin a cos b, sin b, cos a cos b). Parallel lines lie in
/// the plane of x and z.
struct LineFan {
  FanShape shape = FanShape::sector;
  std::size_t lines = 0;  ///< number of all lines, [elevation, azimuth]
  double first = 0.0;     ///< sector: azimuth of line 0, radians; else x of its origin in m
  double pitch = 0.0;     ///< > 0; 0 where there is one azimuth
  Point apex;             ///< sector: the point where its lines meet; else the origin of line 0
  Metres radius;          ///< sector: distance from the apex to the lines' origins
  double angle = 0.0;     ///< angle of parallel lines
  std::size_t elevations = 1;
  double first_elevation = 0.0;  ///< radians
  double elevation_pitch = 0.0;  ///< > 0; 0 where there is one elevation

  [[nodiscard]] std::size_t azimuths() const { return lines / elevations; }
  [[nodiscard]] bool volume() const { return elevations > 1 && azimuths() > 1; }
  /// Whether the fan is a plane of one azimuth, which contains y and the direction ahead.
  [[nodiscard]] bool across() const { return elevations > 1 && azimuths() == 1; }
  [[nodiscard]] double at(std::size_t line) const { return first + static_cast<double>(line % azimuths()) * pitch; }
  [[nodiscard]] double elevation_at(std::size_t line) const {
    return first_elevation + static_cast<double>(line / azimuths()) * elevation_pitch;
  }
  /// Line k, without its event.
  [[nodiscard]] ImageLine line(std::size_t k) const;
  /// The point of a display image that shows a place. A volume shows it where it is, a plane by x and z, and a plane of one
  /// azimuth by y and the distance ahead. Lines of one elevation are seen along y.
  [[nodiscard]] Point shown(const Point& place) const;
};

struct FannedLines {
  LineFan fan;
  std::vector<ImageLine> lines;  ///< in the fan's order
};

/// The numbers of lines that are formed of each event, beside each other.
struct LinesOfEvent {
  std::size_t azimuths = 1;
  std::size_t elevations = 1;
};

/// The lines of `events` of an acquisition, `of_event` of each. If an event has K lines along an axis, its line k lies
/// beside it by (k - (K - 1) / 2) / K of the distance of neighbouring events. The image's lines are even, and delays are
/// those of the event's wave to these lines. The events' own lines are even only to within half of their distance: lines of
/// an aperture that moves by whole elements are not quite even, nor are plane waves of even angles at another velocity.
///
/// Throws InputError, naming `where`, for events that no line follows from, and for lines that
/// - are less even than that,
/// - neither meet in a point nor are parallel (to 1e-4 of a radian and 10 um),
/// - leave the plane y = 0 and are parallel or of a single row of elements,
/// - are no grid of azimuths and elevations.
[[nodiscard]] FannedLines make_lines(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                     const LinesOfEvent& of_event, MetresPerSecond velocity, std::string_view where);

/// The fans of an image. If events have parallel lines of several angles (to 1e-4 of a radian), at least two of each, there
/// is a fan of each angle, ordered by angle. Otherwise there is the one fan that make_lines() makes of all. Throws as
/// make_lines() does.
[[nodiscard]] std::vector<FannedLines> make_fans(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                                 const LinesOfEvent& of_event, MetresPerSecond velocity, std::string_view where);

}  // namespace echoform
