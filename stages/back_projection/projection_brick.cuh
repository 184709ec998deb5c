// Shared by the kernels of back-projection: where a thread's voxels are, and where their sums go. This header is for *.cu files.
#pragma once

#include "stages/back_projection/projection_launch.hpp"

namespace echoform::projection {

/// A thread's voxels: one place along the first and second axis, `depth` along the third, `apart` from each other.
template <unsigned depth>
struct ThreadVoxels {
  unsigned first, second, third;  // place of the voxel at depth 0
  unsigned apart;
  float centre[3];  // centre of the brick

  __device__ explicit ThreadVoxels(const ProjectionWork& work) {
    unsigned lane = threadIdx.x % 32;
    unsigned warp = threadIdx.x / 32;
    unsigned brick = blockIdx.x;
    unsigned at[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const VoxelLine& line = work.lines[k];
      const unsigned threads = line.lanes * line.warps;
      const unsigned side = k == 2 ? threads * depth : threads;
      const unsigned begin = brick % line.bricks * side;
      brick /= line.bricks;
      at[k] = begin + warp % line.warps * line.lanes + lane % line.lanes;
      warp /= line.warps;
      lane /= line.lanes;
      centre[k] = (static_cast<float>(begin) + 0.5F * static_cast<float>(side - 1) - line.middle) * line.spacing;
    }
    first = at[0];
    second = at[1];
    third = at[2];
    apart = work.lines[2].lanes * work.lines[2].warps;
  }

  __device__ static float place(const VoxelLine& line, float voxel) {
    return (voxel - line.middle) * line.spacing;
  }

  /// Writes sums[k], the sum of voxel third + k apart, into the image or among the sums of groups.
  __device__ void write(const ProjectionWork& work, const float (&sums)[depth], const float (&weights)[depth]) const {
    if (first >= work.lines[0].count || second >= work.lines[1].count) return;
    const std::size_t at = first * work.lines[0].step + second * work.lines[1].step;
    const std::size_t group = blockIdx.y * work.voxels;
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned along = third + k * apart;
      if (along >= work.lines[2].count) return;
      const std::size_t voxel = at + along * work.lines[2].step;
      if (work.sums != nullptr) {
        work.sums[group + voxel] = sums[k];
        if (work.normalise) work.weights[group + voxel] = weights[k];
      } else if (work.normalise) {
        work.image[voxel] = weights[k] != 0.0F ? sums[k] / weights[k] : 0.0F;
      } else {
        work.image[voxel] = sums[k];
      }
    }
  }
};

/// The detectors of a block.
struct DetectorGroup {
  unsigned begin, end;

  __device__ explicit DetectorGroup(const ProjectionWork& work) {
    begin = blockIdx.y * work.group_size;
    end = begin + work.group_size < work.count ? begin + work.group_size : work.count;
  }
};

__device__ inline FlatDetector read_detector(const ProjectionWork& work, unsigned q) {
  static_assert(sizeof(FlatDetector) == 2 * sizeof(float4));
  const auto* const from = reinterpret_cast<const float4*>(work.detectors + q);
  const float4 a = __ldg(from);
  const float4 b = __ldg(from + 1);
  return {{a.x, a.y, a.z}, {a.w, b.x, b.y}, b.z, __float_as_uint(b.w)};
}

/// The part of `weight` that remains for a cosine.
__device__ inline float turned(const ProjectionWork& work, float weight, float cosine) {
#pragma unroll 1
  for (unsigned power = 0; power < work.cosine_power; ++power) weight *= cosine;
  return cosine >= work.least_cosine ? weight : 0.0F;
}

}  // namespace echoform::projection
