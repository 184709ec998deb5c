// The transpose of spherical_spread.cu. A thread has the voxels of a column of a tile. It adds the values of detectors' fields at
// the voxels' arrivals, detector after detector. Windows of fields are in shared memory, for several detectors at a time.
#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "gpu/device_probe.hpp"
#include "operators/spherical_launch.hpp"

namespace echoform::gpu {
namespace {

using spherical::CellPlace;
using spherical::HeardTile;
using spherical::moments;
using spherical::tile_edge;
using spherical::TileArrival;
using spherical::TilePlace;
using spherical::Tiles;

constexpr unsigned threads = tile_edge * tile_edge;
constexpr unsigned warps = threads / 32;
constexpr std::int32_t most_at_a_time = 8;  // detectors
/// Number of floats from a cell of a window to the next. It is odd: cells less than 32 apart are in different banks, whichever
/// moment is read.
constexpr std::int32_t cell_stride = moments + 1;

std::size_t field_bytes(const SphericalScene& scene) {
  return static_cast<std::size_t>(scene.levels * cell_stride) * static_cast<std::size_t>(scene.tiles.window) * sizeof(float);
}

/// Sum over moments k of field * u^k.
__device__ __forceinline__ float field_at(const float* field, const CellPlace& at) {
  const float* const cell = field + at.cell * cell_stride;
  float sum = cell[5];
  sum = fmaf(sum, at.u, cell[4]);
  sum = fmaf(sum, at.u, cell[3]);
  sum = fmaf(sum, at.u, cell[2]);
  sum = fmaf(sum, at.u, cell[1]);
  return fmaf(sum, at.u, cell[0]);
}

__device__ __forceinline__ float boxes_at(const SphericalScene& scene, const HeardTile& heard, const float offset[3],
                                          const TileArrival& arrival, const float* field) {
  const std::int32_t cell = heard.base + spherical::cell_at(arrival.time).cell;
  if (cell < scene.first || cell > scene.last) return 0.0F;
  const spherical::Box across =
      spherical::box_of(spherical::tile_time(heard.across, heard.across_slope, offset, arrival.loudness));
  const spherical::Box along = spherical::box_of(spherical::tile_time(heard.along, heard.along_slope, offset, arrival.loudness));
  const float* const grid = field + (across.integrals + along.integrals) * scene.tiles.window * cell_stride;
  float sum = 0.0F;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    if (a >= across.count) break;
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (b >= along.count) break;
      const CellPlace at = spherical::cell_at(arrival.time + (across.shift[a] + along.shift[b]));
      sum = fmaf(across.factor[a] * along.factor[b], field_at(grid, at), sum);
    }
  }
  return sum;
}

