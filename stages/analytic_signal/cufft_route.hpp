// The Hilbert transform of rows of any length by cuFFT. For *_cuda.cpp files.
//
// A row of even, smooth length goes through a complex transform of half its length, which reads the row as it lies (numbers 2 n
// and 2 n + 1 as re and im), one kernel for the factors (paired_spectrum.hpp) and the transform back; so no row meets another.
// Other lengths are copied to longer rows with zeros behind and convolved, as on the CPU (hilbert_transform_length()). Large
// frames are taken in chunks of rows, which bounds the memory for spectra. (Chunks small enough for the second-level cache are
// slower: each of their kernels is over before it fills the GPU.)
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "gpu/cufft_library.hpp"
#include "pipeline/backend.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"

namespace echoform::gpu {

class CufftRoute {
 public:
  /// For rows of `samples`, `input_stride` apart, whose spectra may take `most_bytes`. Throws RuntimeFault if there is no memory,
  /// no plan or no cuFFT.
  CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, std::size_t most_bytes, Backend& backend);

  /// Queues the whole stage.
  void process(const AnalyticRows& rows, cudaStream_t stream) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return spectra_.size() + work_.size() + factors_.size(); }

 private:
  /// Plans transforms whose input rows are `input_distance` complex numbers apart; the bytes that they work in.
  std::size_t make_plan(const FftPlan& plan, std::size_t input_distance) const;

  const CufftLibrary& cufft_ = cufft_library();
  std::size_t rows_;
  std::size_t length_ = 0;  // of the transform of a row
  std::size_t chunk_ = 0;   // rows
  bool in_place_ = false;   // rows are copied before the transform
  FftPlan forward_;
  FftPlan backward_;
  Buffer spectra_;  // [chunk, length / 2] complex
  Buffer work_;
  Buffer factors_;
};

}  // namespace echoform::gpu
