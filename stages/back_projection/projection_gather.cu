// Back-projection that reads samples in device memory: for voxels far from each other, and along rays through an inclusion.
#include "gpu/cuda_check.hpp"
#include "stages/back_projection/projection_brick.cuh"
#include "stages/back_projection/projection_windows.hpp"
#include "stages/element_map.cuh"

namespace echoform::projection {
namespace {

/// The factor by which sound arrives later where part of the path (x, y, z) from the detector lies in the inclusion.
__device__ float slowed(const FlatInclusion& inclusion, const FlatDetector& detector, float x, float y, float z) {
  const auto unit = [&](int axis) { return (detector.place[axis] - inclusion.centre[axis]) * inclusion.inverse_radius[axis]; };
  const float s0 = unit(0);
  const float s1 = unit(1);
  const float s2 = unit(2);
  const float e0 = x * inclusion.inverse_radius[0];
  const float e1 = y * inclusion.inverse_radius[1];
  const float e2 = z * inclusion.inverse_radius[2];
  const float part = part_inside(e0 * e0 + (e1 * e1 + e2 * e2), e0 * s0 + (e1 * s1 + e2 * s2), s0 * s0 + (s1 * s1 + s2 * s2));
  return part * inclusion.excess + 1.0F;
}

__device__ float sample_at(const ProjectionWork& work, const float* row, float u) {
  if (!(u >= 0.0F && u < static_cast<float>(work.last))) return 0.0F;
  const int n = static_cast<int>(u);
  const float here = __ldg(row + n);
  return here + (u - static_cast<float>(n)) * (__ldg(row + n + 1) - here);
}

template <ProjectionLaw law>
__global__ void __launch_bounds__(brick_threads) project_gathered(const __grid_constant__ ProjectionWork work) {
  using Voxels = ThreadVoxels<shallow>;
  const Voxels voxels(work);
  const float first = Voxels::place(work.lines[0], static_cast<float>(voxels.first));
  const float second = Voxels::place(work.lines[1], static_cast<float>(voxels.second));
  float third[shallow];
  for (unsigned k = 0; k < shallow; ++k) {
    third[k] = Voxels::place(work.lines[2], static_cast<float>(voxels.third + k * voxels.apart));
  }
  float sums[shallow] = {};
  float weights[shallow] = {};
  const bool turns = work.cosine_power != 0 || work.least_cosine > -1.0F;
  const DetectorGroup group(work);
  for (unsigned q = group.begin; q < group.end; ++q) {
    const FlatDetector detector = read_detector(work, q);
    const float* const row = work.samples + detector.row * work.stride;
    const float x = first - detector.place[0];
    const float y = second - detector.place[1];
#pragma unroll
    for (unsigned k = 0; k < shallow; ++k) {
      const float z = third[k] - detector.place[2];
      const float squared = fmaf(x, x, fmaf(y, y, z * z));
      float way = __fsqrt_rn(squared);
      float weight = detector.weight;
      if (law != ProjectionLaw::constant || turns) {
        const float inverse = 1.0F / way;
        const float facing = fmaxf(detector.normal[0] * x + (detector.normal[1] * y + detector.normal[2] * z), 0.0F);
        if constexpr (law == ProjectionLaw::inverse_cube) weight *= facing * inverse * (inverse * inverse);
        if constexpr (law == ProjectionLaw::inverse_square) weight *= facing * (inverse * inverse);
        if (turns) weight = turned(work, weight, facing * inverse);
      }
      if (work.slows) way *= slowed(work.inclusion, detector, x, y, z);
      sums[k] = fmaf(weight, sample_at(work, row, way - work.start), sums[k]);
      if (work.normalise) weights[k] += weight;
    }
  }
  voxels.write(work, sums, weights);
}

/// Adds the sums of groups, always in the same order.
struct AddGroups {
  const float* sums;
  const float* weights;
  float* image;
  std::size_t voxels;
  unsigned groups;
  __device__ void operator()(std::size_t /*row*/, std::size_t voxel) const {
    float sum = __ldg(sums + voxel);
    for (unsigned g = 1; g < groups; ++g) sum += __ldg(sums + g * voxels + voxel);
    if (weights != nullptr) {
      float weight = __ldg(weights + voxel);
      for (unsigned g = 1; g < groups; ++g) weight += __ldg(weights + g * voxels + voxel);
      sum = weight != 0.0F ? sum / weight : 0.0F;
    }
    image[voxel] = sum;
  }
};

void launch_gathered(const ProjectionWork& work, const BrickPlan& plan, ProjectionLaw law, cudaStream_t stream) noexcept {
  const dim3 blocks(plan.all_bricks(), plan.groups);
  switch (law) {
    case ProjectionLaw::constant:
      project_gathered<ProjectionLaw::constant><<<blocks, brick_threads, 0, stream>>>(work);
      break;
    case ProjectionLaw::inverse_cube:
      project_gathered<ProjectionLaw::inverse_cube><<<blocks, brick_threads, 0, stream>>>(work);
      break;
    case ProjectionLaw::inverse_square:
      project_gathered<ProjectionLaw::inverse_square><<<blocks, brick_threads, 0, stream>>>(work);
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("back-projection");
}

}  // namespace

void launch_projection(const ProjectionWork& work, const BrickPlan& plan, ProjectionLaw law, cudaStream_t stream) noexcept {
  plan.half_window > 0 ? launch_windows(work, plan, law, stream) : launch_gathered(work, plan, law, stream);
  if (plan.groups < 2) return;
  gpu::launch_map(1, work.voxels,
                  AddGroups{work.sums, work.normalise ? work.weights : nullptr, work.image, work.voxels, plan.groups}, stream);
  ECHOFORM_CUDA_LAUNCHED("sums of back-projection");
}

}  // namespace echoform::projection
