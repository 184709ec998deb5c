// Rays, windows and delays of tiles. A block has one tile and eight sources: first every thread finds the rays of its pixels, in
// double precision, into shared memory; then every warp makes the window and the delays of one source of them.
#include "gpu/cuda_check.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/ray_tile_kernels.hpp"
#include "stages/beamform/ray_turn_math.hpp"
#include "stages/beamform/tile_math.hpp"

namespace echoform::beamform {
namespace {

struct Pixel {
  Vector2 at;
  double y;
  bool inside;
};

/// The pixel at a place of the tile: patches of 8 x 4, row by row; places beyond the image repeat its last pixels.
__device__ Pixel pixel_of(const RayTileTask& task, std::uint32_t place) {
  const std::uint32_t across = task.shape_x / 8;
  std::uint32_t x = blockIdx.x % task.tiles_x * task.shape_x + place / 32 % across * 8 + place % 8;
  std::uint32_t z = blockIdx.x / task.tiles_x % task.tiles_z * task.shape_z + place / 32 / across * 4 + place % 32 / 8;
  const std::uint32_t y = blockIdx.x / task.tiles_x / task.tiles_z;
  x = min(x, task.nx - 1);
  z = min(z, task.nz - 1);
  const bool inside = task.inside == nullptr || task.inside[(std::size_t{z} * task.ny + y) * task.nx + x] != 0;
  return {{task.x[x], task.z[z]}, task.y[y], inside};
}

__device__ double along_way(const Pixel& pixel, const Vector3& way) {
  return dot(pixel.at, Vector2{way.x, way.z}) + pixel.y * way.y;
}

__device__ double no_ray() {
  return __longlong_as_double(0x7ff8000000000000LL);
}

/// From times [source, place] in shared memory to tables: warp w has the block's source w.
__device__ void write_tables(const RayTileTask& task, double* times, std::uint32_t first_source) {
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t source = first_source + threadIdx.x / 32;
  if (source >= task.sources) return;
  double* const row = times + std::size_t{threadIdx.x / 32} * pixels;
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
  const std::size_t entry = std::size_t{blockIdx.x} * task.sources + source;
  if (lane == 0) {
    task.windows[entry] = window;
    if (some_bad) atomicMax(&task.flags->bad_source, source + 1);
    if (far) atomicMax(&task.flags->far_source, source + 1);
    if (some_invalid) task.flags->invalid = 1;
  }
  for (std::uint32_t k = lane; k < pixels; k += 32) {
    const double delay = row[k];
    const bool used = !empty && !isnan(delay);
    // Places that weigh nothing look up the window's first sample.
    const double relative = used ? delay - window.base : 0.0;
    task.delays[entry * pixels + k] = static_cast<std::uint32_t>(floor(relative * task.unit));
    if (task.weights != nullptr) task.weights[entry * pixels + k] = used ? 1.0F : 0.0F;
  }
}

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
    const Pixel pixel = pixel_of(task, place);
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
  write_tables(task, times, first);
}

/// A node relative to the tile's first pixel, which keeps those near to it exact in single precision.
struct NearNode {
  float x;
  float z;
  float tangent_x;
  float tangent_z;
};

/// As node_slope, by the approximate root: where it errs, in the last places, a turn is found on the piece beside.
__device__ float slope_of_way(const CurveRays& rays, const NearNode& node, float x, float z) {
  const float dx = node.x - x;
  const float dz = node.z - z;
  return rays.point_slowness * (node.tangent_x * dx + node.tangent_z * dz) * rsqrtf(dx * dx + dz * dz + 1e-30F);
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

/// The least time over all pieces on which the slope turns: rare.
__device__ __noinline__ double least_time(const CurveRays& rays, const NearNode* nodes, const float* slopes,
                                          const std::uint8_t* joined, Vector2 source, Vector2 point, float x, float z) {
  double least = no_ray();
  float before = 1.0F;
  for (std::uint32_t n = 0; n < rays.count; ++n) {
    const float slope = slopes[n * ray_sources] + slope_of_way(rays, nodes[n], x, z);
    if (before < 0.0F && !(slope < 0.0F) && joined[n - 1] != 0) {
      const double time = time_over(rays, n, source, point, before / (before - slope));
      if (isnan(least) || time < least) least = time;
    }
    before = slope;
  }
  return least;
}

__global__ void __launch_bounds__(ray_threads, 3)
    curve_tiles(const __grid_constant__ RayTileTask task, const __grid_constant__ CurveRays rays) {
  extern __shared__ double times[];  // [source, place]
  const std::uint32_t pixels = task.shape_x * task.shape_z;
  auto* const nodes = reinterpret_cast<NearNode*>(times + std::size_t{ray_sources} * pixels);
  auto* const slopes = reinterpret_cast<float*>(nodes + rays.count);                        // [node, source]
  auto* const joined = reinterpret_cast<std::uint8_t*>(slopes + ray_sources * rays.count);  // [node]
  const std::uint32_t first = blockIdx.y * ray_sources;
  const std::uint32_t count = min(ray_sources, task.sources - first);
  const Vector2 origin = pixel_of(task, 0).at;
  for (std::uint32_t n = threadIdx.x; n < rays.count; n += ray_threads) {
    const rays::CurveNode node = rays.nodes[n];
    nodes[n] = {static_cast<float>(node.at.x - origin.x), static_cast<float>(node.at.z - origin.z), node.tangent_x,
                node.tangent_z};
    joined[n] = static_cast<std::uint8_t>(node.joined);
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      slopes[n * ray_sources + source] = source < count ? rays.slopes[std::size_t{first + source} * rays.count + n] : 1.0F;
    }
  }
  __syncthreads();
  for (std::uint32_t place = threadIdx.x; place < pixels; place += ray_threads) {
    const Pixel pixel = pixel_of(task, place);
    const auto x = static_cast<float>(pixel.at.x - origin.x);
    const auto z = static_cast<float>(pixel.at.z - origin.z);
    float before[ray_sources];
    Turn found[ray_sources];
#pragma unroll
    for (std::uint32_t source = 0; source < ray_sources; ++source) {
      before[source] = 1.0F;
      found[source] = {0, 0.0F};
    }
    for (std::uint32_t n = 0; n < rays.count; ++n) {
      const float way = slope_of_way(rays, nodes[n], x, z);
      const bool leads_here = n > 0 && joined[n - 1] != 0;
      const float4 low = reinterpret_cast<const float4*>(slopes)[2 * n];
      const float4 high = reinterpret_cast<const float4*>(slopes)[2 * n + 1];
      const float slopes_here[ray_sources] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (std::uint32_t source = 0; source < ray_sources; ++source) {
        const float slope = slopes_here[source] + way;
        if (before[source] < 0.0F && !(slope < 0.0F) && leads_here) {
          if (found[source].node != 0) {
            found[source].node |= Turn::several;
          } else {
            found[source].node = n;
            found[source].start = before[source] / (before[source] - slope);
          }
        }
        before[source] = slope;
      }
    }
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
    const Vector2 point = pixel_of(task, k % pixels).at;
    double time = no_ray();
    if ((turn.node & Turn::several) != 0) {
      time = least_time(rays, nodes, slopes + source, joined, rays.sources[first + source], point,
                        static_cast<float>(point.x - origin.x), static_cast<float>(point.z - origin.z));
    } else if (turn.node != 0) {
      time = time_over(rays, turn.node, rays.sources[first + source], point, turn.start);
    }
    times[k] = time;
  }
  __syncthreads();
  write_tables(task, times, first);
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
