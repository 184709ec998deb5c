#include "engines/frame_facts.hpp"
#include "gpu/cuda_check.hpp"

namespace echoform::gpu {
namespace {

__global__ void gather_facts(const SampleQuality* quality, const ShownReference* const* references, unsigned views, void* facts) {
  auto* const place = static_cast<SampleQuality*>(facts);
  auto* const values = reinterpret_cast<ShownReference*>(place + 1);
  if (threadIdx.x == 0) *place = quality != nullptr ? *quality : SampleQuality{};
  for (unsigned view = threadIdx.x; view < views; view += blockDim.x) {
    values[view] = references[view] != nullptr ? *references[view] : ShownReference{};
  }
}

}  // namespace

void launch_gather_facts(const SampleQuality* quality, const ShownReference* const* references, std::size_t views, void* facts,
                         cudaStream_t stream) noexcept {
  gather_facts<<<1, 32, 0, stream>>>(quality, references, static_cast<unsigned>(views), facts);
  ECHOFORM_CUDA_LAUNCHED("gather_facts");
}

}  // namespace echoform::gpu
