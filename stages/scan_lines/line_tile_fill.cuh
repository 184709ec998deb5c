// Copying samples into the shared memory of a tile of lines (line_tile_kernels.cuh), and computing upsampled values from them.
#pragma once

#include <cstdint>

#include "stages/raw_rows/sample_math.hpp"
#include "stages/scan_lines/line_tile_layout.cuh"

namespace echoform::gpu {
namespace {

/// The greatest and the smallest of some 16-bit samples, separately for samples at even and at odd places.
struct Outermost {
  std::uint32_t highest = 0;
  std::uint32_t lowest = 0;
  __device__ void add(std::uint32_t two, std::uint32_t and_two) {
    highest = __vimax3_s16x2(highest, two, and_two);
    lowest = __vimin3_s16x2(lowest, two, and_two);
  }
  /// Whether one of the numbers is 32767 or -32768.
  __device__ bool at_end() const { return ((__vmaxs2(highest, ~lowest) + 0x00010001U) & 0x80008000U) != 0; }
};

/// Four samples as they lie in device memory.
template <class Sample>
struct FourSamples;

template <>
struct FourSamples<std::int16_t> {
  uint2 words = {0, 0};
  __device__ void load(const std::byte* row, int n) {
    words = __ldg(reinterpret_cast<const uint2*>(row + 2 * std::ptrdiff_t{n}));
  }
  __device__ int whole(int k) const {
    const std::uint32_t word = k < 2 ? words.x : words.y;
    return static_cast<std::int16_t>(k % 2 == 0 ? word & 0xffffU : word >> 16);
  }
  /// Converts by placing the bytes behind those of 2^23: the conversion instruction does not run at full rate.
  __device__ float4 floats() const {
    const auto of = [](std::uint32_t word, std::uint32_t bytes) {
      return __uint_as_float(__byte_perm(word ^ 0x80008000U, 0x4B000000U, bytes)) - (8388608.0F + 32768.0F);
    };
    return {of(words.x, 0x7410), of(words.x, 0x7432), of(words.y, 0x7410), of(words.y, 0x7432)};
  }
  /// Keeps the first `count` samples and sets the others to 0.
  __device__ void cut(int count) {
    if (count < 4) words.y = count < 3 ? 0 : words.y & 0xffffU;
    if (count < 2) words.x = count < 1 ? 0 : words.x & 0xffffU;
  }
  __device__ void add_to(Outermost& outermost) const { outermost.add(words.x, words.y); }
  __device__ bool at_end(int k) const { return whole(k) == int16_lowest || whole(k) == int16_highest; }
};

template <>
struct FourSamples<float> {
  float4 values = {0.0F, 0.0F, 0.0F, 0.0F};
  __device__ void load(const std::byte* row, int n) {
    values = __ldg(reinterpret_cast<const float4*>(row + 4 * std::ptrdiff_t{n}));
  }
  __device__ float4 floats() const { return values; }
  __device__ void cut(int count) {
    if (count < 4) values.w = 0.0F;
    if (count < 3) values.z = 0.0F;
    if (count < 2) values.y = 0.0F;
    if (count < 1) values.x = 0.0F;
  }
  __device__ void add_to(Outermost& /*outermost*/) const {}
  __device__ bool at_end(int /*k*/) const { return false; }
};

/// A block's event, tile and ranges.
struct TileBlock {
  TileEvent event;
  unsigned tile;
  unsigned first;  // first range
  unsigned count;  // number of ranges
};

/// Copies the samples of `at_once` receivers from device memory through registers to shared memory. A warp brings 512 samples of
/// a receiver at a time, four times four per thread, or a part of them where there are more warps than receivers. The last warp
/// brings what is left behind the 512 samples, for all receivers.
template <class Sample, unsigned taps, unsigned groups>
class TileFill {
  static constexpr unsigned at_once = receivers_at_once(taps);
  static constexpr unsigned warps = group_warps * groups;
  static constexpr unsigned pieces = at_once >= warps ? 4 : 4 * at_once / warps;  // groups of four samples, 128 apart
  static constexpr unsigned parts = 4 / pieces;                                   // warps per receiver
  static constexpr unsigned turns = at_once * parts / warps;
  static constexpr unsigned left = (brought(taps) - 512) / 4;  // number per receiver, in groups of four
  static_assert(turns * warps == at_once * parts && at_once * left <= 32);

