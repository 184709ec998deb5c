// Lines of transmit events, from which a fan is made.
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

/// The line of an event, in global coordinates.
struct EventLine {
  std::uint32_t event = 0;
  Point origin;
  Direction direction;

  [[nodiscard]] double azimuth() const;
  [[nodiscard]] double elevation() const;
};

/// The value as messages show it: rounded, so that rounding errors of 0 disappear.
[[nodiscard]] inline double tidy(double value) {
  return std::round(value * 1e6) / 1e6 + 0.0;
}

/// Throws InputError, naming `where` and `what`, unless places are first + k * pitch to within half of the pitch. Messages
/// show them multiplied by `shown`, in `unit`.
void require_even(const std::vector<double>& places, double first, double pitch, std::string_view where, std::string_view what,
                  double shown, std::string_view unit);

/// Finds the apex of lines that meet and the distance of their origins from it; the first and the last line point apart.
/// Throws InputError for lines that do not meet.
void find_apex(LineFan& fan, const std::vector<EventLine>& lines, std::string_view where);

/// The grid of lines that do not all lie in the plane y = 0 and are not parallel. The rows have one elevation each and are
/// ordered by elevation; a row is ordered by azimuth. Throws InputError as make_lines() does.
[[nodiscard]] FannedLines make_grid(std::vector<EventLine> lines, const LinesOfEvent& of_event, std::string_view where);

}  // namespace echoform::event_lines
