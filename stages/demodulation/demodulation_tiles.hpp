// How demodulation is cut into blocks of threads on CUDA. Free of CUDA's headers.
#pragma once

#include <cstdint>

#include "pipeline/block.hpp"
#include "stages/demodulation/demodulation_tables.hpp"

namespace echoform {

inline constexpr std::size_t demodulation_outputs = 4;  ///< of a thread

/// A block works out some kept samples of a row that follow each other, from samples in shared memory that lie as `layout` says.
struct DemodulationTile {
  std::size_t kept = 0;     ///< of a block, a multiple of 32
  std::size_t threads = 0;  ///< with `demodulation_outputs` each at least `kept`
  std::size_t floats = 0;   ///< of shared memory
  PhaseLayout layout;       ///< its pitch is odd: threads that write samples of neighbouring phases meet in few banks
};

/// For output rows of `columns` with what pads them.
[[nodiscard]] DemodulationTile demodulation_tile(const DemodulationOptions& options, std::size_t columns);

/// A tap in device memory.
struct alignas(16) DemodulationTap {
  float cosine = 0.0F;
  float sine = 0.0F;
  std::int32_t offset = 0;
  std::int32_t unused = 0;
};

/// What the stage holds in device memory for this input beside the facts of a frame.
[[nodiscard]] std::size_t demodulation_bytes_cuda(const DemodulationOptions& options, const BlockSpec& input);

}  // namespace echoform
