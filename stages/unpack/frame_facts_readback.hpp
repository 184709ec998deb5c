// The facts of a frame on their way to the host. For *_cuda.cpp files.
#pragma once

#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "stages/sample_quality.hpp"
#include "stages/unpack/frame_facts.hpp"
#include "stages/unpack/raw_row_kernels.hpp"

namespace echoform::gpu {

/// Place of the facts: the trailer of `spec`.
[[nodiscard]] inline FrameFacts* facts_of(const BlockSpec& spec, void* data) {
  return reinterpret_cast<FrameFacts*>(static_cast<std::byte*>(data) + (spec.bytes() - spec.trailer));
}

/// Where a stage's kernel gathers the facts of a frame, and pinned memory in which it leaves them for the host.
class FrameFactsReadback {
 public:
  explicit FrameFactsReadback(Backend& backend)
      : gathered_(backend.allocate(sizeof(GatheredFacts), MemoryUse::working)),
        pinned_(backend.allocate(sizeof(FrameFacts), MemoryUse::readback)) {}
  [[nodiscard]] GatheredFacts* gathered() const noexcept { return static_cast<GatheredFacts*>(gathered_.data()); }
  [[nodiscard]] FrameFacts* pinned() const noexcept { return static_cast<FrameFacts*>(pinned_.data()); }
  /// Once the queue has finished the frame.
  [[nodiscard]] SampleQuality quality() const noexcept { return {pinned()->clipped, pinned()->invalid}; }

 private:
  Buffer gathered_;
  Buffer pinned_;
};

}  // namespace echoform::gpu
