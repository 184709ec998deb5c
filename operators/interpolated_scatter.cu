// The transpose of interpolated_integrals.cu. Each block has a brick, whose voxels accumulate shares as whole numbers. The sum of
// whole numbers does not depend on the order, so warps need not wait for each other. After several detectors the sums are added
// to single precision.
#include <float.h>
#include <math.h>

#include "gpu/cuda_check.hpp"
#include "operators/interpolated_rings.cuh"

namespace echoform::gpu {
namespace {

using interpolated::Brick;
using interpolated::brick_edge;
using interpolated::brick_plane;
using interpolated::brick_row;
using interpolated::brick_voxels;
using interpolated::SeenBrick;

constexpr unsigned threads = 256;
constexpr unsigned ring_threads = 256;
constexpr unsigned ring_warps = ring_threads / 32;
constexpr std::size_t scatter_bytes = brick_numbers * sizeof(std::int32_t) + ring_warps * sizeof(RingTable);
static_assert(sizeof(RingTable) % 16 == 0);  // tables are aligned
/// Number of detectors between two of those additions.
constexpr std::int32_t at_a_time = 16;
/// Sums of shares stay below 2^30.
constexpr float most_of_sum = 1073741824.0F;
/// Adding 1.5 x 2^23 rounds numbers below 2^22 to whole numbers. Larger ones need a conversion, which is slower.
constexpr float most_of_quick = 4194304.0F;
constexpr float magic = 12582912.0F;

/// The maximum share of a voxel in a sphere of that radius, for an edge of 1. If the sphere were flat there, the share would be
/// the area of a voxel's face relative to that of the sphere. The bound is twice that, because of the places of samples, and at
/// most the whole sphere.
__device__ __forceinline__ float most_of_sphere(const InterpolatedScene& scene, double radius) {
  const auto of = static_cast<float>(radius);
  return of * static_cast<float>(scene.scale) * fminf(1.0F, 0.5F / (static_cast<float>(interpolated::pi) * of * of));
}

template <bool quick>
__device__ __forceinline__ void scatter(std::int32_t* cell, const BrickPlace& at, float all) {
  const auto add = [](std::int32_t* to, float share) {
    if constexpr (quick) {
      atomicAdd(to, __float_as_int(share + magic) - 0x4B400000);
    } else {
      atomicAdd(to, __float2int_rn(share));
    }
  };
  const float above = all * at.z;
  const float below = all - above;
#pragma unroll
  for (int plane = 0; plane < 2; ++plane) {
    const float of_plane = plane == 0 ? below : above;
    const float after = of_plane * at.y;
    const float before = of_plane - after;
    std::int32_t* const of = cell + plane * brick_plane;
    const float right_before = before * at.x;
    const float right_after = after * at.x;
    add(of, before - right_before);
    add(of + 1, right_before);
    add(of + brick_row, after - right_after);
    add(of + brick_row + 1, right_after);
  }
}

__global__ void __launch_bounds__(threads)
    make_edges(const __grid_constant__ InterpolatedScene scene, const float* data, float* edges) {
  const std::int64_t q = blockIdx.x;
  const float* const row = data + q * scene.samples;
  for (auto k = static_cast<std::int32_t>(threadIdx.x); k < scene.radii.edges; k += threads) {
    const float after = k < scene.samples ? row[k] : 0.0F;
    const float before = k > 0 ? row[k - 1] : 0.0F;
    edges[q * scene.radii.edges + k] = scene.dead[q] != 0 ? 0.0F : before - after;
  }
}

__global__ void __launch_bounds__(ring_threads, 4) scatter_bricks(const __grid_constant__ ScatterTask task) {
  extern __shared__ std::int32_t shares[];
  __shared__ float bounds[at_a_time];
  const InterpolatedScene& scene = task.scene;
  const auto index = static_cast<std::int32_t>(blockIdx.x);
  const Brick brick = interpolated::brick_at(scene.bricks, index);
  RingTable& table = reinterpret_cast<RingTable*>(shares + brick_numbers)[threadIdx.x / 32];
  float* const sums = task.sums + static_cast<std::int64_t>(index) * brick_voxels;
  for (auto n = static_cast<std::int32_t>(threadIdx.x); n < brick_voxels; n += ring_threads) shares[n] = 0;
  __syncthreads();
  // A voxel meets spheres over at most twice the spacing altogether, and one more at either end.
  const auto spheres = static_cast<float>(2.0 / scene.radii.step + 2.0);
  const auto warp = static_cast<std::int32_t>(threadIdx.x / 32);
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  for (std::int32_t begin = 0; begin < scene.detectors; begin += at_a_time) {
    const std::int32_t end = begin + at_a_time < scene.detectors ? begin + at_a_time : scene.detectors;
    // The maximum that this brick's voxels receive from each detector.
    for (std::int32_t q = begin + warp; q < end; q += ring_warps) {
      const SeenBrick seen = interpolated::seen_brick(scene.frames[q], brick, scene.radii);
      float most = 0.0F;
      for (std::int32_t edge = seen.first_edge + lane; edge < seen.end_edge; edge += 32) {
        const std::int64_t at = static_cast<std::int64_t>(q) * scene.radii.edges + edge;
        if (scene.shells[at].rings == 0) continue;
        const double radius = scene.radii.first + static_cast<double>(edge) * scene.radii.step;
        const float part = fabsf(task.edges[at]) * most_of_sphere(scene, radius);
        most = part <= FLT_MAX ? fmaxf(most, part) : INFINITY;  // also if it is not a number
      }
      __syncwarp();
#pragma unroll
      for (unsigned step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(every_lane, most, step));
      if (lane == 0) bounds[q - begin] = most;
    }
    __syncthreads();
    float sum = 0.0F;
    for (std::int32_t q = begin; q < end; ++q) sum += bounds[q - begin];
    __syncthreads();
    if (sum == 0.0F) continue;
    // Whole numbers cannot express values that are not finite, or may not be.
    if (!(sum * spheres <= FLT_MAX)) {
      for (auto n = static_cast<std::int32_t>(threadIdx.x); n < brick_voxels; n += ring_threads) sums[n] = NAN;
      continue;
    }
    constexpr float most_of_scale = 1e30F;  // its inverse is a normal number
    const float scale = fminf(most_of_scale, most_of_sum / (sum * spheres));
    for (std::int32_t q = begin + warp; q < end; q += ring_warps) {
      const SeenBrick seen = interpolated::seen_brick(scene.frames[q], brick, scene.radii);
      for (std::int32_t edge = seen.first_edge; edge < seen.end_edge; edge += shell_group) {
        bool small = true;
        const std::int32_t rings = make_shell_group(scene, seen, q, edge, table, [&](std::int32_t of_edge, double radius) {
          const float value = task.edges[static_cast<std::int64_t>(q) * scene.radii.edges + of_edge] * scale;
          small = fabsf(value) * most_of_sphere(scene, radius) < most_of_quick;
          return value;
        });
        if (__all_sync(every_lane, small)) {
          for_rings(
              scene.ring_frames[q], seen, brick, scene.angles, rings, table,
              [&](const BrickPlace& at, float weight, std::int32_t /*sphere*/) { scatter<true>(shares + at.index, at, weight); });
        } else {
          for_rings(scene.ring_frames[q], seen, brick, scene.angles, rings, table,
                    [&](const BrickPlace& at, float weight, std::int32_t /*sphere*/) {
                      scatter<false>(shares + at.index, at, weight);
                    });
        }
      }
    }
    __syncthreads();
    const float back = 1.0F / scale;
    for (auto n = static_cast<std::int32_t>(threadIdx.x); n < brick_voxels; n += ring_threads) {
      const std::int32_t share = shares[n];
      if (share == 0) continue;
      sums[n] = fmaf(static_cast<float>(share), back, sums[n]);
      shares[n] = 0;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    add_bricks(const __grid_constant__ InterpolatedScene scene, const float* sums, float* image) {
  const interpolated::Bricks& bricks = scene.bricks;
  const std::int64_t voxels = static_cast<std::int64_t>(bricks.voxels[0]) * bricks.voxels[1] * bricks.voxels[2];
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= voxels) return;
  // Index inside the border.
  const std::int32_t at[3] = {static_cast<std::int32_t>(index % bricks.voxels[0]) + 1,
                              static_cast<std::int32_t>(index / bricks.voxels[0] % bricks.voxels[1]) + 1,
                              static_cast<std::int32_t>(index / bricks.voxels[0] / bricks.voxels[1]) + 1};
  std::int32_t first[3];
  std::int32_t last[3];
  for (int a = 0; a < 3; ++a) {
    first[a] = (at[a] - 1) / brick_edge;
    last[a] = at[a] / brick_edge;
    if (last[a] >= bricks.count[a]) last[a] = bricks.count[a] - 1;
  }
  float sum = 0.0F;
  for (std::int32_t z = first[2]; z <= last[2]; ++z) {
    for (std::int32_t y = first[1]; y <= last[1]; ++y) {
      for (std::int32_t x = first[0]; x <= last[0]; ++x) {
        const std::int64_t brick = (static_cast<std::int64_t>(z) * bricks.count[1] + y) * bricks.count[0] + x;
        sum += sums[brick * brick_voxels + (at[2] - z * brick_edge) * brick_plane + (at[1] - y * brick_edge) * brick_row +
                    (at[0] - x * brick_edge)];
      }
    }
  }
  image[index] = sum;
}

}  // namespace

void queue_edges(const InterpolatedScene& scene, const float* data, float* edges, cudaStream_t stream) noexcept {
  make_edges<<<static_cast<unsigned>(scene.detectors), threads, 0, stream>>>(scene, data, edges);
  ECHOFORM_CUDA_LAUNCHED("edges of samples");
}

void allow_scatter() {
  allow_shared(reinterpret_cast<const void*>(&scatter_bricks), scatter_bytes);
}

void queue_scatter(const ScatterTask& task, cudaStream_t stream) noexcept {
  const auto blocks = static_cast<unsigned>(interpolated::bricks_of(task.scene.bricks));
  scatter_bricks<<<blocks, ring_threads, scatter_bytes, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("spheres to voxels");
}

void queue_image(const InterpolatedScene& scene, const float* sums, float* image, cudaStream_t stream) noexcept {
  const std::int64_t voxels = static_cast<std::int64_t>(scene.bricks.voxels[0]) * scene.bricks.voxels[1] * scene.bricks.voxels[2];
  add_bricks<<<static_cast<unsigned>((voxels + threads - 1) / threads), threads, 0, stream>>>(scene, sums, image);
  ECHOFORM_CUDA_LAUNCHED("voxels of bricks");
}

}  // namespace echoform::gpu
