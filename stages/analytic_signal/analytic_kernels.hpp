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
  uint2* output = nullptr;                   ///< the lead, then the rows
  std::size_t output_stride = 0;
  std::uint32_t lead = 0;
  std::uint32_t* trailer = nullptr;  ///< 64 bytes; half path only
};

/// Greatest |sample| of the rows to *peak_bits; NaN and infinities do not count.
void launch_peak(const AnalyticRows& rows, std::uint32_t* peak_bits, cudaStream_t stream) noexcept;

/// Once for each length of fused_lengths, before it is launched: asks for the shared memory. Throws RuntimeFault.
void prepare_fused(std::size_t samples);
/// The whole stage; `table` is twiddle_table(samples) in device memory.
void launch_fused(const AnalyticRows& rows, const hilbert::Complex* table, cudaStream_t stream) noexcept;

/// Rows first ... first + count - 1 of the input to `copy`, `length` numbers a row, zeros behind the samples.
void launch_copy(const AnalyticRows& rows, std::size_t first, std::size_t count, float* copy, std::size_t length,
                 cudaStream_t stream) noexcept;
/// multiply_pair() on `count` rows of length / 2 complex numbers, in place.
void launch_multiply(hilbert::Complex* spectra, std::size_t count, std::size_t length, const hilbert::PairFactors* factors,
                     cudaStream_t stream) noexcept;
/// Output of rows first ... first + count - 1 from their Hilbert transforms, `length` numbers a row.
void launch_write(const AnalyticRows& rows, std::size_t first, std::size_t count, const float* quadrature, std::size_t length,
                  cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
