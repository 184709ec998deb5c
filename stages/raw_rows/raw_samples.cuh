// Shared by kernels that read received samples. This header is for *.cu files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acquisition/sample_encodings.hpp"
#include "stages/raw_rows/frame_facts.hpp"
#include "stages/raw_rows/sample_math.hpp"

namespace echoform::gpu {

inline constexpr unsigned most_raw_threads = 256;  // threads of a block

/// Reads sample n alone.
template <SampleEncoding Encoding>
__device__ __forceinline__ auto load_sample(const std::byte* row, std::size_t n) {
  if constexpr (Encoding == SampleEncoding::int16) {
    return static_cast<int>(reinterpret_cast<const std::int16_t*>(row)[n]);
  } else if constexpr (Encoding == SampleEncoding::packed12) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(row) + n / 2 * 3;
    return n % 2 == 0 ? even_sample12(bytes) : odd_sample12(bytes);
  } else {
    return reinterpret_cast<const std::uint32_t*>(row)[n];
  }
}

/// The facts that a thread has collected from a row.
struct Seen {
  std::uint32_t bad = 0;  // number of clipped or invalid samples
  std::uint32_t peak_bits = 0;
  std::uint32_t least_invalid = 0;  // for float32
};

template <SampleEncoding Encoding>
__device__ __forceinline__ int checked(int sample, Seen& seen) {
  constexpr int lowest = Encoding == SampleEncoding::int16 ? int16_lowest : packed12_lowest;
  constexpr int highest = Encoding == SampleEncoding::int16 ? int16_highest : packed12_highest;
  seen.bad += static_cast<std::uint32_t>(sample == lowest) + static_cast<std::uint32_t>(sample == highest);
  return sample;
}
template <SampleEncoding Encoding>
__device__ __forceinline__ float checked(std::uint32_t bits, Seen& seen) {
  const bool bad = is_invalid_sample(bits, seen.least_invalid);
  seen.bad += static_cast<std::uint32_t>(bad);
  return __uint_as_float(bad ? 0u : bits);
}

/// Reads samples of one encoding, for kernels that are instantiated for each encoding.
template <SampleEncoding Encoding>
struct RawSamples {
  static constexpr SampleEncoding encoding = Encoding;

  /// The state before the first sample.
  __device__ __forceinline__ static Seen nothing_seen(float scale) {
    Seen seen;
    if constexpr (Encoding == SampleEncoding::float32) seen.least_invalid = least_invalid_sample(scale);
    return seen;
  }
  /// Sample n times the scale; 0 where it is invalid.
  __device__ __forceinline__ static float read(const std::byte* row, std::size_t n, float scale, Seen& seen) {
    return static_cast<float>(checked<Encoding>(load_sample<Encoding>(row, n), seen)) * scale;
  }
};

/// Calls use(RawSamples<encoding>()).
template <class Use>
void with_raw_samples(SampleEncoding encoding, const Use& use) {
  switch (encoding) {
    case SampleEncoding::int16:
      return use(RawSamples<SampleEncoding::int16>());
    case SampleEncoding::packed12:
      return use(RawSamples<SampleEncoding::packed12>());
    case SampleEncoding::float32:
      return use(RawSamples<SampleEncoding::float32>());
  }
}

/// The last action of a block: one atomic operation for each fact that the block changes, and one that shows whether it is the
/// last block of the frame. The last block hands the facts on and leaves zeros for the next frame, which saves two further
/// launches.
template <SampleEncoding Encoding>
__device__ void report(const Seen& seen, const FactsPlaces& places) {
  __shared__ std::uint32_t bad[most_raw_threads / 32];
  __shared__ std::uint32_t peak[most_raw_threads / 32];
  const std::uint32_t warp_bad = __reduce_add_sync(0xffffffffu, seen.bad);
  const std::uint32_t warp_peak = __reduce_max_sync(0xffffffffu, seen.peak_bits);
  if (threadIdx.x % 32 == 0) {
    bad[threadIdx.x / 32] = warp_bad;
    peak[threadIdx.x / 32] = warp_peak;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned long long total = 0;
  std::uint32_t most = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) {
    total += bad[warp];
    most = max(most, peak[warp]);
  }
  FrameFacts& facts = places.gathered->facts;
  auto* const count =
      reinterpret_cast<unsigned long long*>(Encoding == SampleEncoding::float32 ? &facts.invalid : &facts.clipped);
  if (total != 0) atomicAdd(count, total);
  // A stale value read here can only be smaller; the atomic operation decides then.
  if (most > *const_cast<volatile std::uint32_t*>(&facts.peak_bits)) atomicMax(&facts.peak_bits, most);
  __threadfence();
  if (atomicAdd(&places.gathered->finished_blocks, 1) + 1 != gridDim.x * gridDim.y) return;
  __threadfence();
  const auto* const words = const_cast<const volatile std::uint64_t*>(reinterpret_cast<std::uint64_t*>(&facts));
  constexpr int facts_words = sizeof(FrameFacts) / sizeof(std::uint64_t);
  for (int k = 0; k < facts_words; ++k) {
    const std::uint64_t word = words[k];
    reinterpret_cast<std::uint64_t*>(places.facts)[k] = word;
    reinterpret_cast<std::uint64_t*>(places.readback)[k] = word;
  }
  for (int k = facts_words; k < static_cast<int>(facts_trailer / sizeof(std::uint64_t)); ++k) {
    reinterpret_cast<std::uint64_t*>(places.facts)[k] = 0;
  }
  *places.gathered = GatheredFacts{};
}

}  // namespace echoform::gpu
