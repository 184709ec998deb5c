// Adds impulses of voxels to moments of cells. Each lane has one detector, and its own window in time in shared memory. So no
// other lane adds to it: there are no atomics, and no two lanes use one bank. The voxels of a tile come one after the other, the
// same for all lanes.
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
using spherical::tile_edge;
using spherical::TileArrival;
using spherical::TilePlace;
using spherical::Tiles;

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr int pairs = moments / 2;
/// Low frequencies of rectangles are integrated, so sums of millions of impulses need more digits than those of a tile.
constexpr std::size_t point_cell = 8 * sizeof(float);
constexpr std::size_t rectangle_cell = moments * sizeof(double);

/// Adds amplitude * u^k to the moments of a cell. `at` is its first pair, `stride` the distance from one pair to the next.
__device__ __forceinline__ void add_impulse(float2* at, unsigned stride, float amplitude, float u) {
  const float u2 = u * u;
  const float u3 = u2 * u;
  const float u4 = u2 * u2;
  const float u5 = u2 * u3;
  float2 a = at[0];
  float2 b = at[stride];
  float2 c = at[2 * stride];
  a.x += amplitude;
  a.y = fmaf(amplitude, u, a.y);
  b.x = fmaf(amplitude, u2, b.x);
  b.y = fmaf(amplitude, u3, b.y);
  c.x = fmaf(amplitude, u4, c.x);
  c.y = fmaf(amplitude, u5, c.y);
  at[0] = a;
  at[stride] = b;
  at[2 * stride] = c;
}

/// Adds the signal of a voxel at a rectangular detector: the convolution of two boxes in time, one for each side of the
/// rectangle, as for_each_impulse() of spherical_kernels_body.hpp makes it.
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

/// Six moments of a cell, in the format of the sums.
struct PointSum {
  float4 low;
  float2 high;

  __device__ __forceinline__ void load(const float* from) {
    low = *reinterpret_cast<const float4*>(from);
    high = *reinterpret_cast<const float2*>(from + 4);
  }
  __device__ __forceinline__ void add(const float2& a, const float2& b, const float2& c) {
    low.x += a.x;
    low.y += a.y;
    low.z += b.x;
    low.w += b.y;
    high.x += c.x;
    high.y += c.y;
  }
  __device__ __forceinline__ void store(float* to) const {
    *reinterpret_cast<float4*>(to) = low;
    *reinterpret_cast<float2*>(to + 4) = high;
  }
};
struct RectangleSum {
  double2 parts[pairs];

  __device__ __forceinline__ void load(const double* from) {
#pragma unroll
    for (int n = 0; n < pairs; ++n) parts[n] = reinterpret_cast<const double2*>(from)[n];
  }
  __device__ __forceinline__ void add(const float2& a, const float2& b, const float2& c) {
    const float2 pair[pairs] = {a, b, c};
#pragma unroll
    for (int n = 0; n < pairs; ++n) {
      parts[n].x += static_cast<double>(pair[n].x);
      parts[n].y += static_cast<double>(pair[n].y);
    }
  }
  __device__ __forceinline__ void store(double* to) const {
#pragma unroll
    for (int n = 0; n < pairs; ++n) reinterpret_cast<double2*>(to)[n] = parts[n];
  }
};

/// Adds a window to the sums of its part of the image, and clears it. The window's cell 0 is `base` of the grid in time. Several
/// cells are read together, so that one wait for the device's memory serves all of them.
template <bool rectangles>
__device__ __forceinline__ void add_window(const SpreadTask& task, std::int32_t q, std::int32_t part, std::int32_t base,
                                           float2* window, unsigned lanes) {
  const SphericalScene& scene = task.scene;
  using Sum = std::conditional_t<rectangles, RectangleSum, PointSum>;
  using Value = std::conditional_t<rectangles, double, float>;
  constexpr std::size_t cell_values = (rectangles ? rectangle_cell : point_cell) / sizeof(Value);
  constexpr int together = rectangles ? 2 : 6;
  // Impulses of rectangles are within transit of arrivals that count, and therefore on the grid.
  const std::int32_t lowest = rectangles ? 0 : scene.first;
  const std::int32_t highest = rectangles ? scene.length - 1 : scene.last;
  const std::int32_t cells = scene.tiles.window;
  for (std::int32_t level = 0; level < scene.levels; ++level) {
    Value* const sums =
        static_cast<Value*>(task.sums) +
        ((static_cast<std::size_t>(part) * static_cast<std::size_t>(scene.detectors) + static_cast<std::size_t>(q)) *
             static_cast<std::size_t>(scene.levels) +
         static_cast<std::size_t>(level)) *
            static_cast<std::size_t>(scene.length) * cell_values;
    for (std::int32_t first = 0; first < cells; first += together) {
      Sum sum[together];
      bool counts[together];
#pragma unroll
      for (int n = 0; n < together; ++n) {
        const std::int32_t of_grid = base + first + n;
        counts[n] = first + n < cells && of_grid >= lowest && of_grid <= highest;
        if (counts[n]) sum[n].load(sums + static_cast<std::size_t>(of_grid) * cell_values);
      }
#pragma unroll
      for (int n = 0; n < together; ++n) {
        if (first + n >= cells) break;
        float2* const at = window + static_cast<unsigned>((level * cells + first + n) * pairs) * lanes;
        const float2 a = at[0];
        const float2 b = at[lanes];
        const float2 c = at[2 * lanes];
        at[0] = make_float2(0.0F, 0.0F);
        at[lanes] = make_float2(0.0F, 0.0F);
        at[2 * lanes] = make_float2(0.0F, 0.0F);
        if (counts[n]) sum[n].add(a, b, c);
      }
#pragma unroll
      for (int n = 0; n < together; ++n) {
        if (counts[n]) sum[n].store(sums + static_cast<std::size_t>(base + first + n) * cell_values);
      }
    }
  }
}

