// Launches of the CUDA beamformer.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

/// Allows the kernel that `launch` names as much shared memory as it needs. Called once, at set-up. Throws RuntimeFault.
void prepare_tiles(const TileLaunch& launch);
/// Queues the sum over all tiles and, where it is split or there are several launches, the sum of the parts, in their order.
/// All launches are prepared, and differ only in sources, rows and splits. Partial images lie one after the other in
/// `partial`.
void launch_tiles(std::span<const TileLaunch> launches, cudaStream_t stream) noexcept;

/// What a file of kernels offers: the function for a launch, and the bytes of shared memory that it needs.
struct TileFunction {
  const void* kernel = nullptr;
  std::size_t shared = 0;
};
[[nodiscard]] TileFunction half_tile_function(const TileLaunch& launch);
[[nodiscard]] TileFunction float_tile_function(const TileLaunch& launch);
[[nodiscard]] TileFunction separate_tile_function(const TileLaunch& launch);  ///< where `separate`
[[nodiscard]] TileFunction listed_tile_function(const TileLaunch& launch);    ///< for PairOrder::listed, whatever the counts
[[nodiscard]] TileFunction plane_tile_function(const TileLaunch& launch);     ///< where `plane`, whatever the counts
[[nodiscard]] TileFunction turned_tile_function(const TileLaunch& launch);    ///< where `plane` and `turned`, likewise
[[nodiscard]] TileFunction gather_function(const TileLaunch& launch);

}  // namespace echoform::beamform
