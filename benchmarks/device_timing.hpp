// Times of work on a stream of the GPU, by events. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

#include "benchmarks/statistics.hpp"

namespace echoform::benchmarks {

/// Seconds of one `work`, which queues on `stream` and does not wait: `rounds` measurements, each the mean of as many runs as
/// fill 5 ms (at least one), after some that are not counted.
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
