// Launch of the scrolling on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform {

/// Arguments of a launch. Pointers are to device memory, which also holds the values that may change between frames.
struct ScrollWork {
  const float* in = nullptr;
  float* out = nullptr;           ///< [kept, columns]
  float* ring = nullptr;          ///< as `out`
  const float* first = nullptr;   ///< row of the input
  std::uint32_t* head = nullptr;  ///< the place in the ring of the next row
  std::size_t in_stride = 0;      ///< of rows, in floats
  std::size_t columns = 0;
  std::size_t count = 0;
  std::size_t kept = 0;
};

/// Takes `count` rows into the ring, shows it from its oldest row on, and moves `head` on.
void launch_scroll(const ScrollWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
