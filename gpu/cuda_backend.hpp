// The CUDA backend: pinned and device memory, a stream as the queue. This header is free of CUDA's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "pipeline/backend.hpp"

namespace echoform {

/// Makes a backend for device `device` (0 <= device < devices of probe_devices()). Memory by use: staging is write-combined
/// pinned host memory (plain pinned memory where that is refused), working is device memory, readback is pinned host memory
/// that kernels can write too. Throws RuntimeFault if the device is not available, and always in a build without CUDA code.
/// allocate() and make_queue() leave the device current for the calling thread; other threads that hand work to it call
/// cudaSetDevice first.
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(int device = 0);

/// Why images cannot be formed on device `device` here, in a line for the user; empty if they can. The first question for a
/// device takes as long as its start; the answer is kept. InputError if there are devices, and `device` is not among them.
[[nodiscard]] std::string why_no_cuda(int device = 0);

/// Copies between host and backend memory of any kind, and waits for it. For set-up and tests, never for frames.
void copy_now(void* to, const void* from, std::size_t bytes);

}  // namespace echoform