/// Adds the voxels of a tile; false if all are zeros. Each half of the warp holds a column along z, and reads the next one before
/// the warp works on the current ones: waiting for the device's memory at each column took a tenth of the time.
template <bool rectangles, bool full>
__device__ __forceinline__ bool add_tile(const SphericalScene& scene, const float* image, const TilePlace& place,
                                         const HeardTile& heard, float2* window, unsigned lane, unsigned lanes) {
  constexpr std::int32_t columns = warp / tile_edge;
  constexpr std::int32_t in_row = tile_edge / columns;
  const Tiles& tiles = scene.tiles;
  const std::int32_t own_z = static_cast<std::int32_t>(lane) % tile_edge;
  const std::int32_t own_column = static_cast<std::int32_t>(lane) / tile_edge;
  const float* const own =
      image + (static_cast<std::int64_t>(place.first[2] + own_z) * tiles.voxels[1] + place.first[1]) * tiles.voxels[0] +
      place.first[0] + own_column;
  const auto read = [&](std::int32_t n) {
    const std::int32_t x = n % in_row * columns;
    const std::int32_t y = n / in_row;
    const bool there = own_z < place.count[2] && x + own_column < place.count[0] && y < place.count[1];
    return there ? own[y * tiles.voxels[0] + x] : 0.0F;
  };
  bool any = false;
  float next = read(0);
  for (std::int32_t n = 0; n < place.count[1] * in_row; ++n) {
    const float values = next;
    next = read(n + 1);
    // Zeros add nothing.
    if (!__any_sync(all_lanes, values != 0.0F)) continue;
    any = true;
    float offset[3];
    offset[1] = spherical::tile_offset(tiles, 1, n / in_row);
    for (std::int32_t column = 0; column < columns; ++column) {
      const std::int32_t x = n % in_row * columns + column;
      if (x >= place.count[0]) break;
      offset[0] = spherical::tile_offset(tiles, 0, x);
      const float of_column = spherical::longer_by(heard, 1, offset[1], spherical::longer_by(heard, 0, offset[0], 0.0F));
      const auto add = [&](std::int32_t z) {
        const float value = __shfl_sync(all_lanes, values, column * tile_edge + z);
        offset[2] = spherical::tile_offset(tiles, 2, z);
        const TileArrival arrival =
            spherical::tile_arrival(heard, spherical::longer_by(heard, 2, offset[2], of_column), scene.least);
        if (!full && lane >= lanes) return;
        if constexpr (rectangles) {
          add_boxes(scene, heard, offset, arrival, value, window, lanes);
        } else {
          const CellPlace at = spherical::cell_at(arrival.time);
          add_impulse(window + static_cast<unsigned>(at.cell * pairs) * lanes, lanes, value * arrival.loudness, at.u);
        }
      };
      // Without a branch at each voxel, the work on one voxel hides the latency of another.
      if (!rectangles && place.count[2] == tile_edge) {
#pragma unroll
        for (std::int32_t z = 0; z < tile_edge; ++z) add(z);
      } else {
#pragma unroll 1
        for (std::int32_t z = 0; z < place.count[2]; ++z) add(z);
      }
    }
  }
  return any;
}

/// `full`: every lane has a detector.
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
    if (add_tile<rectangles, full>(scene, task.image, place, heard, window, lane, lanes) && works)
      add_window<rectangles>(task, q, part, heard.base, window, lanes);
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
  // The limit is set to all that the device has, not to these bytes: models made later on the device may have smaller windows.
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
