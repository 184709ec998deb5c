// A few numbers that change while frames run. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

namespace echoform::gpu {

/// Queues that to[n] = values[n] in device memory: work that stands on the stream already reads what was there before, work that
/// comes later these, graphs captured long ago among it. The numbers travel as parameters of kernels, 1000 or so each, so that
/// nothing waits, and `values` may go as soon as the call returns.
void queue_values(std::span<const float> values, float* to, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
