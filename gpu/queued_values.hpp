// A few numbers that change while frames run. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

namespace echoform::gpu {

/// Queues to[n] = values[n] in device memory. Work already on the stream reads the previous values; later work reads the new
/// ones, including launches of graphs that were captured earlier. The numbers travel as parameters of kernels, 1000 or so
/// each, so that nothing waits, and `values` may go as soon as the call returns.
void queue_values(std::span<const float> values, float* to, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
