// The places of an image's pixels.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"

namespace echoform {

/// `count` equally spaced pixel centres from `first` to `last`, both included (as numpy.linspace).
struct Axis {
  Metres first;
  Metres last;
  std::size_t count = 1;

  /// Centre of pixel `index`, 0 <= index < count.
  [[nodiscard]] Metres at(std::size_t index) const;
  /// Distance of neighbouring centres; 0 for a single pixel.
  [[nodiscard]] Metres spacing() const;

  constexpr auto operator<=>(const Axis&) const = default;
};

/// A 2-D grid has y.count == 1. Images are C order: [z, x]; volumes [z, y, x].
struct Grid {
  Axis x;
  Axis z;
  Axis y;

  [[nodiscard]] std::size_t pixels() const { return x.count * y.count * z.count; }
  /// Centre of the pixel at place `index` of the C-order image.
  [[nodiscard]] Point at(std::size_t index) const;
  /// All centres in image order.
  [[nodiscard]] std::vector<Point> points() const;

  constexpr auto operator<=>(const Grid&) const = default;
};

/// Throws InputError (naming `where`, e.g. "[grid]") unless every axis has at least one pixel, finite ends and
/// first < last (equal ends for one pixel), and the grid holds at most 2^28 pixels.
void validate(const Grid& grid, std::string_view where);

}  // namespace echoform
