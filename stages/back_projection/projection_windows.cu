// Back-projection from windows of the samples in shared memory. docs/gpu.md explains the reasons.
#include "gpu/cuda_check.hpp"
#include "stages/back_projection/projection_brick.cuh"
#include "stages/back_projection/projection_windows.hpp"

namespace echoform::projection {
namespace {

/// 1.5 x 2^23. When it is added to a float, rounding down, the low bits of the sum are the integer below.
constexpr float magic = 12582912.0F;
constexpr unsigned magic_bits = 0x4B400000U;

/// The minimum of the square of a distance, so that the estimated root is never that of 0.
constexpr float least_square = 1e-6F;

/// The relative error is at most 2^-23.
__device__ float root(float v) {
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
/// The relative error is at most 2^-22.9.
__device__ float inverse_root(float v) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

/// The data that a block keeps of a detector.
struct alignas(16) StagedDetector {
  float place[3];
  float shift;  // u = |v| - shift is 0 in the middle of its window
  float normal[3];
  float weight;
};

/// Fills the window of detector `q` of the group's batch, with one warp. Entry n holds the numbers a and b so that a + b u is the
/// weighted sample at u, n <= u < n + 1; it is 0 outside of the record.
__device__ void stage_window(const ProjectionWork& work, const float (&centre)[3], unsigned q, StagedDetector& staged,
                             float2* window) {
  const FlatDetector detector = read_detector(work, q);
  const float dx = centre[0] - detector.place[0];
  const float dy = centre[1] - detector.place[1];
  const float dz = centre[2] - detector.place[2];
  const float middle = rintf(root(fmaf(dx, dx, fmaf(dy, dy, dz * dz))) - work.start);
  const float shift = work.start + middle;
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (lane == 0) {
    staged = {{detector.place[0], detector.place[1], detector.place[2]},
              shift,
              {detector.normal[0], detector.normal[1], detector.normal[2]},
              detector.weight};
  }
  // The amount that rounding has added to the shift, minus the place in the window.
  float place = __fsub_rn(__fsub_rn(shift, middle), work.start) + static_cast<float>(work.half_window - lane);
  const int first = static_cast<int>(middle) - work.half_window;
  const float* row = work.samples + detector.row * work.stride + first + lane;
  const auto line_of = [&](float here, float next) {
    const float slope = detector.weight * (next - here);
    return float2{fmaf(slope, place, detector.weight * here), slope};
  };
  window += lane;
  if (first >= 0 && first + 2 * work.half_window <= work.last) {
#pragma unroll 4
    for (int n = 0; n < 2 * work.half_window; n += 32, place -= 32.0F, row += 32, window += 32) {
      *window = line_of(__ldg(row), __ldg(row + 1));
    }
  } else {
#pragma unroll 1
    for (int n = 0; n < 2 * work.half_window; n += 32, place -= 32.0F, row += 32, window += 32) {
      const int at = first + lane + n;
      const bool there = at >= 0 && at < work.last;
      *window = there ? line_of(__ldg(row), __ldg(row + 1)) : float2{0.0F, 0.0F};
    }
  }
}

/// Adds a detector to a thread's voxels, which lie along the third axis at +-(j + 1/2) times their distance `apart` from the
/// middle.
template <ProjectionLaw law, bool more, unsigned depth>
__device__ void add_detector(const ProjectionWork& work, const StagedDetector& detector, const char* memory, unsigned window,
                             const float (&place)[3], float apart, float (&sums)[depth], float (&weights)[depth]) {
  constexpr bool inverted = more || law != ProjectionLaw::constant;
  const float dx = place[0] - detector.place[0];
  const float dy = place[1] - detector.place[1];
  const float dz = place[2] - detector.place[2];
  const float square = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
  const float slope = 2.0F * apart * dz;
  const float facing = inverted ? fmaf(detector.normal[0], dx, fmaf(detector.normal[1], dy, detector.normal[2] * dz)) : 0.0F;
  const float facing_slope = inverted ? apart * detector.normal[2] : 0.0F;
  const unsigned base = window - (magic_bits << 3U);
#pragma unroll
  for (unsigned j = 0; j < depth / 2; ++j) {
    const float of_pair = square + work.squares[j];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const float voxels = (side == 0 ? -1.0F : 1.0F) * (static_cast<float>(j) + 0.5F);
      const unsigned k = side == 0 ? depth / 2 - 1 - j : depth / 2 + j;
      const float squared = fmaf(voxels, slope, of_pair);
      float u;
      float weight = 1.0F;
      if constexpr (inverted) {
        const float safe = fmaxf(squared, least_square);
        const float inverse = inverse_root(safe);
        u = fmaf(safe, inverse, -detector.shift);
        const float faces = fmaxf(fmaf(voxels, facing_slope, facing), 0.0F);
        if constexpr (law == ProjectionLaw::inverse_cube) weight = faces * inverse * (inverse * inverse);
        if constexpr (law == ProjectionLaw::inverse_square) weight = faces * (inverse * inverse);
        if constexpr (more) weight = turned(work, weight, faces * inverse);
      } else {
        // Rounding may leave a negative number for a voxel at the place of a detector.
        u = root(fabsf(squared)) - detector.shift;
      }
      const unsigned at = __float_as_uint(__fadd_rd(u, magic)) * 8U + base;
      const float2 line = *reinterpret_cast<const float2*>(memory + at);
      const float sample = fmaf(u, line.y, line.x);
      sums[k] = inverted ? fmaf(weight, sample, sums[k]) : sums[k] + sample;
      if constexpr (more) {
        if (work.normalise) weights[k] = fmaf(weight, detector.weight, weights[k]);
      }
    }
  }
}

template <ProjectionLaw law, bool more, unsigned depth>
__global__ void __launch_bounds__(brick_threads, more ? 2 : 4) project_windows(const __grid_constant__ ProjectionWork work) {
  extern __shared__ char memory[];
  auto* const detectors = reinterpret_cast<StagedDetector*>(memory);
  const unsigned windows = work.batch * static_cast<unsigned>(sizeof(StagedDetector));
  const unsigned window_bytes = 2 * static_cast<unsigned>(work.half_window) * static_cast<unsigned>(sizeof(float2));
  const ThreadVoxels<depth> voxels(work);
  const float along = static_cast<float>(voxels.third) + 0.5F * static_cast<float>((depth - 1) * voxels.apart);
  const float place[3]{ThreadVoxels<depth>::place(work.lines[0], static_cast<float>(voxels.first)),
                       ThreadVoxels<depth>::place(work.lines[1], static_cast<float>(voxels.second)),
                       ThreadVoxels<depth>::place(work.lines[2], along)};
  const float apart = static_cast<float>(voxels.apart) * work.lines[2].spacing;
  float sums[depth] = {};
  float weights[depth] = {};
  const DetectorGroup group(work);
  for (unsigned begin = group.begin; begin < group.end; begin += work.batch) {
    const unsigned count = group.end - begin < work.batch ? group.end - begin : work.batch;
    __syncthreads();
    for (unsigned d = threadIdx.x / 32; d < count; d += brick_warps) {
      stage_window(work, voxels.centre, begin + d, detectors[d], reinterpret_cast<float2*>(memory + windows + d * window_bytes));
    }
    __syncthreads();
    const unsigned middle = windows + window_bytes / 2;
    for (unsigned d = 0; d < count; ++d) {
      add_detector<law, more, depth>(work, detectors[d], memory, middle + d * window_bytes, place, apart, sums, weights);
    }
  }
  voxels.write(work, sums, weights);
}

using Kernel = void (*)(ProjectionWork);

template <ProjectionLaw law>
Kernel kernel_of_law(bool more, bool is_deep) {
  if (more) return is_deep ? &project_windows<law, true, deep> : &project_windows<law, true, shallow>;
  return is_deep ? &project_windows<law, false, deep> : &project_windows<law, false, shallow>;
}

Kernel window_kernel(ProjectionLaw law, bool more, bool is_deep) {
  switch (law) {
    case ProjectionLaw::inverse_cube:
      return kernel_of_law<ProjectionLaw::inverse_cube>(more, is_deep);
    case ProjectionLaw::inverse_square:
      return kernel_of_law<ProjectionLaw::inverse_square>(more, is_deep);
    case ProjectionLaw::constant:
      break;
  }
  return kernel_of_law<ProjectionLaw::constant>(more, is_deep);
}

}  // namespace

void launch_windows(const ProjectionWork& work, const BrickPlan& plan, ProjectionLaw law, cudaStream_t stream) noexcept {
  const Kernel kernel = window_kernel(law, !work.plain(), plan.depth == deep);
  kernel<<<dim3(plan.all_bricks(), plan.groups), brick_threads, plan.shared_bytes(), stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("back-projection");
}

}  // namespace echoform::projection
