// Computes integrals over spheres. A block holds a brick of the image in shared memory, and a warp takes one detector after the
// other.
#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "operators/interpolated_rings.cuh"

namespace echoform::gpu {
namespace {

using interpolated::Brick;
using interpolated::brick_plane;
using interpolated::brick_row;
using interpolated::brick_side;
using interpolated::brick_voxels;
using interpolated::SeenBrick;

constexpr unsigned threads = 256;
constexpr unsigned ring_threads = 256;
constexpr unsigned ring_warps = ring_threads / 32;

struct WarpMemory {
  RingTable table;
  float sums[shell_group][32];  ///< one for each lane: no lane waits for another
};
constexpr std::size_t integral_bytes = brick_numbers * sizeof(float) + ring_warps * sizeof(WarpMemory);
static_assert(sizeof(WarpMemory) % 16 == 0);  // tables are aligned

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

__global__ void __launch_bounds__(ring_threads, 4) integrate_bricks(const __grid_constant__ IntegralTask task) {
  extern __shared__ float voxels[];
  const InterpolatedScene& scene = task.scene;
  const auto index = static_cast<std::int32_t>(blockIdx.x);
  const Brick brick = interpolated::brick_at(scene.bricks, index);
  for (auto n = static_cast<std::int32_t>(threadIdx.x); n < brick_voxels; n += ring_threads) {
    const std::int32_t in_row = n % brick_plane % brick_row;
    const std::int32_t row = n % brick_plane / brick_row;
    const std::int32_t x = brick.first[0] + in_row - 1;
    const std::int32_t y = brick.first[1] + row - 1;
    const std::int32_t z = brick.first[2] + n / brick_plane - 1;
    const bool there = x >= 0 && y >= 0 && z >= 0 && x < scene.bricks.voxels[0] && y < scene.bricks.voxels[1] &&
                       z < scene.bricks.voxels[2] && in_row < brick_side && row < brick_side;
    voxels[n] =
        there ? task.image[(static_cast<std::int64_t>(z) * scene.bricks.voxels[1] + y) * scene.bricks.voxels[0] + x] : 0.0F;
  }
  __syncthreads();
  WarpMemory& own = reinterpret_cast<WarpMemory*>(voxels + brick_numbers)[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  for (auto& sums : own.sums) sums[lane] = 0.0F;
  const std::int32_t bricks = interpolated::bricks_of(scene.bricks);
  for (auto q = static_cast<std::int32_t>(blockIdx.y * ring_warps + threadIdx.x / 32); q < scene.detectors;
       q += static_cast<std::int32_t>(gridDim.y * ring_warps)) {
    const SeenBrick seen = interpolated::seen_brick(scene.frames[q], brick, scene.radii);
    const std::int64_t of_brick = static_cast<std::int64_t>(q) * bricks + index;
    if (lane == 0) task.starts[of_brick] = seen.first_edge;
    float* const parts = task.parts + of_brick * scene.slots;
    const float value = scene.dead[q] == 0 ? 1.0F : 0.0F;
    for (std::int32_t slot = 0; slot < scene.slots; slot += shell_group) {
      const std::int32_t rings = make_shell_group(scene, seen, q, seen.first_edge + slot, own.table,
                                                  [value](std::int32_t /*edge*/, double /*radius*/) { return value; });
      std::int32_t current = 0;
      float sum = 0.0F;
      for_rings(scene.ring_frames[q], seen, brick, scene.angles, rings, own.table,
                [&](const BrickPlace& at, float weight, std::int32_t sphere) {
                  if (sphere != current) {
                    own.sums[current][lane] = sum;
                    current = sphere;
                    sum = 0.0F;
                  }
                  const float* const cell = voxels + at.index;
                  const auto between = [](float a, float b, float part) { return fmaf(part, b - a, a); };
                  const float below =
                      between(between(cell[0], cell[1], at.x), between(cell[brick_row], cell[brick_row + 1], at.x), at.y);
                  const float* const next = cell + brick_plane;
                  const float above =
                      between(between(next[0], next[1], at.x), between(next[brick_row], next[brick_row + 1], at.x), at.y);
                  sum = fmaf(weight, between(below, above, at.z), sum);
                });
      own.sums[current][lane] = sum;
      __syncwarp();
      // Each lane adds a quarter of a sphere's sums, and starts with a different sum than its neighbours.
      constexpr unsigned group = shell_group;
      static_assert(group == 8);
      const unsigned of_sphere = lane % group;
      float all = 0.0F;
#pragma unroll
      for (unsigned n = 0; n < group; ++n) {
        float& of_lane = own.sums[of_sphere][lane / group * group + (n + of_sphere) % group];
        all += of_lane;
        of_lane = 0.0F;
      }
      all += __shfl_xor_sync(every_lane, all, 8);
      all += __shfl_xor_sync(every_lane, all, 16);
      const std::int32_t at = slot + static_cast<std::int32_t>(lane);
      if (lane < group && at < scene.slots) parts[at] = all;
      __syncwarp();
    }
  }
}

/// Each block has one detector. Bricks are added in their order.
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

void allow_integrals() {
  allow_shared(reinterpret_cast<const void*>(&integrate_bricks), integral_bytes);
}

void queue_integrals(const IntegralTask& task, cudaStream_t stream) noexcept {
  // Each warp gets several detectors, so that a brick is not loaded for only a few.
  constexpr std::int32_t of_warp = 8;
  const std::int32_t blocks = (task.scene.detectors + of_warp * static_cast<std::int32_t>(ring_warps) - 1) /
                              (of_warp * static_cast<std::int32_t>(ring_warps));
  const dim3 grid(static_cast<unsigned>(interpolated::bricks_of(task.scene.bricks)), static_cast<unsigned>(blocks));
  integrate_bricks<<<grid, ring_threads, integral_bytes, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("integrals over spheres");
}

void queue_differences(const IntegralTask& task, double* edges, float* data, cudaStream_t stream) noexcept {
  sum_bricks<<<static_cast<unsigned>(task.scene.detectors), threads, 0, stream>>>(task, edges, data);
  ECHOFORM_CUDA_LAUNCHED("sums of bricks");
}

}  // namespace echoform::gpu