 public:
  __device__ void load(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row) {
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
      FourSamples<Sample>(&fours)[pieces] = samples_[turn];
      const unsigned row = first_row + receiver(turn);
      const std::int32_t window = windows[row];
      const std::byte* const from = row_of(tiles, block, row);
      const int n = first_sample(window) + static_cast<int>(offset());
      // The first sample of the warp, so that its threads do not diverge.
      const int begin = first_sample(window) + static_cast<int>(offset() - 4 * (threadIdx.x % 32));
      if (window != 0 && begin >= 0 && begin + static_cast<int>(128 * pieces) <= tiles.samples) {
        const std::byte* const at = from + static_cast<int>(sizeof(Sample)) * n;
#pragma unroll
        for (unsigned piece = 0; piece < pieces; ++piece) fours[piece].load(at, static_cast<int>(128 * piece));
      } else {
#pragma unroll
        for (unsigned piece = 0; piece < pieces; ++piece) {
          fours[piece] = {};
          if (window != 0) load_at_end(fours[piece], tiles, from, n + static_cast<int>(128 * piece));
        }
      }
    }
    if (!brings_rest()) return;
    rest_ = {};
    const unsigned row = first_row + rest_receiver();
    if (windows[row] != 0) load_at_end(rest_, tiles, row_of(tiles, block, row), rest_sample(windows[row]));
  }

  /// Stores the samples, and adds to `clipped` the clipped samples that the tile counts.
  __device__ void store(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row,
                        float* to, std::uint32_t& clipped) const {
    float* const rest_to = to + rest_receiver() * brought(taps) + 512 + 4 * (threadIdx.x % left);
    Outermost outermost;
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
      for (const FourSamples<Sample>& four : samples_[turn]) four.add_to(outermost);
    }
    if (brings_rest()) rest_.add_to(outermost);
    if (tiles.gain == nullptr) {
#pragma unroll
      for (unsigned turn = 0; turn < turns; ++turn) {
        float* const at = to + receiver(turn) * brought(taps) + offset();
#pragma unroll
        for (unsigned piece = 0; piece < pieces; ++piece) {
          *reinterpret_cast<float4*>(at + 128 * piece) = samples_[turn][piece].floats();
        }
      }
      if (brings_rest()) *reinterpret_cast<float4*>(rest_to) = rest_.floats();
    } else {
#pragma unroll
      for (unsigned turn = 0; turn < turns; ++turn) {
        const int n = first_sample(windows[first_row + receiver(turn)]) + static_cast<int>(offset());
        float* const at = to + receiver(turn) * brought(taps) + offset();
#pragma unroll
        for (unsigned piece = 0; piece < pieces; ++piece) {
          put(tiles, samples_[turn][piece], n + static_cast<int>(128 * piece), at + 128 * piece);
        }
      }
      if (brings_rest()) put(tiles, rest_, rest_sample(windows[first_row + rest_receiver()]), rest_to);
    }
    if (outermost.at_end()) count_all(tiles, block, windows, first_row, clipped);
  }

