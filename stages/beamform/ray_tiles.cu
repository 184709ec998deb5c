// Rays, windows and delays of tiles. A block has one tile and eight sources. First every thread finds the rays of its pixels, in
// double precision, and puts them into shared memory. Then every warp makes the window and the delays of one source from them.
#include "gpu/cuda_check.hpp"
#include "stages/beamform/ray_tile_functions.cuh"

namespace echoform::beamform {
namespace {

template <int slow>
__global__ void __launch_bounds__(ray_threads)
    layer_tiles(const __grid_constant__ RayTileTask task, const __grid_constant__ LayerRays rays) {
  extern __shared__ double times[];
  __shared__ rays::LayerSource sources[ray_sources];
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  const std::uint32_t first = blockIdx.y * ray_sources;
  const std::uint32_t count = min(ray_sources, task.sources - first);
  constexpr std::uint32_t words = sizeof(rays::LayerSource) / 8;
  for (std::uint32_t k = threadIdx.x; k < count * words; k += ray_threads) {
    reinterpret_cast<double*>(sources)[k] = reinterpret_cast<const double*>(rays.sources + first)[k];
  }
  __syncthreads();
  for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
    const Pixel pixel = pixel_of(task, blockIdx.x, place);
    const double along = along_way(pixel, rays.tangent);
    const double across = along_way(pixel, rays.across);
    const double last = rays.leaves * (along_way(pixel, rays.normal) - rays.depth);
    for (std::uint32_t source = 0; source < count; ++source) {
      double time = no_ray();
      if (pixel.inside && last >= 0.0 && sources[source].reached != 0.0) {
        const double way = along - sources[source].along;
        const double other = across - sources[source].across;
        const double lateral = sqrt(way * way + other * other);
        bool finished = false;
        time = rays::layer_ray<slow>(sources[source].stack, lateral, last, rays::usual_layer_steps, finished);
        if (!finished) time = rays::layer_ray<slow>(sources[source].stack, lateral, last, rays::most_layer_steps, finished);
      }
      times[source * pixels + place] = time;
    }
  }
  __syncthreads();
  write_tables<false>(task, times, blockIdx.x, first);
}

/// The time over the piece that ends at `node`, or NaN.
__device__ __forceinline__ double time_over(const CurveRays& rays, std::uint32_t node, Vector2 source, Vector2 point,
                                            float start) {
  const rays::CurvePiece piece = rays.pieces[node - 1];
  const rays::CrossingEnds ends{source, point, rays.before, rays.after};
  rays::FoundCrossing found = rays::find_crossing(piece, ends, rays.sides, start, rays::usual_crossing_steps);
  if (!found.finished) found = rays::find_crossing(piece, ends, rays.sides, start, rays::most_crossing_steps);
  return found.finished && found.on_its_way && found.time > 0.0 ? found.time : no_ray();
}

/// The minimum time over all pieces on which the slope changes sign.
__device__ __noinline__ double least_time(const CurveRays& rays, const TileNodes& near, std::uint32_t source, Vector2 from,
                                          Vector2 to, float x, float z) {
  double least = no_ray();
  for_turns(rays, near, source, x, z, [&](std::uint32_t node, float start) {
    const double time = time_over(rays, node, from, to, start);
    if (isnan(least) || time < least) least = time;
  });
  return least;
}

__global__ void __launch_bounds__(ray_threads, 3)
    curve_tiles(const __grid_constant__ RayTileTask task, const __grid_constant__ CurveRays rays) {
  extern __shared__ double times[];  // [source, place]
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  const TileNodes near(times + std::size_t{ray_sources} * pixels, rays.count);
  const std::uint32_t first = blockIdx.y * ray_sources;
  const std::uint32_t count = min(ray_sources, task.sources - first);
  const Vector2 origin = pixel_of(task, blockIdx.x, 0).at;
  near.load(rays, origin, first, count);
  __syncthreads();
  for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
    const Pixel pixel = pixel_of(task, blockIdx.x, place);
    Turn found[ray_sources];
    find_turns(rays, near, static_cast<float>(pixel.at.x - origin.x), static_cast<float>(pixel.at.z - origin.z), found);
#pragma unroll
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      if (!pixel.inside) found[source].node = 0;
      times[source * pixels + place] = kept_as_time(found[source]);
    }
  }
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < count * pixels; k += ray_threads) {
    const Turn turn = turn_kept_in(times[k]);
    const std::uint32_t source = k / pixels;
    const Vector2 point = pixel_of(task, blockIdx.x, k % pixels).at;
    double time = no_ray();
    if ((turn.node & Turn::several) != 0) {
      time = least_time(rays, near, source, rays.sources[first + source], point, static_cast<float>(point.x - origin.x),
                        static_cast<float>(point.z - origin.z));
    } else if (turn.node != 0) {
      time = time_over(rays, turn.node, rays.sources[first + source], point, turn.start);
    }
    times[k] = time;
  }
  __syncthreads();
  write_tables<false>(task, times, blockIdx.x, first);
}

dim3 blocks_of(const RayTileTask& task) {
  return dim3(task.tiles, (task.sources + ray_sources - 1) / ray_sources);
}

constexpr decltype(&layer_tiles<0>) layer_kernels[] = {&layer_tiles<0>, &layer_tiles<1>, &layer_tiles<2>, &layer_tiles<3>,
                                                       &layer_tiles<4>};
static_assert(std::size(layer_kernels) == rays::most_slow_layers + 1);

}  // namespace

std::size_t layer_tile_bytes(const RayTileTask& task) {
  return std::size_t{ray_sources} * task.shape_x * task.shape_z * sizeof(double);
}

std::size_t curve_tile_bytes(const RayTileTask& task, std::uint32_t nodes) {
  return layer_tile_bytes(task) + std::size_t{nodes} * (sizeof(NearNode) + ray_sources * sizeof(float) + 1);
}

void prepare_ray_tiles(std::size_t shared_limit) {
  ECHOFORM_CUDA(cudaFuncSetAttribute(curve_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_limit)));
  prepare_drawn_tiles(shared_limit);
  prepare_shaded_tiles(shared_limit);
}

void launch_ray_tiles(const RayTileTask& task, const LayerRays& rays, cudaStream_t stream) {
  layer_kernels[rays.slow]<<<blocks_of(task), ray_threads, layer_tile_bytes(task), stream>>>(task, rays);
  ECHOFORM_CUDA(cudaGetLastError());
}

void launch_ray_tiles(const RayTileTask& task, const CurveRays& rays, cudaStream_t stream) {
  curve_tiles<<<blocks_of(task), ray_threads, curve_tile_bytes(task, rays.count), stream>>>(task, rays);
  ECHOFORM_CUDA(cudaGetLastError());
}

}  // namespace echoform::beamform
