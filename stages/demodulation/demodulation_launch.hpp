// Launch of the demodulation on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "acquisition/sample_encodings.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform {

struct DemodulationTap;

/// Arguments of a launch. Pointers are to device memory.
struct DemodulationRows {
  const void* in = nullptr;  ///< raw A-scans, aligned to one sample (packed12: a byte), or float32 ones
  std::size_t in_row_bytes = 0;
  bool raw = false;
  SampleEncoding encoding{};    ///< of raw ones
  float scale = 1.0F;           ///< likewise
  const float* gain = nullptr;  ///< likewise: by sample; null: none
  FactsPlaces places;           ///< likewise
  void* out = nullptr;          ///< complex
  std::size_t out_stride = 0;
  std::size_t rows = 0;  ///< below 2^31
  std::size_t samples = 0;
  std::size_t kept = 0;  ///< of a row
  const DemodulationTap* taps = nullptr;
  const void* turns = nullptr;  ///< pairs of cosine and sine by kept sample
  std::uint32_t tap_count = 0;
  std::uint32_t decimation = 1;
  std::uint32_t tile = 0;  ///< this and the members that follow: as in DemodulationTile
  std::uint32_t threads = 0;
  std::uint32_t floats = 0;
  std::uint32_t lead = 0;
  std::uint32_t pitch = 0;
};

void launch_demodulation(const DemodulationRows& work, cudaStream_t stream) noexcept;

}  // namespace echoform
