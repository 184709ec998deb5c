// Sums along lines on CUDA, by any delay filter: a thread a point, samples looked up in device memory. For *.cu and *_cuda.cpp
// files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/raw_rows/frame_facts.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_tables.hpp"

namespace echoform::gpu {

/// LineTables and what goes with them, in device memory.
struct LineSetOnDevice {
  const float* range = nullptr;                           ///< by range
  const std::int32_t* whole = nullptr;                    ///< [line, pitch]
  const float* rest = nullptr;                            ///< likewise
  const float* turn_re = nullptr;                         ///< likewise: of real samples the divisor
  const float* turn_im = nullptr;                         ///< likewise, of complex samples
  const scan_lines::PlacedReceiver* receivers = nullptr;  ///< of a line behind each other
  const std::uint32_t* first_receivers = nullptr;         ///< by line, and the end
  const std::uint32_t* first_rows = nullptr;              ///< by line: of its event, in the rows that are summed
  const float* weights = nullptr;                         ///< [table, range], without gaps
  const scan_lines::TapTable* taps = nullptr;
  std::uint32_t lines = 0;
  std::uint32_t ranges = 0;
  std::uint32_t pitch = 0;
};

/// Where a frame's facts are put together.
struct LineFacts {
  GatheredFacts* gathered = nullptr;    ///< null: no facts are wanted
  const FrameFacts* of_rows = nullptr;  ///< whose counts are handed on
  FrameFacts* facts = nullptr;          ///< facts_trailer bytes
  FrameFacts* readback = nullptr;       ///< pinned memory, for the host
};

struct LineSums {
  LineSetOnDevice set;
  const float* rows = nullptr;  ///< float32 or, of complex samples, complex64
  std::size_t row_stride = 0;   ///< in samples
  std::int32_t samples = 0;
  scan_lines::Lookup lookup = scan_lines::Lookup::linear;
  bool complex = false;
  float cycles = 0.0F;  ///< as ComplexLineTask has it
  float* out = nullptr;
  std::size_t out_stride = 0;  ///< padded with zeros
  LineFacts facts;             ///< of real samples
};

/// Queues the kernel, one launch a frame.
void launch_line_sums(const LineSums& sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
