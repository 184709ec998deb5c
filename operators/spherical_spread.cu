// Impulses of voxels to moments of cells: a lane is a detector, and has a window in time of its own in shared memory, so that
// nobody else adds to it: no atomics, no two lanes in one bank. Voxels of a part of a tile come one after the other, the same for
// all lanes. Windows are those of parts so that many warps have room: they wait for their memory most of the time.
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
using spherical::part_edge;
using spherical::tile_edge;
using spherical::TileArrival;
using spherical::TilePlace;
using spherical::Tiles;

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr unsigned but_sign = 0x7FFFFFFFU;
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
  float2* const grid =
      window + static_cast<unsigned>((across.integrals + along.integrals) * scene.tiles.part_window * pairs) * stride;
  const float amplitude = value * arrival.loudness;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    if (a >= across.count) break;
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (b >= along.count) break;
      const CellPlace at = spherical::cell_at(arrival.time + (across.shift[a] + along.shift[b]));
      add_impulse(grid + at.cell * pairs * static_cast<std::int32_t>(stride), stride,
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

/// Adds a window whose cell 0 is `base` of the grid in time to the sums of its part of the image, and clears it.
template <bool rectangles>
__device__ __forceinline__ void add_window(const SpreadTask& task, std::int32_t q, std::int32_t part, std::int32_t base,
                                           float2* window, unsigned lanes) {
  const SphericalScene& scene = task.scene;
  const Tiles& tiles = scene.tiles;
  using Sum = std::conditional_t<rectangles, double, float>;
  constexpr std::size_t cell_values = rectangles ? rectangle_cell / sizeof(double) : point_cell / sizeof(float);
  for (std::int32_t level = 0; level < scene.levels; ++level) {
    Sum* const sums =
        static_cast<Sum*>(task.sums) +
        ((static_cast<std::size_t>(part) * static_cast<std::size_t>(scene.detectors) + static_cast<std::size_t>(q)) *
             static_cast<std::size_t>(scene.levels) +
         static_cast<std::size_t>(level)) *
            static_cast<std::size_t>(scene.length) * cell_values;
    for (std::int32_t cell = 0; cell < tiles.part_window; ++cell) {
      float2* const at = window + static_cast<unsigned>((level * tiles.part_window + cell) * pairs) * lanes;
      const float2 a = at[0];
      const float2 b = at[lanes];
      const float2 c = at[2 * lanes];
      at[0] = make_float2(0.0F, 0.0F);
      at[lanes] = make_float2(0.0F, 0.0F);
      at[2 * lanes] = make_float2(0.0F, 0.0F);
      const std::int32_t of_grid = base + cell;
      // Impulses of rectangles are within transit of arrivals that count, and so on the grid.
      const std::int32_t lowest = rectangles ? 0 : scene.first;
      const std::int32_t highest = rectangles ? scene.length - 1 : scene.last;
      if (of_grid < lowest || of_grid > highest) continue;
      add_cell(sums + static_cast<std::size_t>(of_grid) * cell_values, a, b, c);
    }
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
  const unsigned size = static_cast<unsigned>(scene.levels * tiles.part_window * pairs) * lanes;
  for (unsigned n = lane; n < size; n += warp) windows[n] = make_float2(0.0F, 0.0F);
  __syncwarp();

  float2* const window = windows + lane;
  // Voxels of a part [y][x][z], behind the windows, aligned.
  auto* const voxels = reinterpret_cast<float4*>(windows + (size + 1) / 2 * 2);
  const std::int64_t count = spherical::tiles_of(tiles);
  const auto begin = static_cast<std::int32_t>(count * part / task.parts);
  const auto end = static_cast<std::int32_t>(count * (part + 1) / task.parts);
  const std::int64_t plane = static_cast<std::int64_t>(tiles.voxels[0]) * tiles.voxels[1];
  for (std::int32_t tile = begin; tile < end; ++tile) {
    const TilePlace place = spherical::tile_at(tiles, tile);
    const HeardTile heard = spherical::tile_heard_by(listener, scene.lattice, tiles, place, scene.shift);
    constexpr std::int32_t along = tile_edge / part_edge;
    for (std::int32_t n = 0; n < along * along * along; ++n) {
      const std::int32_t first[3] = {n % along * part_edge, n / along % along * part_edge, n / along / along * part_edge};
      if (first[0] >= place.count[0] || first[1] >= place.count[1] || first[2] >= place.count[2]) continue;
      __syncwarp();      // who still reads the voxels before
      unsigned any = 0;  // bits of voxels
#pragma unroll
      for (std::int32_t half = 0; half < 2; ++half) {
        const std::int32_t x = first[0] + static_cast<std::int32_t>(lane) % part_edge;
        const std::int32_t y = first[1] + static_cast<std::int32_t>(lane) / part_edge + half * (part_edge / 2);
        const bool inside = x < place.count[0] && y < place.count[1];
        const float* const column = task.image + (place.first[2] + first[2]) * plane +
                                    static_cast<std::int64_t>(place.first[1] + y) * tiles.voxels[0] + place.first[0] + x;
        float of_column[part_edge];
#pragma unroll
        for (std::int32_t z = 0; z < part_edge; ++z) {
          of_column[z] = inside && first[2] + z < place.count[2] ? column[z * plane] : 0.0F;
          any |= __float_as_uint(of_column[z]);
        }
        float4* const to = voxels + 2 * (static_cast<std::int32_t>(lane) + half * 32);
        to[0] = make_float4(of_column[0], of_column[1], of_column[2], of_column[3]);
        to[1] = make_float4(of_column[4], of_column[5], of_column[6], of_column[7]);
      }
      __syncwarp();
      // Zeros add nothing.
      if (!__any_sync(all_lanes, (any & but_sign) != 0)) continue;
      if (!full && lane >= lanes) continue;
      const std::int32_t first_cell = spherical::part_begin(heard, tiles, first, scene.least);
      // Cells are told from the part's window on.
      float2* const of_tile = window - first_cell * static_cast<std::int32_t>(lanes) * pairs;
      float offset[3];
      for (std::int32_t of_plane = 0; of_plane < part_edge * part_edge; ++of_plane) {
        const float4 low = voxels[2 * of_plane];
        const float4 high = voxels[2 * of_plane + 1];
        const float values[part_edge] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        unsigned bits = 0;
#pragma unroll
        for (const float value : values) bits |= __float_as_uint(value);
        if ((bits & but_sign) == 0) continue;
        offset[0] = spherical::tile_offset(tiles, 0, first[0] + of_plane % part_edge);
        offset[1] = spherical::tile_offset(tiles, 1, first[1] + of_plane / part_edge);
        const float of_column = spherical::longer_by(heard, 1, offset[1], spherical::longer_by(heard, 0, offset[0], 0.0F));
        const auto add = [&](std::int32_t z, float value) {
          offset[2] = spherical::tile_offset(tiles, 2, first[2] + z);
          const TileArrival arrival =
              spherical::tile_arrival(heard, spherical::longer_by(heard, 2, offset[2], of_column), scene.least);
          if constexpr (rectangles) {
            add_boxes(scene, heard, offset, arrival, value, of_tile, lanes);
          } else {
            const CellPlace at = spherical::cell_at(arrival.time);
            add_impulse(of_tile + at.cell * pairs * static_cast<std::int32_t>(lanes), lanes, value * arrival.loudness, at.u);
          }
        };
        // Voxels beyond the grid's end are 0, and would be outside of the window.
        const std::int32_t column_end = min(part_edge, place.count[2] - first[2]);
        if (rectangles || column_end < part_edge) {
#pragma unroll 1
          for (std::int32_t z = 0; z < column_end; ++z) add(z, reinterpret_cast<const float*>(voxels + 2 * of_plane)[z]);
        } else {
#pragma unroll
          for (std::int32_t z = 0; z < part_edge; ++z) add(z, values[z]);
        }
      }
      if (!works) continue;
      add_window<rectangles>(task, q, part, heard.base + first_cell, window, lanes);
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
  return static_cast<std::size_t>(scene.levels) * static_cast<std::size_t>(scene.tiles.part_window) * pairs *
             static_cast<std::size_t>(lanes) * sizeof(float2) +
         sizeof(float2) + part_edge * part_edge * part_edge * sizeof(float);
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
