// Times of work on a stream of the GPU, by events. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

#include "benchmarks/statistics.hpp"
#include "gpu/stream.hpp"

namespace echoform::benchmarks {

/// Work that queues on a stream and does not wait, measured as often as wanted.
class DeviceTimer {
 public:
  /// Runs `work` some times to see how many runs fill 5 ms (at least one).
  DeviceTimer(cudaStream_t stream, std::function<void()> work);
  /// Seconds of one run: the mean of so many.
  [[nodiscard]] double seconds();

 private:
  [[nodiscard]] double seconds_of(std::size_t runs);

  cudaStream_t stream_;
  std::function<void()> work_;
  gpu::Event begin_;
  gpu::Event end_;
  std::size_t runs_ = 1;
};

/// The spread of `rounds` measurements by a DeviceTimer, in seconds.
[[nodiscard]] Spread seconds_on_device(cudaStream_t stream, std::size_t rounds, const std::function<void()>& work);

/// The GPU as a line for people: name, multiprocessors, clock.
struct DeviceFacts {
  std::string name;
  int multiprocessors = 0;
  double clock = 0.0;  ///< highest, in hertz
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] DeviceFacts device_facts();

}  // namespace echoform::benchmarks
