// The threads of a block as a team (channels_math.hpp).
#pragma once

namespace echoform::gpu {
namespace {

/// A team of `threads` threads, a multiple of 32.
template <unsigned threads>
struct BlockTeam {
  static constexpr unsigned warps = threads / 32;

  [[nodiscard]] __device__ static unsigned index() { return threadIdx.x; }
  [[nodiscard]] __device__ static constexpr unsigned size() { return threads; }
  __device__ static void sync() {
    if constexpr (warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  template <class Number>
  [[nodiscard]] __device__ static Number sum(Number own) {
    for (int away = 16; away > 0; away /= 2) own += __shfl_xor_sync(0xFFFFFFFFU, own, away);
    if constexpr (warps > 1) {
      __shared__ Number of_warps[warps];
      if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own;
      __syncthreads();
      own = of_warps[0];
      for (unsigned warp = 1; warp < warps; ++warp) own += of_warps[warp];
      // No thread writes the values of the next sum before all threads have read these.
      __syncthreads();
    }
    return own;
  }
};

}  // namespace
}  // namespace echoform::gpu
