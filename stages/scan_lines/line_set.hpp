// The lines of an image and the data of each of their points, which a method passes by value to the stage that sums along them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/geometry.hpp"
#include "base/units.hpp"

namespace echoform {

/// A straight line of points origin + range * direction.
struct ImageLine {
  std::uint32_t event = 0;  ///< index in LineSet::events of the event whose A-scans are summed along the line
  Point origin;
  Direction direction;  ///< of unit length

  constexpr auto operator<=>(const ImageLine&) const = default;
};

/// A-scans of one transmit event: rows of the frame that follow each other, and the element that recorded each.
struct LineEvent {
  std::size_t first_row = 0;
  std::vector<std::uint32_t> receivers;  ///< by row: places in LineSet::elements

  auto operator<=>(const LineEvent&) const = default;
};

/// Ranges first + k * spacing, 0 <= k < count, the same for every line.
struct LineRanges {
  Metres first;    ///< >= 0
  Metres spacing;  ///< > 0
  std::size_t count = 0;

  [[nodiscard]] Metres at(std::size_t k) const { return first + static_cast<double>(k) * spacing; }

  constexpr auto operator<=>(const LineRanges&) const = default;
};

struct LineSet {
  std::vector<Point> elements;  ///< of the probe, in the coordinates of the lines
  std::vector<LineEvent> events;
  std::vector<ImageLine> lines;  ///< in the order of the image's rows
  LineRanges ranges;
  /// Seconds from t = 0 until the event's wave is at the point, [line, range].
  std::vector<double> transmit_times;
  /// Weights of receivers over the ranges, [table, range], each >= 0, and which table each receiver has on a line:
  /// [line, row of the line's event], one line after the other. Lines share tables. `unheard` receivers are left out.
  std::vector<float> weights;
  std::vector<std::uint32_t> weight_tables;

  static constexpr std::uint32_t unheard = ~std::uint32_t{0};

  auto operator<=>(const LineSet&) const = default;
};

}  // namespace echoform
