// The trailer of the output of the first stage of a chain on CUDA, which follows the rows. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoform {

/// Facts of a frame. Blocks gather them by integer atomics, so that the order of blocks does not matter.
struct FrameFacts {
  std::uint32_t peak_bits = 0;  ///< greatest |value| of the rows, as the bits of a float: they order as the floats do
  std::uint32_t unused = 0;
  std::uint64_t clipped = 0;  ///< as in SampleQuality
  std::uint64_t invalid = 0;
};

/// Bytes that the facts take after the rows.
inline constexpr std::size_t facts_trailer = 64;
static_assert(sizeof(FrameFacts) <= facts_trailer);

/// The memory in which the blocks of a frame collect their facts. It is zero before the first frame, and the last block of a
/// frame resets it. It serves one frame at a time.
struct GatheredFacts {
  FrameFacts facts;
  std::uint32_t finished_blocks = 0;
};

/// The places to which kernels write the facts of a frame.
struct FactsPlaces {
  GatheredFacts* gathered = nullptr;  ///< device memory
  FrameFacts* facts = nullptr;        ///< facts_trailer bytes of the output, 8-byte aligned
  FrameFacts* readback = nullptr;     ///< pinned memory, for the host
};

}  // namespace echoform
