// The kernels of the analytic signal on CUDA. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/analytic_signal/paired_spectrum.hpp"

namespace echoform::gpu {

/// Rows of real samples, and where their analytic signals go, in the form of analytic_signal.hpp.
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

/// Real rows that lie `stride` apart; the numbers of a row follow each other.
struct RealRows {
  const float* data = nullptr;
  std::size_t stride = 0;
};

/// Writes the greatest |sample| of the rows to *peak_bits; NaN and infinities do not count.
void launch_peak(const AnalyticRows& rows, std::uint32_t* peak_bits, cudaStream_t stream) noexcept;

/// Requests the shared memory for a length of fused_lengths. Called once for each length, before its first launch. Throws
/// RuntimeFault.
void prepare_fused(std::size_t samples);
/// The whole stage; `table` is twiddle_table(samples) in device memory.
void launch_fused(const AnalyticRows& rows, const hilbert::Complex* table, cudaStream_t stream) noexcept;

/// The same with a filter; `factors` is filter_table() in device memory.
void prepare_fused_filter(std::size_t samples);
void launch_fused_filter(const AnalyticRows& rows, const hilbert::Complex* table, const hilbert::Complex* factors,
                         cudaStream_t stream) noexcept;

/// Copies `samples` numbers of each of `count` rows to `copy`, which has `length` numbers a row. Zeros follow the samples.
void launch_copy(const RealRows& rows, std::size_t count, std::uint32_t samples, float* copy, std::size_t length,
                 cudaStream_t stream) noexcept;
/// Queues multiply_pair() on `count` rows of length / 2 complex numbers, in place.
void launch_multiply(hilbert::Complex* spectra, std::size_t count, std::size_t length, const hilbert::PairFactors* factors,
                     cudaStream_t stream) noexcept;
/// Queues filter_pair() on `count` rows of length / 2 complex numbers, in place. Where there are `others`, their products
/// follow the rows, `count` rows more.
void launch_filter(hilbert::Complex* spectra, std::size_t count, std::size_t length, const hilbert::ResponsePair* factors,
                   const hilbert::ResponsePair* others, cudaStream_t stream) noexcept;
/// Writes the output of rows first ... first + count - 1 from `in_phase`, which has those rows or their filtered form, and
/// from `quadrature`, their Hilbert transforms.
void launch_write(const AnalyticRows& rows, std::size_t first, std::size_t count, const RealRows& in_phase,
                  const RealRows& quadrature, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
