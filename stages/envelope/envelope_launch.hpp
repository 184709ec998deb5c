// Launches of the envelope on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Complex numbers in rows, interleaved or planar.
struct ComplexRows {
  const float* first = nullptr;  ///< 8-byte aligned
  bool planar = false;
  std::size_t stride = 0;  ///< of rows, in complex numbers
};

/// out[row, n] = |z[row, n]|; rows of `out` follow each other.
void launch_envelope(const ComplexRows& complex, float* out, std::size_t rows, std::size_t columns, cudaStream_t stream) noexcept;

/// out[row, n] = the mean of |z[row soundings + k, n]| over k, 0 <= k < soundings.
void launch_mean_envelope(const ComplexRows& complex, std::size_t soundings, float* out, std::size_t rows, std::size_t columns,
                          cudaStream_t stream) noexcept;

}  // namespace echoform