 private:
  __device__ static unsigned receiver(unsigned turn) {
    return (turn * warps + threadIdx.x / 32) / parts;
  }
  __device__ static bool brings_rest() {
    return threadIdx.x - 32 * (warps - 1) < at_once * left;  // if the difference is negative, it is huge as an unsigned number
  }
  __device__ static unsigned rest_receiver() {
    return threadIdx.x % 32 / left;
  }
  /// The thread's offset within the receiver's samples.
  __device__ static unsigned offset() {
    return threadIdx.x / 32 % parts * (128 * pieces) + threadIdx.x % 32 * 4;
  }
  __device__ static int first_sample(std::int32_t window) {
    return (window & ~3) - static_cast<int>(taps == 0 ? 0 : halo);
  }
  __device__ static int rest_sample(std::int32_t window) {
    return first_sample(window) + 512 + 4 * static_cast<int>(threadIdx.x % left);
  }
  __device__ static const std::byte* row_of(const LineTiles& tiles, const TileBlock& block, unsigned row) {
    return static_cast<const std::byte*>(tiles.rows) + std::size_t{block.event.first_row + row} * tiles.row_bytes;
  }
  __device__ static void load_at_end(FourSamples<Sample>& four, const LineTiles& tiles, const std::byte* from, int n) {
    if (n < 0 || n >= tiles.samples) return;
    four.load(from, n);
    if (n + 4 > tiles.samples) four.cut(tiles.samples - n);
  }
  __device__ static void put(const LineTiles& tiles, const FourSamples<Sample>& four, int n, float* to) {
    float4 values = four.floats();
    const auto gain = [&](int at) { return at >= 0 && at < tiles.samples ? __ldg(tiles.gain + at) : 0.0F; };
    values.x *= gain(n);
    values.y *= gain(n + 1);
    values.z *= gain(n + 2);
    values.w *= gain(n + 3);
    *reinterpret_cast<float4*>(to) = values;
  }
  /// Counts all clipped samples. It is rarely needed.
  __device__ void count_all(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row,
                            std::uint32_t& clipped) const {
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
      const unsigned row = first_row + receiver(turn);
      if (windows[row] == 0) continue;
      const int n = first_sample(windows[row]) + static_cast<int>(offset());
#pragma unroll
      for (unsigned piece = 0; piece < pieces; ++piece) {
        count(tiles, block, windows, row, n + static_cast<int>(128 * piece), samples_[turn][piece], clipped);
      }
    }
    if (!brings_rest()) return;
    const unsigned row = first_row + rest_receiver();
    if (windows[row] != 0) count(tiles, block, windows, row, rest_sample(windows[row]), rest_, clipped);
  }
  __device__ static void count(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned row, int n,
                               const FourSamples<Sample>& four, std::uint32_t& clipped) {
    const std::int32_t* const begin =
        tiles.bounds + std::size_t{block.event.first_heard} * (tiles.tiles + 1) + block.tile * block.event.rows + row;
    const int end = min(begin[block.event.rows], (windows[row] & ~3) + static_cast<int>(counted_samples(taps)));
    for (int k = 0; k < 4; ++k) {
      if (n + k >= begin[0] && n + k < end && four.at_end(k)) ++clipped;
    }
  }

  FourSamples<Sample> samples_[turns][pieces];
  FourSamples<Sample> rest_;
};

/// Computes the values behind each sample, by filters without their ends that are 0.
template <unsigned taps>
__device__ __forceinline__ void upsample_four(const float (&s)[20], const LineTiles& tiles, float* to) {
  constexpr unsigned left = (taps - 1) / 2;
  float phase[3][4];
#pragma unroll
  for (unsigned p = 0; p < 3; ++p) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) phase[p][k] = 0.0F;
#pragma unroll
    for (unsigned tap = p == 2 ? 1 : 0; tap < (p == 0 ? taps - 1 : taps); ++tap) {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) phase[p][k] = fmaf(tiles.phases[p][tap], s[halo + k - left + tap], phase[p][k]);
    }
  }
  *reinterpret_cast<float4*>(to) = {s[halo], s[halo + 1], s[halo + 2], s[halo + 3]};
#pragma unroll
  for (unsigned p = 0; p < 3; ++p) {
    *reinterpret_cast<float4*>(to + (p + 1) * tile_window) = {phase[p][0], phase[p][1], phase[p][2], phase[p][3]};
  }
  *reinterpret_cast<float4*>(to + 4 * tile_window) = {s[halo + 1], s[halo + 2], s[halo + 3], s[halo + 4]};
}

template <unsigned taps, unsigned groups>
__device__ __forceinline__ void upsample_all(const LineTiles& tiles, const float* from, float* to) {
  constexpr unsigned quads = tile_window / 4;
  for (unsigned item = threadIdx.x; item < receivers_at_once(taps) * quads; item += tile_threads * groups) {
    const unsigned receiver = item / quads;
    const unsigned quad = item % quads;
    const auto* const samples = reinterpret_cast<const float4*>(from + receiver * brought(taps)) + quad;
    float s[20];
#pragma unroll
    for (unsigned k = 0; k < 5; ++k) {
      const float4 four = samples[k];
      s[4 * k] = four.x;
      s[4 * k + 1] = four.y;
      s[4 * k + 2] = four.z;
      s[4 * k + 3] = four.w;
    }
    upsample_four<taps>(s, tiles, to + receiver * planes * tile_window + 4 * quad);
  }
}

}  // namespace
}  // namespace echoform::gpu