template <bool rectangles>
__global__ void __launch_bounds__(threads, rectangles ? 2 : 3)
    gather_tiles(const __grid_constant__ GatherTask task, std::int32_t at_a_time) {
  extern __shared__ float fields[];  // [detector][level][cell of the window][moment]
  __shared__ HeardTile heard_by[most_at_a_time];
  const SphericalScene& scene = task.scene;
  const Tiles& tiles = scene.tiles;
  const std::int32_t window = tiles.window;
  const std::int32_t planes = scene.levels * moments;
  const TilePlace place = spherical::tile_at(tiles, static_cast<std::int32_t>(blockIdx.x));
  const auto x = static_cast<std::int32_t>(threadIdx.x) % tile_edge;
  const auto y = static_cast<std::int32_t>(threadIdx.x) / tile_edge;
  const bool inside = x < place.count[0] && y < place.count[1];
  float offset[3] = {spherical::tile_offset(tiles, 0, x), spherical::tile_offset(tiles, 1, y), 0.0F};
  const std::int64_t plane = static_cast<std::int64_t>(tiles.voxels[0]) * tiles.voxels[1];
  float* const column = task.image + static_cast<std::int64_t>(place.first[2]) * plane +
                        static_cast<std::int64_t>(place.first[1] + y) * tiles.voxels[0] + place.first[0] + x;
  float sums[tile_edge];
#pragma unroll
  for (int z = 0; z < tile_edge; ++z) {
    sums[z] = inside && z < place.count[2] ? column[z * plane] : 0.0F;
  }

  for (std::int32_t begin = 0; begin < scene.detectors; begin += at_a_time) {
    const std::int32_t count = min(at_a_time, scene.detectors - begin);
    __syncthreads();  // other threads may still read the windows
    if (static_cast<std::int32_t>(threadIdx.x) < count) {
      heard_by[threadIdx.x] = spherical::tile_heard_by(scene.listeners[begin + static_cast<std::int32_t>(threadIdx.x)],
                                                       scene.lattice, tiles, place, scene.shift);
    }
    __syncthreads();
    const std::int32_t lowest = rectangles ? 0 : scene.first;
    const std::int32_t highest = rectangles ? scene.length - 1 : scene.last;
    for (auto row = static_cast<std::int32_t>(threadIdx.x / 32); row < count * planes; row += warps) {
      const std::int32_t n = row / planes;
      const std::int32_t base = heard_by[n].base;
      const float* const from =
          task.fields + (static_cast<std::int64_t>(begin) * planes + row) * scene.length;  // [detector][plane]
      float* const to = fields + row / moments * window * cell_stride + row % moments;
      for (auto cell = static_cast<std::int32_t>(threadIdx.x % 32); cell < window; cell += 32) {
        const std::int32_t of_grid = base + cell;
        to[cell * cell_stride] = of_grid >= lowest && of_grid <= highest ? from[of_grid] : 0.0F;
      }
    }
    __syncthreads();
    if (!inside) continue;
    for (std::int32_t n = 0; n < count; ++n) {
      const HeardTile heard = heard_by[n];
      const float* const field = fields + n * scene.levels * window * cell_stride;
      const float of_column = spherical::longer_by(heard, 1, offset[1], spherical::longer_by(heard, 0, offset[0], 0.0F));
      const auto add = [&](int z) {
        offset[2] = spherical::tile_offset(tiles, 2, z);
        const TileArrival arrival =
            spherical::tile_arrival(heard, spherical::longer_by(heard, 2, offset[2], of_column), scene.least);
        if constexpr (rectangles) {
          sums[z] = fmaf(arrival.loudness, boxes_at(scene, heard, offset, arrival, field), sums[z]);
        } else {
          sums[z] = fmaf(arrival.loudness, field_at(field, spherical::cell_at(arrival.time)), sums[z]);
        }
      };
      // Without a branch at each voxel, the work on one voxel hides the latency of another.
      if (!rectangles && place.count[2] == tile_edge) {
#pragma unroll
        for (int z = 0; z < tile_edge; ++z) add(z);
      } else {
#pragma unroll
        for (int z = 0; z < tile_edge; ++z) {
          if (z >= place.count[2]) break;
          add(z);
        }
      }
    }
  }
  if (!inside) return;
#pragma unroll
  for (int z = 0; z < tile_edge; ++z) {
    if (z < place.count[2]) column[z * plane] = sums[z];
  }
}

/// Number of detectors whose windows a block holds, chosen such that several blocks fit.
std::int32_t detectors_at_a_time(const SphericalScene& scene) {
  constexpr std::size_t wanted = 48 * 1024 - most_at_a_time * sizeof(HeardTile);
  return static_cast<std::int32_t>(std::clamp<std::size_t>(wanted / field_bytes(scene), 1, most_at_a_time));
}

}  // namespace

bool allow_gather(const SphericalScene& scene) {
  const void* const kernel =
      scene.levels > 1 ? reinterpret_cast<const void*>(&gather_tiles<true>) : reinterpret_cast<const void*>(&gather_tiles<false>);
  cudaFuncAttributes its{};
  ECHOFORM_CUDA(cudaFuncGetAttributes(&its, kernel));
  const std::size_t most = block_memory() - its.sharedSizeBytes;
  if (field_bytes(scene) * static_cast<std::size_t>(detectors_at_a_time(scene)) > most) return false;
  // The limit is set to all that the device has, not to these bytes: models made later on the device may have smaller windows.
  ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)));
  return true;
}

void queue_gather(const GatherTask& task, cudaStream_t stream) noexcept {
  const std::int32_t at_a_time = detectors_at_a_time(task.scene);
  const std::size_t bytes = field_bytes(task.scene) * static_cast<std::size_t>(at_a_time);
  const auto blocks = static_cast<unsigned>(spherical::tiles_of(task.scene.tiles));
  if (task.scene.levels > 1) {
    gather_tiles<true><<<blocks, threads, bytes, stream>>>(task, at_a_time);
  } else {
    gather_tiles<false><<<blocks, threads, bytes, stream>>>(task, at_a_time);
  }
  ECHOFORM_CUDA_LAUNCHED("gathering of fields");
}

}  // namespace echoform::gpu
