// Rays, windows and delays of tiles through a curve that casts shadows, in its plane. A block has one tile and eight sources. The
// search over the nodes is that of curves without shadows (ray_tiles.cu); then a ray counts if neither of its ways crosses the
// curve, which the directions of nearly all of them rule out. Of pixels that lie near to the curve, where nodes do not tell all
// turns, and of rays over several turns, all are looked at, one after the other: rare.
#include "gpu/cuda_check.hpp"
#include "stages/beamform/ray_tile_functions.cuh"

namespace echoform::beamform {
namespace {

// Out of line: what few rays need is to cost the others no registers.

__device__ __noinline__ bool lies_in_shadow(const rays::ShadedCurve& curve, Vector2 source, Vector2 point, std::uint32_t own,
                                            double t) {
  return rays::in_shadow(curve, {source, point, curve.before, curve.after}, own, t);
}

__device__ __noinline__ double less_over(const rays::ShadedCurve& curve, Vector2 source, Vector2 point, std::uint32_t own,
                                         double start, double least) {
  return rays::less_over(curve, {source, point, curve.before, curve.after}, own, start, least);
}

__device__ __noinline__ double less_near(const rays::ShadedCurve& curve, Vector2 source, Vector2 point, double least) {
  return rays::less_near(
      curve, {source, point, curve.before, curve.after}, least,
      [&](std::uint32_t own, double start, double so_far) { return less_over(curve, source, point, own, start, so_far); });
}

/// The least time of all rays that lie in no shadow. `from` is the block's source `source`, `to` the place (x, z).
__device__ __noinline__ double least_time(const ShadedRays& rays, const TileNodes& near, std::uint32_t source, Vector2 from,
                                          Vector2 to, float x, float z) {
  const auto turns = [&](const auto& take) {
    for_turns(rays.curve, near, source, x, z, [&](std::uint32_t node, float start) { take(node - 1, start); });
  };
  const double least = rays::less_elsewhere(
      rays.shaded, to, turns, no_ray(),
      [&](std::uint32_t own, double start, double so_far) { return less_over(rays.shaded, from, to, own, start, so_far); });
  return less_near(rays.shaded, from, to, least);
}

/// The time over the only turn, on the piece up to `node`, or NaN.
__device__ __forceinline__ double time_over(const rays::ShadedCurve& curve, std::uint32_t node, Vector2 from, Vector2 to,
                                            float start) {
  const rays::CrossingEnds ends{from, to, curve.before, curve.after};
  const rays::FoundCrossing found = rays::ray_over(curve, ends, node - 1, start);
  if (!rays::is_quicker(found, no_ray())) return no_ray();
  if (rays::may_be_shaded(curve, ends, found) && lies_in_shadow(curve, from, to, node - 1, found.t)) return no_ray();
  return found.time;
}

__global__ void __launch_bounds__(ray_threads, 3)
    shaded_tiles(const __grid_constant__ RayTileTask task, const __grid_constant__ ShadedRays rays) {
  extern __shared__ double times[];  // [source, place]
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  const TileNodes near(times + std::size_t{ray_sources} * pixels, rays.curve.count);
  const std::uint32_t first = blockIdx.y * ray_sources;
  const std::uint32_t count = min(ray_sources, task.sources - first);
  const Vector2 origin = pixel_of(task, blockIdx.x, 0).at;
  near.load(rays.curve, origin, first, count);
  __syncthreads();
  for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
    const Pixel pixel = pixel_of(task, blockIdx.x, place);
    Turn found[ray_sources];
    find_turns(rays.curve, near, static_cast<float>(pixel.at.x - origin.x), static_cast<float>(pixel.at.z - origin.z), found);
    // As if there were several turns: then all are looked at.
    const std::uint32_t beside = rays::near_some(rays.shaded, pixel.at) ? Turn::several : 0;
#pragma unroll
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      found[source].node = pixel.inside ? found[source].node | beside : 0;
      times[source * pixels + place] = kept_as_time(found[source]);
    }
  }
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < count * pixels; k += ray_threads) {
    const Turn turn = turn_kept_in(times[k]);
    const std::uint32_t source = k / pixels;
    const Vector2 point = pixel_of(task, blockIdx.x, k % pixels).at;
    const Vector2 from = rays.curve.sources[first + source];
    double time = no_ray();
    if ((turn.node & Turn::several) != 0) {
      time = least_time(rays, near, source, from, point, static_cast<float>(point.x - origin.x),
                        static_cast<float>(point.z - origin.z));
    } else if (turn.node != 0) {
      time = time_over(rays.shaded, turn.node, from, point, turn.start);
    }
    times[k] = time;
  }
  __syncthreads();
  write_tables<false>(task, times, blockIdx.x, first);
}

}  // namespace

void prepare_shaded_tiles(std::size_t shared_limit) {
  ECHOFORM_CUDA(cudaFuncSetAttribute(shaded_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_limit)));
}

void launch_ray_tiles(const RayTileTask& task, const ShadedRays& rays, cudaStream_t stream) {
  const dim3 blocks(task.tiles, (task.sources + ray_sources - 1) / ray_sources);
  shaded_tiles<<<blocks, ray_threads, curve_tile_bytes(task, rays.curve.count), stream>>>(task, rays);
  ECHOFORM_CUDA(cudaGetLastError());
}

}  // namespace echoform::beamform
