// Launch of the addition of images on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Queues to[k] += from[k] for k below `count`, which is even. Both are aligned to 8 bytes.
void launch_add_images(float* to, const float* from, std::size_t count, cudaStream_t stream);

}  // namespace echoform
