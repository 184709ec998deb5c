// Tables of rays through a curve that is drawn out along an axis: made on the device, but for the rays that only the host can
// tell.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"
#include "pipeline/backend.hpp"
#include "stages/beamform/ray_tile_kernels.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

class DrawnTiles {
 public:
  /// `of_leg` has the same rays on the host; it and `backend` outlive this object.
  DrawnTiles(const DrawnRays& rays, const LegRays& of_leg, Backend& backend);

  /// Fills the tables of `task`, whose flags are zeros but for what went wrong already; waits for the device, but not for the
  /// last kernel. The host has threads of its own for what it is asked.
  void fill(RayTileTask task, const Grid& grid, const TileShape& shape, cudaStream_t stream);

  /// On the device, for rows with rays that the host is asked for.
  [[nodiscard]] std::size_t bytes() const noexcept { return entries_.size() + times_.size(); }

 private:
  [[nodiscard]] AskedRows room_for(std::size_t pixels);
  /// Completes `count` rows of task.asked.
  void ask(const RayTileTask& task, std::uint32_t count, const Grid& grid, const TileShape& shape) const;

  DrawnRays rays_;
  const LegRays& of_leg_;
  Backend& backend_;
  Buffer asked_;    ///< how many rows, on the host
  Buffer entries_;  ///< of AskedRows
  Buffer times_;
};

}  // namespace echoform::beamform
