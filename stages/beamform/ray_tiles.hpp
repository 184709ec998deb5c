// Delay tables of rays through surfaces, made on the device that uses them.
#pragma once

#include <memory>

#include "pipeline/backend.hpp"
#include "stages/beamform/tile_plan.hpp"

namespace echoform::beamform {

/// Tables of one view, made on the device instead of by make_tile_plan() on the host. Both legs must be rays with a form
/// (RayField::form), without weights by apodization. For a curve that casts shadows, sources and pixels must lie in its
/// plane.
class RayTiles {
 public:
  virtual ~RayTiles() = default;

  /// Finds all rays, windows and delays anew, and waits for the results. Throws the errors of make_tile_plan().
  virtual void build() = 0;
  /// The outcome of build(): a plan without the tables of the sides, which stay on the device as long as this object lives.
  [[nodiscard]] virtual const TilePlan& plan() const noexcept = 0;
  [[nodiscard]] virtual TileSide transmit() const noexcept = 0;
  [[nodiscard]] virtual TileSide receive() const noexcept = 0;  ///< that of transmit() where TilePlan::one_side
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
};

/// Returns null where a view does not meet the conditions of RayTiles; then its tables are made on the host. `backend` is
/// CUDA's.
[[nodiscard]] std::unique_ptr<RayTiles> make_ray_tiles(const TilePlanRequest& request, Backend& backend);

}  // namespace echoform::beamform
