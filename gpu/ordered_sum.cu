#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "gpu/ordered_sum.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned threads = 256;
constexpr std::size_t most_blocks = 4096;

__global__ void add_in_order(const float* __restrict__ parts, std::size_t terms, std::size_t count, float* __restrict__ sums) {
  const std::size_t stride = std::size_t{gridDim.x} * threads;
  for (std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x; k < count; k += stride) {
    double total = 0.0;
    for (std::size_t term = 0; term < terms; ++term) total += static_cast<double>(parts[term * count + k]);
    sums[k] = static_cast<float>(total);
  }
}

}  // namespace

void queue_ordered_sum(const float* parts, std::size_t terms, std::size_t count, float* sums, cudaStream_t stream) noexcept {
  if (count == 0) return;
  const std::size_t blocks = std::min(most_blocks, (count + threads - 1) / threads);
  add_in_order<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(parts, terms, count, sums);
  ECHOFORM_CUDA_LAUNCHED("sums in order");
}

}  // namespace echoform::gpu
