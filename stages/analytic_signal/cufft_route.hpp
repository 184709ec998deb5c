// The Hilbert transform of rows of any length by cuFFT. For *_cuda.cpp files.
//
// A row of even, smooth length goes through a complex transform of half its length, which reads the row as it lies (numbers 2 n
// and 2 n + 1 as re and im), one kernel for the factors (paired_spectrum.hpp) and the transform back; so no row meets another.
// Other lengths are copied to longer rows with zeros behind and convolved, as on the CPU (hilbert_transform_length()). Rows are
// taken in chunks whose spectra stay in the second-level cache between the kernels, on two streams by turns: while the last
// blocks of one chunk's kernel run, those of the other's fill the multiprocessors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/cufft_library.hpp"
#include "gpu/stream.hpp"
#include "pipeline/backend.hpp"
#include "stages/analytic_signal/analytic_kernels.hpp"

namespace echoform::gpu {

class CufftRoute {
 public:
  /// For rows of `samples`, `input_stride` apart. Throws RuntimeFault if there is no memory, no plan or no cuFFT.
  CufftRoute(std::size_t rows, std::size_t samples, std::size_t input_stride, Backend& backend);

  /// Queues the whole stage.
  void process(const AnalyticRows& rows, cudaStream_t stream) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  /// What the chunks of one stream need.
  struct Lane {
    FftPlan forward;
    FftPlan backward;
    Buffer spectra;  // [chunk, length / 2] complex
    Buffer work;
    Stream stream;   // none: the queue's
    Event finished;  // with a stream of its own only
  };

  /// Plans transforms whose input rows are `input_distance` complex numbers apart; the bytes that they work in.
  std::size_t make_plan(const FftPlan& plan, std::size_t input_distance) const;
  void queue_chunk(const AnalyticRows& rows, std::size_t first, const Lane& lane, cudaStream_t stream) noexcept;

  const CufftLibrary& cufft_ = cufft_library();
  std::size_t rows_;
  std::size_t length_;     // of the transform of a row
  std::size_t chunk_;      // rows
  bool in_place_ = false;  // rows are copied before the transform
  Buffer factors_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Event begun_;
};

}  // namespace echoform::gpu
