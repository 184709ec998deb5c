// The facts of a frame of lines: the greatest |value|, found by integer maxima, and the counts of the rows that are summed to
// lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/scan_lines/line_sum_launch.hpp"

namespace echoform::gpu {

/// The last action of each thread of a block. `peak_bits` is the greatest |value| that the thread found; `clipped` is the number
/// of samples that it saw at the ends of their range. The last block of the frame hands the facts on and leaves zeros for the
/// next frame.
__device__ __forceinline__ void report_lines(const LineFacts& facts, std::uint32_t peak_bits, std::uint32_t clipped,
                                             unsigned blocks) {
  if (facts.gathered == nullptr) return;
  __shared__ std::uint32_t block_peak;
  __shared__ std::uint32_t block_clipped;
  if (threadIdx.x == 0) block_peak = block_clipped = 0;
  __syncthreads();
  peak_bits = __reduce_max_sync(0xffffffffU, peak_bits);
  clipped = __reduce_add_sync(0xffffffffU, clipped);
  if (threadIdx.x % 32 == 0) {
    atomicMax(&block_peak, peak_bits);
    if (clipped != 0) atomicAdd(&block_clipped, clipped);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  FrameFacts& seen = facts.gathered->facts;
  if (block_clipped != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&seen.clipped), static_cast<unsigned long long>(block_clipped));
  }
  // A stale value read here can only be smaller; the atomic operation decides then.
  if (block_peak > *const_cast<volatile std::uint32_t*>(&seen.peak_bits)) atomicMax(&seen.peak_bits, block_peak);
  __threadfence();
  if (atomicAdd(&facts.gathered->finished_blocks, 1) + 1 != blocks) return;
  __threadfence();
  FrameFacts all;
  all.peak_bits = *const_cast<volatile std::uint32_t*>(&seen.peak_bits);
  all.clipped = *const_cast<volatile std::uint64_t*>(&seen.clipped);
  if (facts.of_rows != nullptr) {
    all.clipped += facts.of_rows->clipped;
    all.invalid = facts.of_rows->invalid;
  }
  auto* const words = reinterpret_cast<std::uint64_t*>(facts.facts);
  for (std::size_t k = 0; k < facts_trailer / sizeof(std::uint64_t); ++k) words[k] = 0;
  *facts.facts = all;
  *facts.readback = all;
  *facts.gathered = GatheredFacts{};
}

}  // namespace echoform::gpu
