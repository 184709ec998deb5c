// The answer to "which devices?", in words. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace echoform::gpu {

/// One line about `answer`, cudaGetDeviceCount's, and the `count` that it gave: "2 devices", "no driver" ... `driver` and
/// `runtime` are versions as CUDA numbers them (13000 is 13.0); `driver` 0: none.
[[nodiscard]] std::string probe_status(cudaError_t answer, int count, int driver, int runtime);

/// 13000 as "13.0".
[[nodiscard]] std::string version_text(int version);

}  // namespace echoform::gpu
