// Sums of equally long vectors, in a fixed order. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform::gpu {

/// Queues sums[k] = parts[k] + parts[count + k] + ... of `terms` vectors that lie one behind the other, in double precision and
/// in that order. All in device memory; `sums` is none of the parts.
void queue_ordered_sum(const float* parts, std::size_t terms, std::size_t count, float* sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
