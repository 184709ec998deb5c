// The kernels of the analytic signal on CUDA. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/analytic_signal/paired_spectrum.hpp"

namespace echoform::gpu {

/// Rows of real samples, and where their analytic signals go (analytic_signal.hpp says in which form).
struct AnalyticRows {
  const float* input = nullptr;
  std::size_t input_stride = 0;
  std::size_t rows = 0;
  std::uint32_t samples = 0;
  bool half = false;
  bool nearest = false;
  const std::uint32_t* peak_bits = nullptr;  ///< device memory; half path only
  std::uint32_t headroom = 0;                ///< half_path_headroom()
  uint2* output = nullptr;                   ///< the lead, then the rows
  std::size_t output_stride = 0;
  std::uint32_t lead = 0;
  std::uint32_t* trailer = nullptr;  ///< 64 bytes; half path only
};

/// Real rows, their numbers next to each other, that lie `stride` apart.
struct RealRows {
  const float* data = nullptr;
  std::size_t stride = 0;
};

/// Greatest |sample| of the rows to *peak_bits; NaN and infinities do not count.
void launch_peak(const AnalyticRows& rows, std::uint32_t* peak_bits, cudaStream_t stream) noexcept;

/// Once for each length of fused_lengths, before it is launched: asks for the shared memory. Throws RuntimeFault.
void prepare_fused(std::size_t samples);
/// The whole stage; `table` is twiddle_table(samples) in device memory.
void launch_fused(const AnalyticRows& rows, const hilbert::Complex* table, cudaStream_t stream) noexcept;

/// The same with a filter; `factors` is filter_table() in device memory.
void prepare_fused_filter(std::size_t samples);
void launch_fused_filter(const AnalyticRows& rows, const hilbert::Complex* table, const hilbert::Complex* factors,
                         cudaStream_t stream) noexcept;

/// `samples` numbers of each of `count` rows to `copy`, `length` numbers a row, zeros behind the samples.
void launch_copy(const RealRows& rows, std::size_t count, std::uint32_t samples, float* copy, std::size_t length,
                 cudaStream_t stream) noexcept;
/// multiply_pair() on `count` rows of length / 2 complex numbers, in place.
void launch_multiply(hilbert::Complex* spectra, std::size_t count, std::size_t length, const hilbert::PairFactors* factors,
                     cudaStream_t stream) noexcept;
/// filter_pair() on `count` rows of length / 2 complex numbers, in place; and, where there are `others`, their products behind
/// the rows, `count` more.
void launch_filter(hilbert::Complex* spectra, std::size_t count, std::size_t length, const hilbert::ResponsePair* factors,
                   const hilbert::ResponsePair* others, cudaStream_t stream) noexcept;
/// Output of rows first ... first + count - 1 from those rows themselves or what a filter makes of them, and from their Hilbert
/// transforms.
void launch_write(const AnalyticRows& rows, std::size_t first, std::size_t count, const RealRows& in_phase,
                  const RealRows& quadrature, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
