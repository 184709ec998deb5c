// Between which surfaces the pixels of a leg lie.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/geometry.hpp"
#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

/// Where pixels of a leg may lie. Null: no bound.
struct PartBounds {
  std::shared_ptr<const Surface> front;                   ///< pixels lie below it
  std::shared_ptr<const Surface> backwall;                ///< and above this
  std::shared_ptr<const SpatialSurface> spatial_front{};  ///< in the place of `front`
  std::shared_ptr<const SpatialSurface> spatial_backwall{};

  /// 1 for each point that lies in the part, by more than 1 nm; else 0. Same length.
  void holds(std::span<const Point> points, std::span<std::uint8_t> inside) const;
};

}  // namespace echoform
