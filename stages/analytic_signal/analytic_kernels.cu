#include "stages/analytic_signal/analytic_kernels.hpp"

#include <cuda_runtime.h>

#include "gpu/cuda_check.hpp"
#include "stages/analytic_signal/analytic_element.hpp"
#include "stages/raw_rows/sample_math.hpp"

namespace echoform::gpu {
namespace {

using hilbert::BinPair;
using hilbert::Complex;
using hilbert::PairFactors;
using hilbert::ResponsePair;

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads) find_peak(AnalyticRows rows, std::uint32_t* peak_bits) {
  __shared__ std::uint32_t warp_peaks[threads / 32];
  std::uint32_t peak = 0;
  for (std::size_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    const auto* bits = reinterpret_cast<const std::uint32_t*>(rows.input + row * rows.input_stride);
#pragma unroll 8
    for (std::uint32_t n = threadIdx.x; n < rows.samples; n += threads) {
      const std::uint32_t one = bits[n];
      peak = max(peak, is_invalid_float(one) ? 0u : one & 0x7fffffffu);
    }
  }
  peak = __reduce_max_sync(0xffffffffu, peak);
  if (threadIdx.x % 32 == 0) warp_peaks[threadIdx.x / 32] = peak;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const std::uint32_t one : warp_peaks) peak = max(peak, one);
  atomicMax(peak_bits, peak);
}

__global__ void __launch_bounds__(threads)
    copy_rows(RealRows rows, std::size_t count, std::uint32_t samples, float* copy, std::size_t length) {
  for (std::size_t row = blockIdx.x; row < count; row += gridDim.x) {
    const float* const from = rows.data + row * rows.stride;
    for (std::size_t n = threadIdx.x; n < length; n += threads) copy[row * length + n] = n < samples ? from[n] : 0.0F;
  }
}

/// A thread keeps the factors of its bins for several rows.
constexpr unsigned rows_of_strip = 8;

__global__ void __launch_bounds__(threads)
    multiply_spectra(Complex* spectra, std::size_t count, std::size_t bins, const PairFactors* __restrict__ factors) {
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (2 * k > bins) return;
  const PairFactors mine = factors[k];
  const std::size_t mirror = k == 0 ? 0 : bins - k;
  const std::size_t strips = (count + rows_of_strip - 1) / rows_of_strip;
  for (std::size_t strip = blockIdx.y; strip < strips; strip += gridDim.y) {
    Complex low[rows_of_strip];
    Complex high[rows_of_strip];
#pragma unroll
    for (unsigned r = 0; r < rows_of_strip; ++r) {
      const std::size_t row = strip * rows_of_strip + r;
      if (row < count) {
        low[r] = spectra[row * bins + k];
        high[r] = spectra[row * bins + mirror];
      }
    }
#pragma unroll
    for (unsigned r = 0; r < rows_of_strip; ++r) {
      const std::size_t row = strip * rows_of_strip + r;
      if (row < count) {
        hilbert::multiply_pair(low[r], high[r], mine);
        spectra[row * bins + k] = low[r];
        if (mirror != k) spectra[row * bins + mirror] = high[r];
      }
    }
  }
}

template <bool Two>
__global__ void __launch_bounds__(threads)
    filter_spectra(Complex* spectra, std::size_t count, std::size_t bins, const ResponsePair* __restrict__ factors,
                   const ResponsePair* __restrict__ others) {
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (2 * k > bins) return;
  const ResponsePair mine = factors[k];
  const ResponsePair other = Two ? others[k] : ResponsePair{};
  const std::size_t mirror = k == 0 ? 0 : bins - k;
  const std::size_t strips = (count + rows_of_strip - 1) / rows_of_strip;
  for (std::size_t strip = blockIdx.y; strip < strips; strip += gridDim.y) {
    BinPair pairs[rows_of_strip];
#pragma unroll
    for (unsigned r = 0; r < rows_of_strip; ++r) {
      const std::size_t row = strip * rows_of_strip + r;
      if (row < count) pairs[r] = {spectra[row * bins + k], spectra[row * bins + mirror]};
    }
#pragma unroll
    for (unsigned r = 0; r < rows_of_strip; ++r) {
      const std::size_t row = strip * rows_of_strip + r;
      if (row >= count) continue;
      const BinPair product = filter_pair(pairs[r], mine);
      spectra[row * bins + k] = product.low;
      if (mirror != k) spectra[row * bins + mirror] = product.high;
      if constexpr (Two) {
        const BinPair second = filter_pair(pairs[r], other);
        spectra[(count + row) * bins + k] = second.low;
        if (mirror != k) spectra[(count + row) * bins + mirror] = second.high;
      }
    }
  }
}

