// Rays, windows and delays of tiles of a volume through a curve that is extruded along an axis. A block has one tile of several
// planes, one after the other, and eight sources. Where the axis is that of the planes, the block searches for the rays in the
// curve's plane once. Newton's method continues from there to the first plane's pixels, and to every other plane's pixels from
// the rays to the previous plane, which usually takes one step. Rays that this does not determine for sure are left to the host.
#include "gpu/cuda_check.hpp"
#include "stages/beamform/ray_tile_functions.cuh"

namespace echoform::beamform {
namespace {

/// Number of planes of a block, as long as there are enough blocks for a large GPU.
constexpr std::uint32_t most_planes = 16;
constexpr std::uint32_t enough_blocks = 1024;

/// The data that is kept of a ray for the ray to the next plane.
struct KeptRay {
  std::uint32_t node;  ///< as in Turn
  float t;             ///< parameter on the piece that ends at `node`
  float part;          ///< part of the path along y; below 0: not known
};

struct OwnPlace {
  Vector2 at;
  double y;
};

__device__ OwnPlace in_axes(const SurfaceAxes& axes, const Pixel& pixel) {
  const Pixel from{pixel.at - Vector2{axes.origin.x, axes.origin.z}, pixel.y - axes.origin.y, true};
  return {{along_way(from, axes.x), along_way(from, axes.z)}, along_way(from, axes.y)};
}

/// Searches from all changes of sign of the slope in the plane. This is rare.
__device__ __noinline__ double search_ray(const DrawnRays& rays, const TileNodes& near, std::uint32_t source,
                                          const AcrossCurve& curve, const AcrossEnds& ends, float x, float z, KeptRay& kept) {
  AcrossTurns turns;
  for_turns(rays.curve, near, source, x, z, [&](std::uint32_t node, float start) {
    turns.add(curve, node, ends, start);
    if (turns.count == 1) kept = {node, start, -1.0F};
  });
  if (turns.count == 0) {
    kept.node = 0;
    return no_ray();
  }
  if (turns.count > 1) kept.node |= Turn::several;
  if (!turns.sure) return asked_time();
  if (turns.count == 1) kept = {turns.node, turns.least.t, turns.least.part};
  return turns.least.time;
}

__global__ void __launch_bounds__(ray_threads, 2)
    drawn_tiles(const __grid_constant__ RayTileTask task, const __grid_constant__ DrawnRays rays, std::uint32_t planes) {
  extern __shared__ double times[];  // [source, place]
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  auto* const kept_rays = reinterpret_cast<KeptRay*>(times + std::size_t{ray_sources} * pixels);  // [source, place] too
  const TileNodes near(kept_rays + std::size_t{ray_sources} * pixels, rays.curve.count);
  const std::uint32_t first = blockIdx.y * ray_sources;
  const std::uint32_t count = min(ray_sources, task.sources - first);
  const AcrossCurve curve{rays.curve.count,  rays.curve.nodes, rays.curve.pieces, rays.reaches,
                          rays.curve.before, rays.curve.after, rays.curve.sides};
  const std::uint32_t end = min(task.ny, (blockIdx.z + 1) * planes);
  Vector2 origin{};
  for (std::uint32_t plane = blockIdx.z * planes; plane < end; ++plane) {
    const std::uint32_t tile = plane * gridDim.x + blockIdx.x;
    if (!rays.along_y || plane == blockIdx.z * planes) {
      origin = in_axes(rays.axes, pixel_of(task, tile, 0)).at;
      near.load(rays.curve, origin, first, count);
      __syncthreads();
      for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
        const Vector2 at = in_axes(rays.axes, pixel_of(task, tile, place)).at - origin;
        Turn found[ray_sources];
        find_turns(rays.curve, near, static_cast<float>(at.x), static_cast<float>(at.z), found);
#pragma unroll
        for (std::uint32_t source = 0; source < ray_sources; ++source) {
          kept_rays[source * pixels + place] = {found[source].node, found[source].start, -1.0F};
        }
      }
    }
    // A thread has the same places here as in the loop above.
    for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
      const Pixel pixel = pixel_of(task, tile, place);
      const OwnPlace own = in_axes(rays.axes, pixel);
      for (std::uint32_t source = 0; source < count; ++source) {
        KeptRay& kept = kept_rays[source * pixels + place];
        double time = no_ray();
        if (pixel.inside && kept.node != 0) {
          const AcrossEnds ends{rays.curve.sources[first + source], own.at, own.y - rays.across[first + source]};
          bool sure = false;
          if ((kept.node & Turn::several) == 0) {
            const float part = kept.part < 0.0F ? flat_part(curve, kept.node, ends, kept.t) : kept.part;
            const AcrossRay ray = across_ray(curve, kept.node, ends, kept.t, part);
            sure = ray.sure;
            if (sure) {
              time = ray.time;
              kept.t = ray.t;
              kept.part = ray.part;
            }
          }
          if (!sure) {
            time = search_ray(rays, near, source, curve, ends, static_cast<float>(own.at.x - origin.x),
                              static_cast<float>(own.at.z - origin.z), kept);
          }
        }
        times[source * pixels + place] = time;
      }
    }
    __syncthreads();
    write_tables<true>(task, times, tile, first);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(ray_threads) asked_rows(const __grid_constant__ RayTileTask task, std::uint32_t rows) {
  const std::uint32_t row = blockIdx.x * ray_sources + threadIdx.x / 32;
  if (row >= rows) return;
  const std::uint64_t entry = task.asked.entries[row];
  const std::size_t pixels = std::size_t{task.shape_x} * task.shape_z;
  write_row<false>(task, task.asked.times + row * pixels, static_cast<std::uint32_t>(entry / task.sources),
                   static_cast<std::uint32_t>(entry % task.sources));
}

}  // namespace

std::size_t drawn_tile_bytes(const RayTileTask& task, std::uint32_t nodes) {
  return curve_tile_bytes(task, nodes) + std::size_t{ray_sources} * task.shape_x * task.shape_z * sizeof(KeptRay);
}

void prepare_drawn_tiles(std::size_t shared_limit) {
  ECHOFORM_CUDA(cudaFuncSetAttribute(drawn_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_limit)));
}

void launch_ray_tiles(const RayTileTask& task, const DrawnRays& rays, cudaStream_t stream) {
  const std::uint32_t in_plane = task.tiles_x * task.tiles_z;
  const std::uint32_t groups = (task.sources + ray_sources - 1) / ray_sources;
  std::uint32_t planes = most_planes;
  while (planes > 1 && std::size_t{in_plane} * groups * ((task.ny + planes - 1) / planes) < enough_blocks) planes /= 2;
  const dim3 blocks(in_plane, groups, (task.ny + planes - 1) / planes);
  drawn_tiles<<<blocks, ray_threads, drawn_tile_bytes(task, rays.curve.count), stream>>>(task, rays, planes);
  ECHOFORM_CUDA(cudaGetLastError());
}

void launch_asked_rows(const RayTileTask& task, std::uint32_t rows, cudaStream_t stream) {
  asked_rows<<<(rows + ray_sources - 1) / ray_sources, ray_threads, 0, stream>>>(task, rows);
  ECHOFORM_CUDA(cudaGetLastError());
}

}  // namespace echoform::beamform
