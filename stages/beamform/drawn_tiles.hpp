// Tables of rays through a curve that is extruded along an axis. The device makes them, except for the rays that only the
// host can find.
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

  /// Fills the tables of `task`, whose flags are zero except for errors found earlier. Waits for the device, but not for the
  /// last kernel. The host uses threads of its own for the rays that it finds.
  void fill(RayTileTask task, const Grid& grid, const TileShape& shape, cudaStream_t stream);

  /// Bytes of device memory for rows with rays that the host finds.
  [[nodiscard]] std::size_t bytes() const noexcept { return entries_.size() + times_.size(); }

 private:
  [[nodiscard]] AskedRows room_for(std::size_t pixels);
  /// Completes `count` rows of task.asked on the host.
  void ask(const RayTileTask& task, std::uint32_t count, const Grid& grid, const TileShape& shape) const;

  DrawnRays rays_;
  const LegRays& of_leg_;
  Backend& backend_;
  Buffer asked_;    ///< number of rows, on the host
  Buffer entries_;  ///< of AskedRows
  Buffer times_;
};

}  // namespace echoform::beamform
