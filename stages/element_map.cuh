// Stages on the GPU that work on each number by itself: the counterpart of row_map.hpp. This header is for *.cu files.
#pragma once

#include <cstddef>

#include "gpu/cuda_check.hpp"

namespace echoform::gpu {

inline constexpr unsigned element_map_threads = 256;

/// Blocks stride over the rows, since there may be more rows than a grid has blocks.
template <class Work>
__global__ void __launch_bounds__(element_map_threads) map_elements(std::size_t rows, std::size_t columns, const Work work) {
  const std::size_t n = std::size_t{blockIdx.x} * element_map_threads + threadIdx.x;
  if (n >= columns) return;
  for (std::size_t row = blockIdx.y; row < rows; row += gridDim.y) work(row, n);
}

/// Queues work(row, n) for each of rows x columns numbers, one thread per number, in any order. `Work` is passed by value; it
/// holds places in device memory and strides.
template <class Work>
void launch_map(std::size_t rows, std::size_t columns, const Work& work, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>((columns + element_map_threads - 1) / element_map_threads),
                  static_cast<unsigned>(rows < 65535 ? rows : 65535));
  map_elements<<<grid, element_map_threads, 0, stream>>>(rows, columns, work);
}

}  // namespace echoform::gpu
