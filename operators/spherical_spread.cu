// Impulses of voxels to moments of cells: a lane is a detector, and has a window in time of its own in shared memory, so that
// nobody else adds to it: no atomics, no two lanes in one bank. Voxels of a tile come one after the other, the same for all
// lanes.
#include <algorithm>
#include <type_traits>

#include "gpu/cuda_check.hpp"
#include "gpu/device_probe.hpp"
#include "operators/spherical_launch.hpp"

namespace echoform::gpu {
namespace {

using spherical::CellPlace;
using spherical::HeardTile;
using spherical::Listener;
using spherical::moments;
using spherical::TileArrival;
using spherical::TilePlace;
using spherical::Tiles;

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr int pairs = moments / 2;
/// Low frequencies of rectangles are integrated: sums of millions of impulses want more digits than those of a tile.
constexpr std::size_t point_cell = 8 * sizeof(float);
constexpr std::size_t rectangle_cell = moments * sizeof(double);

/// Adds amplitude * u^k to the moments of a cell; `at` is its first pair, `stride` from one to the next.
__device__ __forceinline__ void add_impulse(float2* at, unsigned stride, float amplitude, float u) {
  const float m1 = amplitude * u;
  const float m2 = m1 * u;
  const float m3 = m2 * u;
  const float m4 = m3 * u;
  const float m5 = m4 * u;
  float2 a = at[0];
  float2 b = at[stride];
  float2 c = at[2 * stride];
  a.x += amplitude;
  a.y += m1;
  b.x += m2;
  b.y += m3;
  c.x += m4;
  c.y += m5;
  at[0] = a;
  at[stride] = b;
  at[2 * stride] = c;
}

/// The box * box of a voxel of a rectangle, as spherical_kernels_body.hpp has it.
__device__ __forceinline__ void add_boxes(const SphericalScene& scene, const HeardTile& heard, const float offset[3],
                                          const TileArrival& arrival, float value, float2* window, unsigned stride) {
  const std::int32_t cell = heard.base + spherical::cell_at(arrival.time).cell;
  if (cell < scene.first || cell > scene.last) return;
  const spherical::Box across =
      spherical::box_of(spherical::tile_time(heard.across, heard.across_slope, offset, arrival.loudness));
  const spherical::Box along = spherical::box_of(spherical::tile_time(heard.along, heard.along_slope, offset, arrival.loudness));
  float2* const grid = window + static_cast<unsigned>((across.integrals + along.integrals) * scene.tiles.window * pairs) * stride;
  const float amplitude = value * arrival.loudness;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    if (a >= across.count) break;
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (b >= along.count) break;
      const CellPlace at = spherical::cell_at(arrival.time + (across.shift[a] + along.shift[b]));
      add_impulse(grid + static_cast<unsigned>(at.cell * pairs) * stride, stride,
                  amplitude * (across.factor[a] * along.factor[b]), at.u);
    }
  }
}

/// Adds a cell of a window to its sum.
__device__ __forceinline__ void add_cell(float* sum, const float2& a, const float2& b, const float2& c) {
  auto* const at = reinterpret_cast<float4*>(sum);
  float4 low = at[0];
  float2 high = *reinterpret_cast<float2*>(at + 1);
  low.x += a.x;
  low.y += a.y;
  low.z += b.x;
  low.w += b.y;
  high.x += c.x;
  high.y += c.y;
  at[0] = low;
  *reinterpret_cast<float2*>(at + 1) = high;
}
__device__ __forceinline__ void add_cell(double* sum, const float2& a, const float2& b, const float2& c) {
  auto* const at = reinterpret_cast<double2*>(sum);
  const float2 parts[pairs] = {a, b, c};
#pragma unroll
  for (int n = 0; n < pairs; ++n) {
    double2 pair = at[n];
    pair.x += static_cast<double>(parts[n].x);
    pair.y += static_cast<double>(parts[n].y);
    at[n] = pair;
  }
}

