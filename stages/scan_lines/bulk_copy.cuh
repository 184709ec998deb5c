// Copies from device memory to shared memory which a thread only requests, and the barriers that signal their end: cp.async.bulk
// and mbarrier of compute capability 9.0 (PTX ISA 8.0, sections 9.7.8.24 and 9.7.12.15).
#pragma once

#include <cstdint>

namespace echoform::gpu {
namespace {

__device__ __forceinline__ std::uint32_t shared_address(const void* there) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(there));
}

/// A barrier takes 8 bytes of shared memory. A phase ends when `count` arrivals and all the bytes that they expected have come.
__device__ __forceinline__ void start_barrier(std::uint32_t barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/// Makes the barriers visible to copies too. Call it after start_barrier() and before the block's own barrier.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive_expecting(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Waits until the phase of this parity has ended: 0 for the first phase, 1 for the second, and so on alternately.
__device__ __forceinline__ void wait_for(std::uint32_t barrier, unsigned parity) {
  std::uint32_t ended = 0;
  do {
    asm volatile("{.reg .pred ended; mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended;}"
                 : "=r"(ended)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (ended == 0);
}
/// Both addresses and the number of bytes are multiples of 16.
__device__ __forceinline__ void copy_bulk(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier) {
  const auto source = __cvta_generic_to_global(from);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(source),
               "r"(bytes), "r"(barrier)
               : "memory");
}

}  // namespace
}  // namespace echoform::gpu
