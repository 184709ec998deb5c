// How the lines of an image lie to each other: a sector whose lines meet in a point, or parallel lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

enum class FanShape : std::uint8_t { sector, parallel };

/// Evenly spaced lines in the plane of x and z.
struct LineFan {
  FanShape shape = FanShape::sector;
  std::size_t lines = 0;
  double first = 0.0;  ///< of a sector: angle of line 0 from +z towards +x, radians; else x of its origin in m
  double pitch = 0.0;  ///< > 0
  Point apex;          ///< of a sector: where its lines meet; else the origin of line 0
  Metres radius;       ///< of a sector: from there to the lines' origins
  double angle = 0.0;  ///< of parallel lines

  [[nodiscard]] double at(std::size_t line) const { return first + static_cast<double>(line) * pitch; }
  /// Without its event.
  [[nodiscard]] ImageLine line(std::size_t k) const;
};

struct FannedLines {
  LineFan fan;
  std::vector<ImageLine> lines;  ///< in the fan's order
};

/// The lines of `events` of an acquisition, `of_event` of each: line k of an event lies at (k - (of_event - 1) / 2) / of_event of
/// the distance of neighbouring events beside it. Throws InputError, naming `where`, for events that no line follows from, lines
/// that are not evenly spaced (to a quarter of their distance: plane waves of
/// even angles are not quite even at another velocity, and delays are those of the lines as they lie), do not lie in the plane of
/// x and z, or neither meet in a point nor are parallel (to 1e-4 of a radian and 10 um).
[[nodiscard]] FannedLines make_lines(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                     std::size_t of_event, MetresPerSecond velocity, std::string_view where);

/// The fans of an image: where events have parallel lines of several angles (to 1e-4 of a radian), at least two of each, a fan of
/// each angle, by angle; else the one that make_lines() makes of all. Throws as make_lines() does.
[[nodiscard]] std::vector<FannedLines> make_fans(const Acquisition& acquisition, const std::vector<std::uint32_t>& events,
                                                 std::size_t of_event, MetresPerSecond velocity, std::string_view where);

}  // namespace echoform
