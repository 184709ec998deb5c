// What the stages found out about a frame, gathered into one piece of memory that is downloaded with its images.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "pipeline/sample_quality.hpp"
#include "pipeline/shown_reference.hpp"

namespace echoform::gpu {

/// Bytes of the facts of a frame with that many views: SampleQuality, then a ShownReference a view.
[[nodiscard]] constexpr std::size_t frame_facts_bytes(std::size_t views) {
  return sizeof(SampleQuality) + views * sizeof(ShownReference);
}

/// Copies *quality and *references[k], 0 <= k < views, to `facts`, on `stream`. All are in device memory, also the array of
/// pointers; null pointers count as zeros.
void launch_gather_facts(const SampleQuality* quality, const ShownReference* const* references, std::size_t views, void* facts,
                         cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