template <bool Half>
__global__ void __launch_bounds__(threads)
    write_rows(AnalyticRows rows, std::size_t first, std::size_t count, const float* __restrict__ in_phase,
               std::size_t in_phase_stride, const float* __restrict__ quadrature, std::size_t length) {
  if (first == 0 && blockIdx.x == 0) write_surroundings<Half>(rows);
  HalfScale scale;
  if constexpr (Half) scale = half_scale(rows);
  const std::uint32_t written = Half && !rows.nearest ? rows.samples - 1 : rows.samples;
  for (std::size_t row = blockIdx.x; row < count; row += gridDim.x) {
    const float* const s = in_phase + row * in_phase_stride;
    const float* const q = quadrature + row * length;
    uint2* const out = rows.output + rows.lead + (first + row) * rows.output_stride;
#pragma unroll 4
    for (std::uint32_t n = threadIdx.x; n < rows.output_stride; n += threads) {
      uint2 one = make_uint2(0, 0);
      if (n < written) {
        const std::uint32_t next = Half && n + 1 < rows.samples ? n + 1 : n;
        one = element<Half>(s[n], q[n], Half ? s[next] : 0.0F, Half ? q[next] : 0.0F, scale);
      }
      __stcs(out + n, one);  // the output is larger than the caches, which shall keep the spectra
    }
  }
}

unsigned grid_of(std::size_t rows) {
  return static_cast<unsigned>(rows < 65535 ? rows : 65535);
}

}  // namespace

void launch_peak(const AnalyticRows& rows, std::uint32_t* peak_bits, cudaStream_t stream) noexcept {
  ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(peak_bits, 0, sizeof *peak_bits, stream));
  find_peak<<<static_cast<unsigned>(rows.rows < 2048 ? rows.rows : 2048), threads, 0, stream>>>(rows, peak_bits);
  ECHOFORM_CUDA_LAUNCHED("find_peak");
}

void launch_copy(const RealRows& rows, std::size_t count, std::uint32_t samples, float* copy, std::size_t length,
                 cudaStream_t stream) noexcept {
  copy_rows<<<grid_of(count), threads, 0, stream>>>(rows, count, samples, copy, length);
  ECHOFORM_CUDA_LAUNCHED("copy_rows");
}

void launch_multiply(Complex* spectra, std::size_t count, std::size_t length, const PairFactors* factors,
                     cudaStream_t stream) noexcept {
  const std::size_t bins = length / 2;
  const dim3 grid(static_cast<unsigned>((bins / 2 + threads) / threads), grid_of((count + rows_of_strip - 1) / rows_of_strip));
  multiply_spectra<<<grid, threads, 0, stream>>>(spectra, count, bins, factors);
  ECHOFORM_CUDA_LAUNCHED("multiply_spectra");
}

void launch_filter(Complex* spectra, std::size_t count, std::size_t length, const ResponsePair* factors,
                   const ResponsePair* others, cudaStream_t stream) noexcept {
  const std::size_t bins = length / 2;
  const dim3 grid(static_cast<unsigned>((bins / 2 + threads) / threads), grid_of((count + rows_of_strip - 1) / rows_of_strip));
  if (others != nullptr) {
    filter_spectra<true><<<grid, threads, 0, stream>>>(spectra, count, bins, factors, others);
  } else {
    filter_spectra<false><<<grid, threads, 0, stream>>>(spectra, count, bins, factors, nullptr);
  }
  ECHOFORM_CUDA_LAUNCHED("filter_spectra");
}

void launch_write(const AnalyticRows& rows, std::size_t first, std::size_t count, const RealRows& in_phase,
                  const RealRows& quadrature, cudaStream_t stream) noexcept {
  const unsigned grid = grid_of(count);
  if (rows.half) {
    write_rows<true>
        <<<grid, threads, 0, stream>>>(rows, first, count, in_phase.data, in_phase.stride, quadrature.data, quadrature.stride);
  } else {
    write_rows<false>
        <<<grid, threads, 0, stream>>>(rows, first, count, in_phase.data, in_phase.stride, quadrature.data, quadrature.stride);
  }
  ECHOFORM_CUDA_LAUNCHED("write_rows");
}

}  // namespace echoform::gpu
