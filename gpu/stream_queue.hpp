// The queue of the CUDA backend. For *.cu and *_cuda.cpp files.
#pragma once

#include "gpu/stream.hpp"
#include "pipeline/backend.hpp"

namespace echoform::gpu {

/// Work goes on one stream, in order. Stages queue kernels on stream() and never wait.
class StreamQueue final : public ExecutionQueue {
 public:
  StreamQueue() : stream_(make_stream()) {}
  void finish() override { ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get())); }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

 private:
  Stream stream_;
};

/// The stream behind a queue of the CUDA backend.
[[nodiscard]] inline cudaStream_t stream_of(ExecutionQueue& queue) {
  return static_cast<StreamQueue&>(queue).stream();
}

}  // namespace echoform::gpu
