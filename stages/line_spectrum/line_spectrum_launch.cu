#include "gpu/cuda_check.hpp"
#include "stages/line_spectrum/line_spectrum_launch.hpp"
#include "stages/line_spectrum/line_spectrum_math.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = 64;

/// A block has `threads` bins of a spectrum, and each thread has one of them, for all ranges of the gate in their order. The
/// tapered samples of a few ranges at a time lie in shared memory.
constexpr std::size_t ranges_at_once = 8;

__global__ void __launch_bounds__(threads) show_spectrum(const LineSpectrumWork at) {
  extern __shared__ float tapered[];  // [range, sample], I and Q
  const auto line = static_cast<std::size_t>(at.gate[0]);
  const auto first = static_cast<std::size_t>(at.gate[1]);
  const auto ranges = static_cast<std::size_t>(at.gate[2]);
  const std::size_t s = blockIdx.y;
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  const std::size_t bin = k < at.bins ? k : at.bins - 1;
  const float* const rows = at.in + (line * at.ensemble + s * at.hop) * at.in_stride + first * at.step;
  float power = 0.0F;
  for (std::size_t from = 0; from < ranges; from += ranges_at_once) {
    const std::size_t some = ranges - from < ranges_at_once ? ranges - from : ranges_at_once;
    __syncthreads();
    for (std::size_t place = threadIdx.x; place < some * at.samples; place += threads) {
      const std::size_t n = place % at.samples;
      const float* const sample = rows + n * at.in_stride + (from + place / at.samples) * at.step;
      const float taper = __ldg(at.taper + n);
      tapered[2 * place] = taper * __ldg(sample);
      tapered[2 * place + 1] = taper * __ldg(sample + at.quadrature);
    }
    __syncthreads();
    float re[ranges_at_once] = {};
    float im[ranges_at_once] = {};
    for (std::size_t n = 0; n < at.samples; ++n) {
      const float turn_re = __ldg(at.turn_re + n * at.bins + bin);
      const float turn_im = __ldg(at.turn_im + n * at.bins + bin);
#pragma unroll
      for (std::size_t range = 0; range < ranges_at_once; ++range) {
        if (range >= some) break;
        const float* const sample = tapered + 2 * (range * at.samples + n);
        add_turned(sample[0], sample[1], turn_re, turn_im, re[range], im[range]);
      }
    }
#pragma unroll
    for (std::size_t range = 0; range < ranges_at_once; ++range) {
      if (range < some) power = with_power(power, re[range], im[range]);
    }
  }
  if (k < at.bins) at.out[s * at.bins + k] = root_mean(power, ranges);
}

}  // namespace

void launch_line_spectrum(const LineSpectrumWork& work, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>((work.bins + threads - 1) / threads), static_cast<unsigned>(work.spectra));
  show_spectrum<<<grid, threads, 2 * ranges_at_once * work.samples * sizeof(float), stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("line spectrum");
}

}  // namespace echoform
