// Rays, windows and delays of tiles through a curve that casts shadows, in its plane. A block has one tile and eight sources. The
// search over the nodes is that of curves without shadows (ray_tiles.cu), but keeps several changes of sign (turns) per ray. Then
// the fastest ray counts whose two paths do not cross the curve; for nearly all rays, the directions alone rule out a crossing.
// The search is repeated from scratch for pixels near the curve, where nodes do not show all turns, and for rays with more turns
// than are kept. Both are rare.
#include "gpu/cuda_check.hpp"
#include "stages/beamform/ray_tile_functions.cuh"

namespace echoform::beamform {
namespace {

// These functions are not inlined: code that few rays need must not cost the others registers.

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

/// The minimum time of all rays that lie in no shadow. `from` is the block's source `source`, `to` the place (x, z).
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

/// The minimum time over the changes of sign that were kept, of the block's source `source`.
__device__ __forceinline__ double time_over(const ShadedRays& rays, const TileNodes& near, KeptTurns turns, std::uint32_t source,
                                            Vector2 from, Vector2 to, float x, float z) {
  const rays::CrossingEnds ends{from, to, rays.shaded.before, rays.shaded.after};
  double least = no_ray();
  for (std::uint32_t node = turns.take(); node != 0; node = turns.take()) {
    const auto slope_at = [&](std::uint32_t n) {
      return near.slopes[n * ray_sources + source] + slope_of_way(rays.curve, near.nodes[n], x, z);
    };
    const float before = slope_at(node - 1);
    const float start = before / (before - slope_at(node));
    const rays::FoundCrossing found = rays::ray_over(rays.shaded, ends, node - 1, start);
    if (!rays::is_quicker(found, least)) continue;
    if (rays::may_be_shaded(rays.shaded, ends, found) && lies_in_shadow(rays.shaded, from, to, node - 1, found.t)) continue;
    least = found.time;
  }
  return least;
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
    const auto x = static_cast<float>(pixel.at.x - origin.x);
    const auto z = static_cast<float>(pixel.at.z - origin.z);
    KeptTurns found[ray_sources];
    for_all_turns(rays.curve, near, x, z,
                  [&](std::uint32_t source, std::uint32_t node, float, float) { found[source].add(node); });
    const bool beside = rays::near_some(rays.shaded, pixel.at);
#pragma unroll
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      if (beside) found[source].nodes = KeptTurns::too_many;
      if (!pixel.inside) found[source].nodes = 0;
      times[source * pixels + place] = kept_as_time(found[source]);
    }
  }
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < count * pixels; k += ray_threads) {
    const KeptTurns turns = turns_kept_in(times[k]);
    const std::uint32_t source = k / pixels;
    const Vector2 to = pixel_of(task, blockIdx.x, k % pixels).at;
    const Vector2 from = rays.curve.sources[first + source];
    const auto x = static_cast<float>(to.x - origin.x);
    const auto z = static_cast<float>(to.z - origin.z);
    times[k] = turns.nodes == KeptTurns::too_many ? least_time(rays, near, source, from, to, x, z)
                                                  : time_over(rays, near, turns, source, from, to, x, z);
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
