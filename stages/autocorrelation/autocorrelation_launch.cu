#include "gpu/cuda_check.hpp"
#include "stages/autocorrelation/autocorrelation_launch.hpp"
#include "stages/autocorrelation/autocorrelation_math.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = 128;
constexpr std::size_t planes = 3;

/// The sums of one range over the samples of its ensemble; the previous sample stays in registers.
__device__ __forceinline__ float3 correlate(const AutocorrelationWork& at, std::size_t line, std::size_t k) {
  const float* re = at.in + line * at.ensemble * at.in_stride + k * at.step;
  float3 sums{0.0F, 0.0F, 0.0F};
  float before_re = __ldg(re);
  float before_im = __ldg(re + at.quadrature);
  add_power(before_re, before_im, sums.x);
#pragma unroll 8
  for (std::size_t n = 1; n < at.ensemble; ++n) {
    re += at.in_stride;
    const float next_re = __ldg(re);
    const float next_im = __ldg(re + at.quadrature);
    add_power(next_re, next_im, sums.x);
    add_turn(before_re, before_im, next_re, next_im, sums.y, sums.z);
    before_re = next_re;
    before_im = next_im;
  }
  const float of_turn = 1.0F / static_cast<float>(at.ensemble - 1);
  return {sums.x * (1.0F / static_cast<float>(at.ensemble)), sums.y * of_turn, sums.z * of_turn};
}

/// A block has `threads` ranges of a line. The sums of these and of their windows lie in shared memory, plane by plane.
__global__ void __launch_bounds__(threads) autocorrelate(const AutocorrelationWork at) {
  extern __shared__ float sums[];
  const std::size_t first = std::size_t{blockIdx.x} * threads;
  const std::size_t k = first + threadIdx.x;
  const std::size_t from = first < at.half_window ? 0 : first - at.half_window;
  const std::size_t beyond = first + threads + at.half_window;
  const std::size_t end = beyond < at.ranges ? beyond : at.ranges;
  const std::size_t kept = threads + 2 * at.half_window;  // sums of a plane
  const std::size_t farthest = at.half_window < at.ranges - 1 ? at.half_window : at.ranges - 1;
  for (std::size_t line = blockIdx.y; line < at.lines; line += gridDim.y) {
    for (std::size_t place = from + threadIdx.x; place < end; place += threads) {
      const float3 own = correlate(at, line, place);
      float* const to = sums + (place - from);
      to[0] = own.x;
      to[kept] = own.y;
      to[2 * kept] = own.z;
    }
    __syncthreads();
    if (k < at.out_stride) {
      for (std::size_t plane = 0; plane < planes; ++plane) {
        float mean = 0.0F;
        if (k < at.ranges) {
          const float* const middle = sums + plane * kept + (k - from);
          mean = *middle;
          for (std::size_t away = 1; away <= farthest; ++away) {
            if (k >= away) mean += *(middle - away);
            if (k + away < at.ranges) mean += *(middle + away);
          }
          if (at.half_window > 0) {
            const std::size_t below = k < at.half_window ? k : at.half_window;
            const std::size_t above = at.ranges - 1 - k < at.half_window ? at.ranges - 1 - k : at.half_window;
            mean /= static_cast<float>(below + 1 + above);
          }
        }
        at.out[(line * planes + plane) * at.out_stride + k] = mean;
      }
    }
    __syncthreads();
  }
}

}  // namespace

void launch_autocorrelation(const AutocorrelationWork& work, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>((work.out_stride + threads - 1) / threads),
                  static_cast<unsigned>(work.lines < 65535 ? work.lines : 65535));
  const std::size_t shared = planes * (threads + 2 * work.half_window) * sizeof(float);
  autocorrelate<<<grid, threads, shared, stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("autocorrelation");
}

}  // namespace echoform
