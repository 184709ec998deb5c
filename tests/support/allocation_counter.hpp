// Counts every allocation of this program, on all its threads, but those of NVIDIA's driver.
//
// Once CUDA is up the driver has threads of its own, which take memory now and then whatever the program does. So an allocation
// counts apart where its caller lies in one of the driver's libraries (libcuda.so*, libcudadebugger*, libnvidia-*), or where its
// thread is named by the driver ("cuda..."): there the C library may be the caller. What the program, the CUDA runtime (part of
// it) and cuFFT allocate counts.
#pragma once

#include <cstdint>

namespace echoform::test {

/// Whether allocations can be counted here: not under sanitizers, which bring an allocator of their own.
[[nodiscard]] bool counts_allocations();
/// Number of allocations without the driver's. Each call looks up which of the driver's libraries are loaded by now, so call
/// it once before the code that is to be counted.
[[nodiscard]] std::uint64_t allocations();
/// Number of the driver's allocations, for tests of bounds: work that a program hands to the driver must not make it
/// allocate every time.
[[nodiscard]] std::uint64_t driver_allocations();

}  // namespace echoform::test
