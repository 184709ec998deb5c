// The kernel of back-projection that keeps windows of the samples in shared memory.
#pragma once

#include "stages/back_projection/projection_launch.hpp"

namespace echoform::projection {

/// Queues the kernel. The plan must have half_window > 0.
void launch_windows(const ProjectionWork& work, const BrickPlan& plan, ProjectionLaw law, cudaStream_t stream) noexcept;

}  // namespace echoform::projection
