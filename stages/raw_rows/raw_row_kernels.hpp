// Conversion of raw A-scans to float32 on CUDA: the kernel of pairing. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "acquisition/acquisition.hpp"
#include "acquisition/pair_source.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform::gpu {

struct RawRows {
  const void* input = nullptr;  ///< raw A-scans, aligned to one sample (packed12: a byte)
  std::size_t input_row_bytes = 0;
  SampleEncoding encoding = SampleEncoding::int16;
  const PairSource* sources =
      nullptr;              ///< device memory, one an output row; their weights hold the sample scale. Null: rows as received
  float* output = nullptr;  ///< 16-byte aligned
  std::size_t output_row_stride = 0;  ///< a multiple of 4
  std::size_t rows = 0;               ///< below 2^31
  std::size_t samples = 0;
  FactsPlaces places;
};

/// Queues the kernel, one launch a frame. Values have the same bits as on the CPU.
void launch_raw_rows(const RawRows& rows, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
