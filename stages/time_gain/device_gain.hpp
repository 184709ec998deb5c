// Gains by time, or by line, in device memory. For *_cuda.cpp files.
#pragma once

#include <vector>

#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/backend.hpp"

namespace echoform::gpu {

class DeviceGain {
 public:
  /// Allocates memory for the gains, and waits until they are copied. Throws RuntimeFault.
  void prepare(const std::vector<float>& gain, Backend& backend) {
    gain_ = backend.allocate(gain.size() * sizeof(float), MemoryUse::working);
    const Stream stream = make_stream();
    queue_values(gain, place(), stream.get());
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
  }
  /// Replaces the gains by as many others, for work that is queued from now on.
  void change(const std::vector<float>& gain, ExecutionQueue& queue) const noexcept {
    queue_values(gain, place(), stream_of(queue));
  }
  void clear() noexcept { gain_ = {}; }

  [[nodiscard]] const float* data() const noexcept { return place(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return gain_.size(); }

 private:
  [[nodiscard]] float* place() const noexcept { return static_cast<float*>(gain_.data()); }

  Buffer gain_;
};

}  // namespace echoform::gpu
