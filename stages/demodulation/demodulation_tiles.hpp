// How demodulation is divided into blocks of threads on CUDA. Free of CUDA's headers.
#pragma once

#include <cstdint>

#include "pipeline/block.hpp"
#include "stages/demodulation/demodulation_tables.hpp"

namespace echoform {

inline constexpr std::size_t demodulation_outputs = 4;  ///< of a thread

/// A block computes consecutive kept samples of a row from samples in shared memory, whose order is `layout`.
struct DemodulationTile {
  std::size_t kept = 0;     ///< of a block, a multiple of 32
  std::size_t threads = 0;  ///< each computes `demodulation_outputs` samples, together at least `kept`
  std::size_t floats = 0;   ///< of shared memory
  PhaseLayout layout;       ///< its pitch is odd, so that threads that write samples of neighbouring phases have few bank
                            ///< conflicts
};

/// The tile for output rows of `columns`, padding included.
[[nodiscard]] DemodulationTile demodulation_tile(const DemodulationOptions& options, std::size_t columns);

/// A tap in device memory.
struct alignas(16) DemodulationTap {
  float cosine = 0.0F;
  float sine = 0.0F;
  std::int32_t offset = 0;
  std::int32_t unused = 0;
};

/// Bytes of device memory that the stage holds for this input, without the facts of a frame.
[[nodiscard]] std::size_t demodulation_bytes_cuda(const DemodulationOptions& options, const BlockSpec& input);

}  // namespace echoform
