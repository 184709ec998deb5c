// Launches of back-projection on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/back_projection_math.hpp"
#include "stages/back_projection/brick_plan.hpp"

namespace echoform::projection {

/// An axis of the lattice of voxels, in the plan's order.
struct VoxelLine {
  std::uint32_t count = 1;
  std::uint32_t lanes = 1;  ///< as in BrickPlan
  std::uint32_t warps = 1;
  std::uint32_t bricks = 1;
  std::size_t step = 1;  ///< distance of neighbours in the image
  float spacing = 0.0F;  ///< samples
  float middle = 0.0F;   ///< voxels: the place of voxel n is (n - middle) spacing
};

struct ProjectionWork {
  const float* samples = nullptr;
  std::size_t stride = 0;                   ///< of rows
  std::int32_t last = 0;                    ///< columns - 1
  const FlatDetector* detectors = nullptr;  ///< at a multiple of 16 bytes
  std::uint32_t count = 0;
  std::uint32_t group_size = 0;
  std::uint32_t batch = 0;
  std::int32_t half_window = 0;
  VoxelLine lines[3];
  float start = 0.0F;
  unsigned cosine_power = 0;
  float least_cosine = -1.0F;
  bool normalise = false;
  bool slows = false;
  FlatInclusion inclusion{};
  float* image = nullptr;
  float* sums = nullptr;     ///< [group, voxel], null where there is one group
  float* weights = nullptr;  ///< likewise, where `normalise`
  std::size_t voxels = 0;
  float squares[deep / 2] = {};  ///< squared distances of a thread's voxels from their middle, along the third axis

  /// Whether only the law applies: no power of the cosine, no minimum cosine, no normalisation and no inclusion.
  [[nodiscard]] bool plain() const { return cosine_power == 0 && least_cosine <= -1.0F && !normalise && !slows; }
};

/// Queues the kernels that overwrite the image, or the sums of groups and then the image.
void launch_projection(const ProjectionWork& work, const BrickPlan& plan, ProjectionLaw law, cudaStream_t stream) noexcept;

}  // namespace echoform::projection
