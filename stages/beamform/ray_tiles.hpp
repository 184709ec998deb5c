// Delay tables of rays through surfaces, made on the device that uses them.
#pragma once

#include <memory>

#include "pipeline/backend.hpp"
#include "stages/beamform/tile_plan.hpp"

namespace echoform::beamform {

/// Tables of one view on the device: what make_tile_plan() makes on the host, for views whose both legs are rays with a form
/// (RayField::form), without weights by apodization; over a curve that casts shadows in its plane alone.
class RayTiles {
 public:
  virtual ~RayTiles() = default;

  /// Finds all rays, windows and delays anew, and waits for them. Throws as make_tile_plan().
  virtual void build() = 0;
  /// The outcome of build(): `plan` without tables of the sides, which lie on the device, as long as this object lives.
  [[nodiscard]] virtual const TilePlan& plan() const noexcept = 0;
  [[nodiscard]] virtual TileSide transmit() const noexcept = 0;
  [[nodiscard]] virtual TileSide receive() const noexcept = 0;  ///< that of transmit() where TilePlan::one_side
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
};

/// Null where the view is not of that kind; then its tables are made on the host. `backend` is CUDA's.
[[nodiscard]] std::unique_ptr<RayTiles> make_ray_tiles(const TilePlanRequest& request, Backend& backend);

}  // namespace echoform::beamform
