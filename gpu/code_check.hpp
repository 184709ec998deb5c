// Whether this build holds code that a device can run. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

namespace echoform::gpu {

/// Loads a kernel of this module on the current device: cudaErrorNoKernelImageForDevice and its like if the build holds no
/// code for it. Kernels are loaded when they are first used, so this check comes before any of them is needed.
[[nodiscard]] cudaError_t check_code();

}  // namespace echoform::gpu