/// `full`: all lanes have a detector.
template <bool rectangles, bool full>
__global__ void __launch_bounds__(warp) spread_tiles(const __grid_constant__ SpreadTask task) {
  extern __shared__ float2 windows[];  // [level][cell][pair][lane]
  const SphericalScene& scene = task.scene;
  const Tiles& tiles = scene.tiles;
  const unsigned lane = threadIdx.x;
  const unsigned lanes = full ? warp : static_cast<unsigned>(task.lanes);
  const auto part = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t q = static_cast<std::int32_t>(blockIdx.y * lanes + lane);
  const bool works = lane < lanes && q < scene.detectors;
  const Listener listener = scene.listeners[works ? q : scene.detectors - 1];
  const unsigned size = static_cast<unsigned>(scene.levels * tiles.window * pairs) * lanes;
  for (unsigned n = lane; n < size; n += warp) windows[n] = make_float2(0.0F, 0.0F);
  __syncwarp();

  float2* const window = windows + lane;
  const std::int64_t count = spherical::tiles_of(tiles);
  const auto begin = static_cast<std::int32_t>(count * part / task.parts);
  const auto end = static_cast<std::int32_t>(count * (part + 1) / task.parts);
  for (std::int32_t tile = begin; tile < end; ++tile) {
    const TilePlace place = spherical::tile_at(tiles, tile);
    const HeardTile heard = spherical::tile_heard_by(listener, scene.lattice, tiles, place, scene.shift);
    bool any = false;
    float offset[3];
    for (std::int32_t y = 0; y < place.count[1]; ++y) {
      offset[1] = spherical::tile_offset(tiles, 1, y);
      for (std::int32_t x = 0; x < place.count[0]; ++x) {
        // A column along z.
        const std::int64_t voxel =
            (static_cast<std::int64_t>(place.first[2] + static_cast<std::int32_t>(lane)) * tiles.voxels[1] + place.first[1] + y) *
                tiles.voxels[0] +
            place.first[0] + x;
        const float own = static_cast<std::int32_t>(lane) < place.count[2] ? task.image[voxel] : 0.0F;
        // Zeros add nothing.
        if (!__any_sync(all_lanes, own != 0.0F)) continue;
        any = true;
        offset[0] = spherical::tile_offset(tiles, 0, x);
        const float of_column = spherical::longer_by(heard, 1, offset[1], spherical::longer_by(heard, 0, offset[0], 0.0F));
#pragma unroll 4
        for (std::int32_t z = 0; z < place.count[2]; ++z) {
          const float value = __shfl_sync(all_lanes, own, z);
          offset[2] = spherical::tile_offset(tiles, 2, z);
          const TileArrival arrival =
              spherical::tile_arrival(heard, spherical::longer_by(heard, 2, offset[2], of_column), scene.least);
          if (!full && lane >= lanes) continue;
          if constexpr (rectangles) {
            add_boxes(scene, heard, offset, arrival, value, window, lanes);
          } else {
            const CellPlace at = spherical::cell_at(arrival.time);
            add_impulse(window + static_cast<unsigned>(at.cell * pairs) * lanes, lanes, value * arrival.loudness, at.u);
          }
        }
      }
    }
    if (!any || !works) continue;
    using Sum = std::conditional_t<rectangles, double, float>;
    constexpr std::size_t cell_values = rectangles ? rectangle_cell / sizeof(double) : point_cell / sizeof(float);
    for (std::int32_t level = 0; level < scene.levels; ++level) {
      Sum* const sums =
          static_cast<Sum*>(task.sums) +
          ((static_cast<std::size_t>(part) * static_cast<std::size_t>(scene.detectors) + static_cast<std::size_t>(q)) *
               static_cast<std::size_t>(scene.levels) +
           static_cast<std::size_t>(level)) *
              static_cast<std::size_t>(scene.length) * cell_values;
      for (std::int32_t cell = 0; cell < tiles.window; ++cell) {
        float2* const at = window + static_cast<unsigned>((level * tiles.window + cell) * pairs) * lanes;
        const float2 a = at[0];
        const float2 b = at[lanes];
        const float2 c = at[2 * lanes];
        at[0] = make_float2(0.0F, 0.0F);
        at[lanes] = make_float2(0.0F, 0.0F);
        at[2 * lanes] = make_float2(0.0F, 0.0F);
        const std::int32_t of_grid = heard.base + cell;
        // Impulses of rectangles are within transit of arrivals that count, and so on the grid.
        const std::int32_t lowest = rectangles ? 0 : scene.first;
        const std::int32_t highest = rectangles ? scene.length - 1 : scene.last;
        if (of_grid < lowest || of_grid > highest) continue;
        add_cell(sums + static_cast<std::size_t>(of_grid) * cell_values, a, b, c);
      }
    }
  }
}

