// Lines of transmit events on their way to a fan.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"
#include "methods/beams/line_fan.hpp"

namespace echoform::event_lines {

inline constexpr double same_angle = 1e-4;    // radians
inline constexpr double beside_line = 10e-6;  // metres
inline constexpr double uneven = 0.5;         // of the pitch: farther off, another event would be the nearest
inline constexpr double shown_degrees = 180.0 / std::numbers::pi;

/// Of an event, in global coordinates.
struct EventLine {
  std::uint32_t event = 0;
  Point origin;
  Direction direction;

  [[nodiscard]] double azimuth() const;
  [[nodiscard]] double elevation() const;
};

/// As messages show it: without rounding's traces of what is 0.
[[nodiscard]] inline double tidy(double value) {
  return std::round(value * 1e6) / 1e6 + 0.0;
}

/// Throws InputError, naming `where` and `what`, unless places are first + k * pitch to half of it; they are told times
/// `shown`, in `unit`.
void require_even(const std::vector<double>& places, double first, double pitch, std::string_view where, std::string_view what,
                  double shown, std::string_view unit);

/// Of lines that meet, of which the first and the last point apart: the apex and the distance of the origins from it. Throws
/// InputError for lines that do not.
void find_apex(LineFan& fan, const std::vector<EventLine>& lines, std::string_view where);

/// Lines that do not all lie in the plane y = 0, and are not parallel: in rows of one elevation each, by elevation, and in a row
/// by azimuth. Throws InputError as make_lines() does.
[[nodiscard]] FannedLines make_grid(std::vector<EventLine> lines, const LinesOfEvent& of_event, std::string_view where);

}  // namespace echoform::event_lines
