// Integrals over spheres: a block holds a brick of the image in shared memory, a warp takes one detector after the other.
#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "operators/interpolated_rings.cuh"

namespace echoform::gpu {
namespace {

using interpolated::Brick;
using interpolated::brick_plane;
using interpolated::brick_row;
using interpolated::brick_voxels;
using interpolated::DetectorFrame;
using interpolated::RingRange;
using interpolated::SeenBrick;
using interpolated::ShellEntry;

constexpr unsigned threads = 256;

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

__global__ void __launch_bounds__(threads) make_shells(const __grid_constant__ InterpolatedScene scene) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= static_cast<std::int64_t>(scene.detectors) * scene.radii.edges) return;
  const auto edge = static_cast<double>(index % scene.radii.edges);
  scene.shells[index] = interpolated::shell_entry(scene.frames[index / scene.radii.edges],
                                                  scene.radii.first + edge * scene.radii.step, scene.scale);
}

__global__ void __launch_bounds__(ring_threads, 3) integrate_bricks(const __grid_constant__ IntegralTask task) {
  extern __shared__ float voxels[];
  const InterpolatedScene& scene = task.scene;
  const auto index = static_cast<std::int32_t>(blockIdx.x);
  const Brick brick = interpolated::brick_at(scene.bricks, index);
  for (auto n = static_cast<std::int32_t>(threadIdx.x); n < brick_voxels; n += ring_threads) {
    const std::int32_t x = brick.first[0] + n % brick_plane % brick_row - 1;
    const std::int32_t y = brick.first[1] + n % brick_plane / brick_row - 1;
    const std::int32_t z = brick.first[2] + n / brick_plane - 1;
    const bool there = x >= 0 && y >= 0 && z >= 0 && x < scene.bricks.voxels[0] && y < scene.bricks.voxels[1] &&
                       z < scene.bricks.voxels[2] && n % brick_plane < brick_row * brick_row;
    voxels[n] =
        there ? task.image[(static_cast<std::int64_t>(z) * scene.bricks.voxels[1] + y) * scene.bricks.voxels[0] + x] : 0.0F;
  }
  __syncthreads();
  RingTable& table = reinterpret_cast<RingTable*>(voxels + brick_voxels)[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::int32_t bricks = interpolated::bricks_of(scene.bricks);
  for (auto q = static_cast<std::int32_t>(blockIdx.y * ring_warps + threadIdx.x / 32); q < scene.detectors;
       q += static_cast<std::int32_t>(gridDim.y * ring_warps)) {
    const DetectorFrame& frame = scene.frames[q];
    const SeenBrick seen = interpolated::seen_brick(frame, brick, scene.radii);
    const std::int64_t of_brick = static_cast<std::int64_t>(q) * bricks + index;
    if (lane == 0) task.starts[of_brick] = seen.first_edge;
    float* const parts = task.parts + of_brick * scene.slots;
    for (std::int32_t slot = 0; slot < scene.slots; ++slot) {
      const std::int32_t edge = seen.first_edge + slot;
      float sum = 0.0F;
      if (edge < seen.end_edge && scene.dead[q] == 0) {
        const ShellEntry shell = scene.shells[static_cast<std::int64_t>(q) * scene.radii.edges + edge];
        if (shell.rings > 0) {
          const double radius = scene.radii.first + static_cast<double>(edge) * scene.radii.step;
          const RingRange rings = interpolated::rings_within(seen, shell, radius);
          for_rings(frame, seen, brick, shell, radius, rings, table, [&](const BrickPlace& at, float weight) {
            const float* const cell = voxels + at.index;
            const auto between = [](float a, float b, float part) { return fmaf(part, b - a, a); };
            const float below =
                between(between(cell[0], cell[1], at.x), between(cell[brick_row], cell[brick_row + 1], at.x), at.y);
            const float* const next = cell + brick_plane;
            const float above =
                between(between(next[0], next[1], at.x), between(next[brick_row], next[brick_row + 1], at.x), at.y);
            sum = fmaf(weight, between(below, above, at.z), sum);
          });
        }
      }
      __syncwarp();
#pragma unroll
      for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(every_lane, sum, step);
      if (lane == 0) parts[slot] = sum;
    }
  }
}

/// A block has a detector; bricks are added in their order.
__global__ void __launch_bounds__(threads) sum_bricks(const __grid_constant__ IntegralTask task, double* edges, float* data) {
  const InterpolatedScene& scene = task.scene;
  const std::int64_t q = blockIdx.x;
  const std::int32_t bricks = interpolated::bricks_of(scene.bricks);
  double* const own = edges + q * scene.radii.edges;
  for (auto edge = static_cast<std::int32_t>(threadIdx.x); edge < scene.radii.edges; edge += threads) {
    double sum = 0.0;
    for (std::int32_t brick = 0; brick < bricks; ++brick) {
      const std::int64_t of_brick = q * bricks + brick;
      const std::int32_t slot = edge - task.starts[of_brick];
      if (slot >= 0 && slot < scene.slots) sum += static_cast<double>(task.parts[of_brick * scene.slots + slot]);
    }
    own[edge] = sum;
  }
  __syncthreads();
  for (auto k = static_cast<std::int32_t>(threadIdx.x); k < scene.samples; k += threads)
    data[q * scene.samples + k] = static_cast<float>(own[k + 1] - own[k]);
}

}  // namespace

void queue_shells(const InterpolatedScene& scene, cudaStream_t stream) noexcept {
  make_shells<<<blocks_for(static_cast<std::int64_t>(scene.detectors) * scene.radii.edges), threads, 0, stream>>>(scene);
  ECHOFORM_CUDA_LAUNCHED("spheres of detectors");
}

void queue_integrals(const IntegralTask& task, cudaStream_t stream) noexcept {
  constexpr std::size_t bytes = brick_voxels * sizeof(float) + ring_warps * sizeof(RingTable);
  static_assert(bytes <= 48 * 1024);
  // Some detectors for each warp, so that a brick is not loaded for a few alone.
  constexpr std::int32_t of_warp = 8;
  const std::int32_t blocks = (task.scene.detectors + of_warp * static_cast<std::int32_t>(ring_warps) - 1) /
                              (of_warp * static_cast<std::int32_t>(ring_warps));
  const dim3 grid(static_cast<unsigned>(interpolated::bricks_of(task.scene.bricks)), static_cast<unsigned>(blocks));
  integrate_bricks<<<grid, ring_threads, bytes, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("integrals over spheres");
}

void queue_differences(const IntegralTask& task, double* edges, float* data, cudaStream_t stream) noexcept {
  sum_bricks<<<static_cast<unsigned>(task.scene.detectors), threads, 0, stream>>>(task, edges, data);
  ECHOFORM_CUDA_LAUNCHED("sums of bricks");
}

}  // namespace echoform::gpu
