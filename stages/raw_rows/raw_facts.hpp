// Memory for the facts of a frame in a stage on CUDA that reads received samples, from the kernel to the host. For
// *_cuda.cpp files.
#pragma once

#include <cstddef>

#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/stage.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform::gpu {

class RawFacts {
 public:
  explicit RawFacts(Backend& backend)
      : gathered_(backend.allocate(sizeof(GatheredFacts), MemoryUse::working)),
        pinned_(backend.allocate(sizeof(FrameFacts), MemoryUse::readback)) {}

  /// Returns `spec` with the trailer of the facts, which describes the blocks that places() expects.
  [[nodiscard]] BlockSpec with_trailer(BlockSpec spec) {
    spec.trailer = facts_trailer;
    begin_ = spec.bytes() - spec.trailer;
    return spec;
  }
  [[nodiscard]] FactsPlaces places(Block output) const noexcept {
    return {static_cast<GatheredFacts*>(gathered_.data()), reinterpret_cast<FrameFacts*>(output.as<std::byte>() + begin_),
            static_cast<FrameFacts*>(pinned_.data())};
  }

  /// The quality of a frame. Valid once the queue has finished the frame.
  [[nodiscard]] SampleQuality quality() const noexcept {
    const auto& facts = *static_cast<const FrameFacts*>(pinned_.data());
    return {facts.clipped, facts.invalid};
  }
  /// Location of the facts in the output, after the rows.
  [[nodiscard]] DeviceFacts device_facts() const noexcept {
    static_assert(offsetof(FrameFacts, invalid) == offsetof(FrameFacts, clipped) + offsetof(SampleQuality, invalid),
                  "counts are copied as SampleQuality");
    return {.quality = begin_ + offsetof(FrameFacts, clipped), .reference = nullptr};
  }
  /// Bytes of device memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return gathered_.size(); }

 private:
  Buffer gathered_;
  Buffer pinned_;
  std::size_t begin_ = 0;  // of the trailer, in bytes
};

}  // namespace echoform::gpu
