// The facts of a frame on their way to the host. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/cuda_check.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "stages/sample_quality.hpp"
#include "stages/unpack/frame_facts.hpp"

namespace echoform::gpu {

/// Place of the facts: the trailer of `spec`.
[[nodiscard]] inline FrameFacts* facts_of(const BlockSpec& spec, void* data) {
  return reinterpret_cast<FrameFacts*>(static_cast<std::byte*>(data) + (spec.bytes() - spec.trailer));
}

/// Pinned memory that the facts are copied to behind the kernels of a frame.
class FrameFactsReadback {
 public:
  explicit FrameFactsReadback(Backend& backend) : pinned_(backend.allocate(sizeof(FrameFacts), MemoryUse::readback)) {}
  void queue(const FrameFacts* facts, cudaStream_t stream) noexcept {
    ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(pinned_.data(), facts, sizeof(FrameFacts), cudaMemcpyDeviceToHost, stream));
  }
  /// Once the queue has finished the frame.
  [[nodiscard]] SampleQuality quality() const noexcept {
    const auto* facts = static_cast<const FrameFacts*>(pinned_.data());
    return {facts->clipped, facts->invalid};
  }

 private:
  Buffer pinned_;
};

}  // namespace echoform::gpu
