// Sums along lines on CUDA, by any delay filter. One thread sums one point and looks samples up in device memory. For *.cu
// and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/raw_rows/frame_facts.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_tables.hpp"

namespace echoform::gpu {

/// LineTables and further tables, in device memory.
struct LineSetOnDevice {
  const float* range = nullptr;                           ///< by range
  const std::int32_t* whole = nullptr;                    ///< [line, pitch]
  const float* rest = nullptr;                            ///< likewise
  const float* turn_re = nullptr;                         ///< likewise: for real samples the divisor
  const float* turn_im = nullptr;                         ///< likewise, for complex samples
  const scan_lines::PlacedReceiver* receivers = nullptr;  ///< those of one line after those of another
  const std::uint32_t* first_receivers = nullptr;         ///< by line, and the end
  const std::uint32_t* first_rows = nullptr;              ///< for each line: the first row of its event in the rows that are
                                                          ///< summed
  const float* weights = nullptr;                         ///< [table, range], without gaps
  const scan_lines::TapTable* taps = nullptr;
  std::uint32_t lines = 0;
  std::uint32_t ranges = 0;
  std::uint32_t pitch = 0;
};

/// Places where a frame's facts are collected.
struct LineFacts {
  GatheredFacts* gathered = nullptr;    ///< null: no facts are needed
  const FrameFacts* of_rows = nullptr;  ///< facts of the rows, whose counts are passed on
  FrameFacts* facts = nullptr;          ///< facts_trailer bytes
  FrameFacts* readback = nullptr;       ///< pinned memory, for the host
};

struct LineSums {
  LineSetOnDevice set;
  const float* rows = nullptr;  ///< float32, or complex64 for complex samples
  std::size_t row_stride = 0;   ///< in samples
  std::int32_t samples = 0;
  scan_lines::Lookup lookup = scan_lines::Lookup::linear;
  bool complex = false;
  float cycles = 0.0F;  ///< as in ComplexLineTask
  float* out = nullptr;
  std::size_t out_stride = 0;  ///< padded with zeros
  LineFacts facts;             ///< for real samples only
};

/// Queues the kernel, one launch a frame.
void launch_line_sums(const LineSums& sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
