// What lies between the probe and the pixels: couplant or wedge, the part's front surface and its backwall.
#pragma once

#include <memory>

#include "base/geometry.hpp"
#include "base/units.hpp"
#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

struct Scene {
  MetresPerSecond couplant{};               ///< velocity in the couplant or wedge; 0 where there is none
  std::shared_ptr<const Surface> surface;   ///< front surface; null: z = 0 where one is needed
  std::shared_ptr<const Surface> backwall;  ///< null where there is none
  /// Front surface in three dimensions, in the place of `surface`, which is null then.
  std::shared_ptr<const SpatialSurface> spatial_surface{};
  /// Likewise in the place of `backwall`.
  std::shared_ptr<const SpatialSurface> spatial_backwall{};

  [[nodiscard]] bool has_backwall() const { return backwall != nullptr || spatial_backwall != nullptr; }

  /// Distance of a place from the front surface, or from z = 0 where there is none; positive below it.
  [[nodiscard]] double below_front(const Point& place) const;
};

}  // namespace echoform
