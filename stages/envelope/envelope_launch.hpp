// Launch of the envelope on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// out[row, n] = |z[row, n]|; `stride` is the distance of rows of z in complex numbers, those of `out` follow each other.
void launch_envelope(const float* complex, float* out, std::size_t rows, std::size_t columns, std::size_t stride,
                     cudaStream_t stream);

}  // namespace echoform
