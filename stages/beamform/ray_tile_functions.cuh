// Shared by the kernels that find rays of tiles: pixels, tables of found times, and the search over a curve's nodes.
#pragma once

#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/ray_across_math.hpp"
#include "stages/beamform/ray_tile_kernels.hpp"
#include "stages/beamform/ray_turn_math.hpp"
#include "stages/beamform/tile_math.hpp"

namespace echoform::beamform {

/// Prepares the kernels of ray_tiles_drawn.cu and ray_tiles_shaded.cu.
void prepare_drawn_tiles(std::size_t shared_limit);
void prepare_shaded_tiles(std::size_t shared_limit);

struct Pixel {
  Vector2 at;
  double y;
  bool inside;
};

/// Moves a pixel that lies on a surface to the place where its rays go.
static __device__ __noinline__ void move_inside(const RayTileTask& task, std::size_t index, Pixel& pixel) {
  std::uint32_t low = 0;
  std::uint32_t high = task.moved_count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (task.moved[middle].pixel < index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const MovedPixel& moved = task.moved[low];
  pixel.at = {moved.x, moved.z};
  pixel.y = moved.y;
}

/// The pixel at a place of the tile. Places are patches of 8 x 4, row by row; places beyond the image repeat its last pixels.
__device__ inline Pixel pixel_of(const RayTileTask& task, std::uint32_t tile, std::uint32_t place) {
  const std::uint32_t across = task.shape_x / 8;
  std::uint32_t x = tile % task.tiles_x * task.shape_x + place / 32 % across * 8 + place % 8;
  std::uint32_t z = tile / task.tiles_x % task.tiles_z * task.shape_z + place / 32 / across * 4 + place % 32 / 8;
  const std::uint32_t y = tile / task.tiles_x / task.tiles_z;
  x = min(x, task.nx - 1);
  z = min(z, task.nz - 1);
  Pixel pixel{{task.x[x], task.z[z]}, task.y[y], true};
  if (task.sides == nullptr) return pixel;
  const std::size_t index = (std::size_t{z} * task.ny + y) * task.nx + x;
  const PartSide side = task.sides[index];
  pixel.inside = side != PartSide::outside;
  if (side == PartSide::on_surface) move_inside(task, index, pixel);
  return pixel;
}

__device__ inline double along_way(const Pixel& pixel, const Vector3& way) {
  return dot(pixel.at, Vector2{way.x, way.z}) + pixel.y * way.y;
}

__device__ inline double no_ray() {
  return __longlong_as_double(0x7ff8000000000000LL);
}

/// One warp computes tables from the times [place] of one tile and source, and overwrites the times. With `asking`, some times
/// may be asked_time(). Then all times of the source go only to the rows that the host completes, up to the capacity of these.
template <bool asking>
__device__ void write_row(const RayTileTask& task, double* row, std::uint32_t tile, std::uint32_t source) {
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t entry = std::size_t{tile} * task.sources + source;
  if constexpr (asking) {
    bool asked = false;
    for (std::uint32_t k = lane; k < pixels; k += 32) asked = asked || is_asked(row[k]);
    if (__any_sync(~0U, asked)) {
      std::uint32_t slot = 0;
      if (lane == 0) slot = atomicAdd(&task.flags->asked, 1U);
      slot = __shfl_sync(~0U, slot, 0);
      if (slot >= task.asked.most) return;
      if (lane == 0) task.asked.entries[slot] = entry;
      for (std::uint32_t k = lane; k < pixels; k += 32) task.asked.times[std::size_t{slot} * pixels + k] = row[k];
      return;
    }
  }
  double least = 1e300;
  double most = -1e300;
  bool invalid = false;
  bool bad = false;
  for (std::uint32_t k = lane; k < pixels; k += 32) {
    const double time = row[k];
    if (isnan(time)) {
      invalid = true;
      continue;
    }
    bad = bad || !(fabs(time) < 1.0);
    const double delay = fma(time, task.rate, task.offset);
    row[k] = delay;
    least = fmin(least, delay);
    most = fmax(most, delay);
  }
  for (int step = 16; step > 0; step /= 2) {
    least = fmin(least, __shfl_xor_sync(~0U, least, step));
    most = fmax(most, __shfl_xor_sync(~0U, most, step));
  }
  const bool some_bad = __any_sync(~0U, bad);
  const bool some_invalid = __any_sync(~0U, invalid);
  const bool far = least <= most && !(fabs(least) < delay_limit && fabs(most) < delay_limit);
  const bool empty = !(least <= most) || far || some_bad;
  const SourceWindow window = empty ? SourceWindow{0, -1} : window_between(least, most);
  if (lane == 0) {
    task.windows[entry] = window;
    if (some_bad) atomicMax(&task.flags->bad_source, source + 1);
    if (far) atomicMax(&task.flags->far_source, source + 1);
    if (some_invalid) task.flags->invalid = 1;
  }
  for (std::uint32_t k = lane; k < pixels; k += 32) {
    const double delay = row[k];
    const bool used = !empty && !isnan(delay);
    // Places of weight 0 look up the window's first sample.
    const double relative = used ? delay - window.base : 0.0;
    task.delays[entry * pixels + k] = static_cast<std::uint32_t>(floor(relative * task.unit));
    if (task.weights != nullptr) task.weights[entry * pixels + k] = used ? 1.0F : 0.0F;
  }
}

/// Makes tables from the times [source, place] in shared memory: warp w handles the block's source w.
template <bool asking>
__device__ void write_tables(const RayTileTask& task, double* times, std::uint32_t tile, std::uint32_t first_source) {
  const std::uint32_t source = first_source + threadIdx.x / 32;
  if (source >= task.sources) return;
  write_row<asking>(task, times + std::size_t{threadIdx.x / 32} * (task.shape_x * task.shape_z), tile, source);
}

/// A node relative to the tile's first pixel. So nodes near the pixel are exact in single precision.
struct NearNode {
  float x;
  float z;
  float tangent_x;
  float tangent_z;
};

/// The slope as in node_slope, by the approximate root. Where its error in the last places matters, a change of sign is found on
/// the adjacent piece.
__device__ inline float slope_of_way(const CurveRays& rays, const NearNode& node, float x, float z) {
  const float dx = node.x - x;
  const float dz = node.z - z;
  return rays.point_slowness * (node.tangent_x * dx + node.tangent_z * dz) * rsqrtf(dx * dx + dz * dz + 1e-30F);
}

/// A curve's nodes in shared memory.
struct TileNodes {
  NearNode* nodes;
  float* slopes;         ///< [node, source]
  std::uint8_t* joined;  ///< [node]

  /// Lays out the arrays from `begin` on, which is a multiple of 16 bytes.
  __device__ TileNodes(void* begin, std::uint32_t count)
      : nodes(static_cast<NearNode*>(begin)),
        slopes(reinterpret_cast<float*>(nodes + count)),
        joined(reinterpret_cast<std::uint8_t*>(slopes + ray_sources * count)) {}

  /// Loads the nodes and the slopes of `count` sources from `first` on. All threads of the block take part.
  __device__ void load(const CurveRays& rays, Vector2 origin, std::uint32_t first, std::uint32_t count) const {
    for (std::uint32_t n = threadIdx.x; n < rays.count; n += ray_threads) {
      const rays::CurveNode node = rays.nodes[n];
      nodes[n] = {static_cast<float>(node.at.x - origin.x), static_cast<float>(node.at.z - origin.z), node.tangent_x,
                  node.tangent_z};
      joined[n] = static_cast<std::uint8_t>(node.joined);
      for (std::uint32_t source = 0; source < ray_sources; ++source) {
        slopes[n * ray_sources + source] = source < count ? rays.slopes[std::size_t{first + source} * rays.count + n] : 1.0F;
      }
    }
  }
};

/// Calls turn(source, node, before, slope) for each of the block's sources where the slope changes sign between a node and the
/// one before: from `before`, below 0, to `slope` at `node`. The path leads to the place (x, z), relative to the origin of the
/// nodes.
template <class Take>
__device__ __forceinline__ void for_all_turns(const CurveRays& rays, const TileNodes& near, float x, float z, const Take& turn) {
  float before[ray_sources];
#pragma unroll
  for (std::uint32_t source = 0; source < ray_sources; ++source) before[source] = 1.0F;
  for (std::uint32_t n = 0; n < rays.count; ++n) {
    const float way = slope_of_way(rays, near.nodes[n], x, z);
    const bool leads_here = n > 0 && near.joined[n - 1] != 0;
    const float4 low = reinterpret_cast<const float4*>(near.slopes)[2 * n];
    const float4 high = reinterpret_cast<const float4*>(near.slopes)[2 * n + 1];
    const float slopes_here[ray_sources] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      const float slope = slopes_here[source] + way;
      if (before[source] < 0.0F && !(slope < 0.0F) && leads_here) turn(source, n, before[source], slope);
      before[source] = slope;
    }
  }
}

/// Finds the changes of sign for all of the block's sources, if each source has one at most.
__device__ __forceinline__ void find_turns(const CurveRays& rays, const TileNodes& near, float x, float z,
                                           Turn (&found)[ray_sources]) {
#pragma unroll
  for (std::uint32_t source = 0; source < ray_sources; ++source) found[source] = {0, 0.0F};
  for_all_turns(rays, near, x, z, [&](std::uint32_t source, std::uint32_t node, float before, float slope) {
    if (found[source].node != 0) {
      found[source].node |= Turn::several;
    } else {
      found[source].node = node;
      found[source].start = before / (before - slope);
    }
  });
}

/// Calls take(node, start) for one of the block's sources and every piece up to `node` on which the slope changes sign. This is
/// rare.
template <class Take>
__device__ __forceinline__ void for_turns(const CurveRays& rays, const TileNodes& near, std::uint32_t source, float x, float z,
                                          const Take& take) {
  float before = 1.0F;
  for (std::uint32_t n = 0; n < rays.count; ++n) {
    const float slope = near.slopes[n * ray_sources + source] + slope_of_way(rays, near.nodes[n], x, z);
    if (before < 0.0F && !(slope < 0.0F) && near.joined[n - 1] != 0) take(n, before / (before - slope));
    before = slope;
  }
}

}  // namespace echoform::beamform
