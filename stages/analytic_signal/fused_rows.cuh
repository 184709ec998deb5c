// The fused transform as a kernel, and its launch for each length. This header is for the *.cu files that instantiate it.
#pragma once

#include <utility>

#include "gpu/cuda_check.hpp"
#include "stages/analytic_signal/analytic_element.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"

// A block transforms two rows (more for short ones). It reads them once from memory, again from the caches for I, and writes the
// output: 0.42 GB for 8256 rows of 4096, whereas the transform by cuFFT moves 1.4 GB. Blocks run from the last row to the first,
// since the last rows are those that the previous stage has left in the second-level cache. With a filter both I and Q come out
// of transforms: shared memory holds two arrays. A multiprocessor of compute capability 9.0 holds as many blocks even so. Other
// multiprocessors hold fewer, and give a block too little for the longest lengths, which takes_fused_route() leaves to cuFFT
// there.
namespace echoform::gpu {
namespace {  // each file has its own kernels

using hilbert::Complex;
using hilbert::shape_of;

struct Barrier {
  ECHOFORM_HOST_DEVICE void operator()() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

/// The two rows of a pair as complex numbers; either row may be missing.
struct LoadPair {
  const float* first;
  const float* second;
  ECHOFORM_HOST_DEVICE Complex operator()(int n) const {
    return {first != nullptr ? first[n] : 0.0F, second != nullptr ? second[n] : 0.0F};
  }
};

/// `table` is twiddle_table(Length); `factors` is filter_table() where there is a filter. Both are in device memory.
template <int Length, bool Half, bool Filtered>
__global__ void __launch_bounds__(shape_of(Length).threads* shape_of(Length).batch, shape_of(Length).blocks)
    fused_rows(AnalyticRows rows, const Complex* __restrict__ table, const Complex* __restrict__ factors) {
  constexpr int threads = shape_of(Length).threads;
  constexpr int batch = shape_of(Length).batch;
  constexpr int warps = threads / 32;
  extern __shared__ Complex memory[];
  __shared__ uint2 warp_peaks[warps * batch];

  const int slot = static_cast<int>(threadIdx.x) / threads;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  constexpr int arrays = Filtered ? 2 : 1;
  Complex* const shared = memory + slot * arrays * hilbert::padded_length(Length);
  Complex* const in_phase = shared + (arrays - 1) * hilbert::padded_length(Length);
  const std::size_t pair = std::size_t{gridDim.x - 1 - blockIdx.x} * batch + slot;
  const bool first = 2 * pair < rows.rows;
  const bool second = 2 * pair + 1 < rows.rows;
  const float* const x1 = rows.input + 2 * pair * rows.input_stride;
  const float* const x2 = x1 + rows.input_stride;

  hilbert::Held<Length> held;
  uint2 peak = make_uint2(0, 0);
  hilbert::load_first<Length>(thread, held, LoadPair{first ? x1 : nullptr, second ? x2 : nullptr});
  for (const auto& round : held.v) {
    for (const Complex& v : round) {
      peak.x = max(peak.x, __float_as_uint(v.re) & 0x7fffffffu);
      peak.y = max(peak.y, __float_as_uint(v.im) & 0x7fffffffu);
    }
  }
  peak.x = __reduce_max_sync(0xffffffffu, peak.x);
  peak.y = __reduce_max_sync(0xffffffffu, peak.y);
  if (thread % 32 == 0) warp_peaks[threadIdx.x / 32] = peak;
  __syncthreads();
  for (int warp = 0; warp < warps; ++warp) {
    peak.x = max(peak.x, warp_peaks[slot * warps + warp].x);
    peak.y = max(peak.y, warp_peaks[slot * warps + warp].y);
  }
  const std::uint32_t exponent1 = row_exponent(peak.x);
  const std::uint32_t exponent2 = row_exponent(peak.y);
  constexpr float norm = 1.0F / Length;
  const Complex scale_there{power_of_two(exponent1), power_of_two(exponent2)};
  const Complex scale_back{norm * inverse_power_of_two(exponent1), norm * inverse_power_of_two(exponent2)};
  if constexpr (Filtered) {
    hilbert::filter_rows<Length>(thread, held, scale_there, scale_back, shared, in_phase, table, factors, Barrier{});
  } else {
    hilbert::transform_rows<Length>(thread, held, scale_there, scale_back, shared, table, Barrier{});
  }

  if (blockIdx.x == 0) write_surroundings<Half>(rows);
  HalfScale scale;
  if constexpr (Half) scale = half_scale(rows);
  uint2* const out1 = rows.output + rows.lead + 2 * pair * rows.output_stride;
  uint2* const out2 = out1 + rows.output_stride;
  const int stride = static_cast<int>(rows.output_stride);
  const int written = Half && !rows.nearest ? Length - 1 : Length;
#pragma unroll 4
  for (int n = thread; n < stride; n += threads) {
    uint2 element1 = make_uint2(0, 0);
    uint2 element2 = make_uint2(0, 0);
    if (n < written) {
      const int next = Half && n + 1 < Length ? n + 1 : n;
      const Complex q = shared[hilbert::padded(n)];
      const Complex next_q = Half ? shared[hilbert::padded(next)] : q;
      if constexpr (Filtered) {
        const Complex s = in_phase[hilbert::padded(n)];
        const Complex next_s = Half ? in_phase[hilbert::padded(next)] : s;
        element1 = element<Half>(s.re, q.re, next_s.re, next_q.re, scale);
        element2 = element<Half>(s.im, q.im, next_s.im, next_q.im, scale);
      } else {
        if (first) element1 = element<Half>(x1[n], q.re, Half ? x1[next] : 0.0F, next_q.re, scale);
        if (second) element2 = element<Half>(x2[n], q.im, Half ? x2[next] : 0.0F, next_q.im, scale);
      }
    }
    if (first) out1[n] = element1;
    if (second) out2[n] = element2;
  }
}

template <int Length, bool Filtered>
struct Launch {
  static constexpr std::size_t bytes = hilbert::transform_bytes(Length, Filtered);
  static void prepare() {
    const auto ask = cudaFuncAttributeMaxDynamicSharedMemorySize;
    ECHOFORM_CUDA(cudaFuncSetAttribute(fused_rows<Length, false, Filtered>, ask, static_cast<int>(bytes)));
    ECHOFORM_CUDA(cudaFuncSetAttribute(fused_rows<Length, true, Filtered>, ask, static_cast<int>(bytes)));
  }
  static void launch(const AnalyticRows& rows, const Complex* table, const Complex* factors, cudaStream_t stream) {
    constexpr std::size_t rows_of_block = std::size_t{2} * shape_of(Length).batch;
    const auto blocks = static_cast<unsigned>((rows.rows + rows_of_block - 1) / rows_of_block);
    const unsigned threads = shape_of(Length).threads * shape_of(Length).batch;
    if (rows.half) {
      fused_rows<Length, true, Filtered><<<blocks, threads, bytes, stream>>>(rows, table, factors);
    } else {
      fused_rows<Length, false, Filtered><<<blocks, threads, bytes, stream>>>(rows, table, factors);
    }
  }
};

/// Calls action with the Launch of a length.
template <bool Filtered, class Action, std::size_t... Index>
void with_length(std::size_t samples, const Action& action, std::index_sequence<Index...>) {
  const auto try_length = [&](auto launch, int length) {
    if (samples == static_cast<std::size_t>(length)) action(launch);
  };
  (try_length(Launch<hilbert::fused_lengths[Index], Filtered>{}, hilbert::fused_lengths[Index]), ...);
}
using Lengths = std::make_index_sequence<sizeof(hilbert::fused_lengths) / sizeof(int)>;

}  // namespace
}  // namespace echoform::gpu
