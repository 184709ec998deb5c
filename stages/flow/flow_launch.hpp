// Launch of flow on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "stages/flow/flow.hpp"

namespace echoform {

/// Arguments of a launch. Pointers are to device memory.
struct FlowWork {
  const float* in = nullptr;
  float* out = nullptr;              ///< rows without gaps
  float* greatest = nullptr;         ///< [flow_parts], of powers
  const float* threshold = nullptr;  ///< [flow_threshold_pieces], whose sum is the threshold
  FlowKind kind = FlowKind::velocity;
  FlowScale scale;
  std::size_t in_stride = 0;  ///< of rows, in floats
  std::size_t lines = 0;
  std::size_t ranges = 0;
};

void launch_flow(const FlowWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
