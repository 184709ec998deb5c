// Kernels that do what no kernel should. Only for tests.
#pragma once

#include <cuda_runtime_api.h>

namespace echoform::test {

/// Writes where there is no memory.
void launch_out_of_bounds(cudaStream_t stream);
/// Executes a trap.
void launch_trap(cudaStream_t stream);
/// Spins for `nanoseconds`.
void launch_spin(cudaStream_t stream, unsigned long long nanoseconds);

}  // namespace echoform::test