template <bool rectangles>
__global__ void __launch_bounds__(256) sum_parts(const __grid_constant__ SumTask task) {
  const std::int64_t cells = static_cast<std::int64_t>(task.detectors) * task.levels * task.length;
  const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  double sums[moments] = {};
  for (std::int32_t part = 0; part < task.parts; ++part) {
    const std::int64_t at = part * cells + cell;
    if constexpr (rectangles) {
      const auto* const from = reinterpret_cast<const double2*>(static_cast<const double*>(task.sums) + at * moments);
#pragma unroll
      for (int n = 0; n < pairs; ++n) {
        const double2 pair = from[n];
        sums[2 * n] += pair.x;
        sums[2 * n + 1] += pair.y;
      }
    } else {
      const auto* const from = reinterpret_cast<const float4*>(static_cast<const float*>(task.sums) + at * 8);
      const float4 low = from[0];
      const float4 high = from[1];
      sums[0] += static_cast<double>(low.x);
      sums[1] += static_cast<double>(low.y);
      sums[2] += static_cast<double>(low.z);
      sums[3] += static_cast<double>(low.w);
      sums[4] += static_cast<double>(high.x);
      sums[5] += static_cast<double>(high.y);
    }
  }
  const std::int64_t grid = cell / task.length;
  float* const to = task.moments + grid * moments * task.length + cell % task.length;
#pragma unroll
  for (int k = 0; k < moments; ++k) to[static_cast<std::int64_t>(k) * task.length] = static_cast<float>(sums[k]);
}

using SpreadKernel = void (*)(SpreadTask);

SpreadKernel spread_kernel(const SphericalScene& scene, std::int32_t lanes) {
  const bool full = lanes == static_cast<std::int32_t>(warp);
  if (scene.levels > 1) return full ? &spread_tiles<true, true> : &spread_tiles<true, false>;
  return full ? &spread_tiles<false, true> : &spread_tiles<false, false>;
}

}  // namespace

std::size_t spread_cell_bytes(bool rectangles) {
  return rectangles ? rectangle_cell : point_cell;
}

std::size_t spread_bytes(const SphericalScene& scene, std::int32_t lanes) {
  return static_cast<std::size_t>(scene.levels) * static_cast<std::size_t>(scene.tiles.window) * pairs *
         static_cast<std::size_t>(lanes) * sizeof(float2);
}

std::int32_t spread_warps(const SphericalScene& scene, std::int32_t lanes) {
  const std::size_t bytes = spread_bytes(scene, lanes);
  const auto* const kernel = reinterpret_cast<const void*>(spread_kernel(scene, lanes));
  int device = 0;
  int processors = 0;
  int blocks = 0;
  // All that there is, not these bytes: other models on the device, made later, may have smaller windows.
  ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(block_memory())));
  ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  ECHOFORM_CUDA(cudaGetDevice(&device));
  ECHOFORM_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  ECHOFORM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, warp, bytes));
  return std::max(1, processors * blocks);
}

void queue_spread(const SpreadTask& task, cudaStream_t stream) noexcept {
  const dim3 blocks(static_cast<unsigned>(task.parts),
                    static_cast<unsigned>((task.scene.detectors + task.lanes - 1) / task.lanes));
  spread_kernel(task.scene, task.lanes)<<<blocks, warp, spread_bytes(task.scene, task.lanes), stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("spreading of voxels");
}

void queue_sums(const SumTask& task, cudaStream_t stream) noexcept {
  constexpr unsigned threads = 256;
  const std::int64_t cells = static_cast<std::int64_t>(task.detectors) * task.levels * task.length;
  const auto blocks = static_cast<unsigned>((cells + threads - 1) / threads);
  if (task.levels > 1) {
    sum_parts<true><<<blocks, threads, 0, stream>>>(task);
  } else {
    sum_parts<false><<<blocks, threads, 0, stream>>>(task);
  }
  ECHOFORM_CUDA_LAUNCHED("sums of parts");
}

}  // namespace echoform::gpu
