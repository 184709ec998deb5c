// The part of a grid that is imaged from one position of a scan.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/geometry.hpp"
#include "base/grid.hpp"

namespace echoform {

/// Pixels of a grid, from `first` on, `count` along x, y and z.
struct GridPart {
  std::array<std::size_t, 3> first{};
  std::array<std::size_t, 3> count{};
};

/// What lies between two planes: least <= across . (p - from) <= most, in m; `across` is of length 1.
struct Slab {
  Point from;
  Direction across;
  double least = 0.0;
  double most = 0.0;
};

/// The smallest box of pixels that holds every place within the grid's own box and all slabs; none where no pixel is in it. Of
/// places at the very edge rounding decides neither way: they count as within.
[[nodiscard]] std::optional<GridPart> part_within(const Grid& grid, std::span<const Slab> slabs);

}  // namespace echoform
