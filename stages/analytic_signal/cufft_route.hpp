// The Hilbert transform of rows of any length, and filters of them, by cuFFT. For *_cuda.cpp files.
//
// A row of even, smooth length goes through a complex transform of half its length, which reads the row as it lies (numbers
// 2 n and 2 n + 1 as re and im), one kernel for the factors (paired_spectrum.hpp) and the inverse transform. So no row
// affects another. Other lengths are copied to longer rows with zeros behind and convolved, as on the CPU
// (hilbert_transform_length()). Large frames are processed in chunks of rows, which bounds the memory for spectra. (Chunks
// small enough for the second-level cache are slower: each of their kernels ends before it fills the GPU.)
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "gpu/cufft_library.hpp"
#include "pipeline/backend.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"
#include "stages/analytic_signal/cufft_sizes.hpp"
#include "stages/analytic_signal/row_response.hpp"

namespace echoform::gpu {

class CufftRoute {
 public:
  /// Prepares for `rows` rows of `samples`, `input_stride` apart, whose spectra may take `most_bytes`. Without responses the
  /// route is the Hilbert transform, with one response a filter. With two responses the first gives I and the second Q.
  /// Throws RuntimeFault if there is no memory, no plan or no cuFFT.
  CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, std::size_t most_bytes, Backend& backend,
             std::span<const RowResponse> responses = {});

  /// Queues the whole of the analytic signal's stage. Requires none or two responses.
  void process(const AnalyticRows& rows, cudaStream_t stream) noexcept;
  /// Queues a filter. Requires one response. Rows of `output` lie `stride` apart.
  void filter(const float* input, float* output, std::size_t stride, cudaStream_t stream) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return spectra_.size() + work_.size() + factors_.size(); }

 private:
  /// Calls write(first row, rows) for each chunk, after its spectra were transformed back into rows.
  template <class Write>
  void for_chunks(const float* input, cudaStream_t stream, const Write& write) noexcept;
  /// Plans `count` transforms whose input rows are `input_distance` complex numbers apart. Returns the bytes of their
  /// workspace.
  std::size_t make_plan(const FftPlan& plan, std::size_t input_distance, std::size_t count) const;
  void make_factors(std::span<const RowResponse> responses, Backend& backend);

  const CufftLibrary& cufft_ = cufft_library();
  std::size_t rows_;
  std::size_t samples_;
  std::size_t input_stride_;
  CufftSizes sizes_;
  bool in_place_ = false;  // rows are copied before the transform
  FftPlan forward_;
  FftPlan backward_;
  Buffer spectra_;  // [results, chunk, length / 2] complex
  Buffer work_;
  Buffer factors_;  // PairFactors, or ResponsePairs of one response after the other
};

}  // namespace echoform::gpu
