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

/// The space between two planes: least <= across . (p - from) <= most, in m. `across` has length 1.
struct Slab {
  Point from;
  Direction across;
  double least = 0.0;
  double most = 0.0;
};

/// The smallest box of pixels that holds every place within the grid's own box and all slabs; nothing where it holds no
/// pixel. Places at the very edge count as within, so that rounding does not matter.
[[nodiscard]] std::optional<GridPart> part_within(const Grid& grid, std::span<const Slab> slabs);

}  // namespace echoform
