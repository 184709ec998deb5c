// Owners of CUDA's streams, events and graphs. For *.cu and *_cuda.cpp files. The default stream is never used.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "gpu/cuda_check.hpp"

namespace echoform::gpu {

/// Owns one handle of CUDA; `destroy` is its function for giving it back.
template <class Handle, cudaError_t (*destroy)(Handle)>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }
  [[nodiscard]] Handle get() const { return handle_; }
  [[nodiscard]] explicit operator bool() const { return handle_ != nullptr; }

 private:
  void reset() noexcept {
    // Ignores a failure in a destructor, on which nothing can be done; a sticky error has ended the process elsewhere.
    if (handle_ != nullptr) static_cast<void>(destroy(handle_));
    handle_ = nullptr;
  }
  Handle handle_ = nullptr;
};

using Stream = Owner<cudaStream_t, cudaStreamDestroy>;
using Event = Owner<cudaEvent_t, cudaEventDestroy>;
using Graph = Owner<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owner<cudaGraphExec_t, cudaGraphExecDestroy>;

/// A stream that does not wait for the default one.
[[nodiscard]] inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  ECHOFORM_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}
/// `timed`: for cudaEventElapsedTime; others are cheaper.
[[nodiscard]] inline Event make_event(bool timed = false) {
  cudaEvent_t event = nullptr;
  ECHOFORM_CUDA(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming));
  return Event(event);
}

}  // namespace echoform::gpu
