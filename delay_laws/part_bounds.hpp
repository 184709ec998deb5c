// The surfaces between which the pixels of a leg lie.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry.hpp"
#include "base/grid.hpp"
#include "delay_laws/part_side.hpp"
#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

/// Where pixels of a leg may lie. Null: no bound.
struct PartBounds {
  std::shared_ptr<const Surface> front;                   ///< pixels lie below it
  std::shared_ptr<const Surface> backwall;                ///< and above this
  std::shared_ptr<const SpatialSurface> spatial_front{};  ///< in the place of `front`
  std::shared_ptr<const SpatialSurface> spatial_backwall{};

  /// Writes into `sides`, which has the same length, on which side each of `points` lies. A point counts as on a surface
  /// from 1 nm beyond it to 10 nm within.
  void sides(std::span<const Point> points, std::span<PartSide> sides) const;
  /// The place to which rays go for a point on a surface: 20 nm from the surface, within the part, so that a path leads
  /// there. Times to points on a surface are the limit of those below it, to 2e-8 m / c.
  [[nodiscard]] Point moved_inside(const Point& point) const;
};

/// The points of a run that lie in the part or on a surface of it.
struct PointsInPart {
  std::vector<std::size_t> number;  ///< among the points
  std::vector<Point> place;         ///< to where their rays go

  PointsInPart(const PartBounds& bounds, std::span<const Point> points);
};

/// The pixels of a grid, and where they lie.
struct PartPixels {
  struct Moved {
    std::size_t pixel;
    Point place;
  };
  std::vector<PartSide> sides;  ///< by pixel in image order
  std::vector<Moved> moved;     ///< those on a surface, ascending by pixel: to where their rays go

  [[nodiscard]] bool imaged(std::size_t pixel) const { return sides[pixel] != PartSide::outside; }
  /// The place to which the rays of a pixel of `grid` go.
  [[nodiscard]] Point place(const Grid& grid, std::size_t pixel) const;
};

/// Classifies all pixels of a grid, on `threads` threads (0: as many as processors).
[[nodiscard]] PartPixels pixels_in(const PartBounds& bounds, const Grid& grid, std::size_t threads);

}  // namespace echoform
