// The kernel of tiles of lines, included once for each type of sample (line_tiles_int16.cu, line_tiles_float.cu).
//
// A block has a tile of up to 512 ranges and all lines of an event along it. Of some receivers at a time it brings the window of
// samples that the tile can reach into shared memory, as floats, with the gain of their time; upsampled, the values at a quarter,
// a half and three quarters behind each of them too, which all lines of the event share. Then each thread looks up the samples of
// four ranges, 128 apart, so that those of a warp follow each other, and so do their samples. The next receivers' samples are on
// their way from device memory meanwhile.
//
// A warp has 128 ranges that follow each other. Where the way to a receiver is a polynomial of the fourth degree over these
// (line_kernels.hpp, steady_error), its coefficients are worked out once for all of them.
//
// Upsampled values stand in five planes: samples, the three phases, and the samples again from the next one on. So the value
// before a place and the one behind it have the same index in planes beside each other, and lanes whose places are a sample apart
// read neighbouring words, where one row of all four phases would have them meet in a quarter of the banks.
#pragma once

#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/raw_rows/sample_math.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_math.cuh"

namespace echoform::gpu {
namespace {

/// Samples that a window has before and behind, for the filters of upsampling.
constexpr unsigned halo = 8;
constexpr unsigned planes = 5;

__host__ __device__ constexpr unsigned receivers_at_once(unsigned taps) {
  return taps == 0 ? 8 : 4;
}
/// Samples of a receiver that are brought.
__host__ __device__ constexpr unsigned brought(unsigned taps) {
  return taps == 0 ? tile_window : tile_window + 2 * halo;
}

/// Ranges of a warp.
constexpr unsigned warp_ranges = 32 * tile_depth;
constexpr unsigned group_warps = tile_threads / 32;
/// Half of a warp's ranges, in their distance from each other.
constexpr float half_warp = 0.5F * static_cast<float>(warp_ranges - 1);

/// What a warp's lookups need of a receiver on a line.
struct alignas(16) TileReceiver {
  float terms[4];  // coefficients of the way by powers, or a TilePlace
  float fourth;    // of the fourth power
  float weight;
  float magic;         // whole_magic, and where the receiver's window lies in shared memory
  std::uint32_t kind;  // bits: receiver_*, and above them the table of weights that vary
};
constexpr std::uint32_t receiver_is_heard = 1;
constexpr std::uint32_t receiver_is_checked = 2;
constexpr std::uint32_t receiver_varies = 4;
constexpr std::uint32_t receiver_is_steady = 8;
constexpr unsigned receiver_table_shift = 4;

/// Bytes of shared memory, piece by piece.
struct TileLayout {
  unsigned samples;    // [2 at once: receiver, sample], or upsampled [receiver, sample]
  unsigned fine;       // upsampled: [receiver, plane, sample]
  unsigned receivers;  // [2 at once: line, receiver, warp]
  unsigned sums;       // [line, range]
  unsigned windows;    // [row], and some behind that are not used
  unsigned bytes;
};
__host__ __device__ inline TileLayout tile_layout(unsigned taps, unsigned most_lines, unsigned most_rows) {
  const unsigned at_once = receivers_at_once(taps);
  TileLayout layout{};
  layout.fine = (taps == 0 ? 2 : 1) * at_once * brought(taps) * 4;
  layout.receivers = layout.fine + (taps == 0 ? 0 : at_once * planes * tile_window * 4);
  layout.sums = layout.receivers + 2 * most_lines * at_once * group_warps * static_cast<unsigned>(sizeof(TileReceiver));
  layout.windows = layout.sums + most_lines * most_tile_ranges * 4;
  layout.bytes = layout.windows + (most_rows + at_once) * 4;
  return layout;
}

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
  __device__ float operator[](int k) const { return static_cast<float>(whole(k)); }
  /// The first `count` alone.
  __device__ void cut(int count) {
    if (count < 4) words.y = count < 3 ? 0 : words.y & 0xffffU;
    if (count < 2) words.x = count < 1 ? 0 : words.x & 0xffffU;
  }
  /// Two numbers of 16 bits, that are 32767 where one of them lies at an end of the range.
  __device__ std::uint32_t outermost() const { return __vmaxs2(__vmaxs2(words.x, words.y), ~__vmins2(words.x, words.y)); }
  __device__ bool at_end(int k) const { return whole(k) == int16_lowest || whole(k) == int16_highest; }
};

template <>
struct FourSamples<float> {
  float4 values = {0.0F, 0.0F, 0.0F, 0.0F};
  __device__ void load(const std::byte* row, int n) {
    values = __ldg(reinterpret_cast<const float4*>(row + 4 * std::ptrdiff_t{n}));
  }
  __device__ float operator[](int k) const { return k == 0 ? values.x : k == 1 ? values.y : k == 2 ? values.z : values.w; }
  __device__ void cut(int count) {
    if (count < 4) values.w = 0.0F;
    if (count < 3) values.z = 0.0F;
    if (count < 2) values.y = 0.0F;
    if (count < 1) values.x = 0.0F;
  }
  __device__ std::uint32_t outermost() const { return 0; }
  __device__ bool at_end(int /*k*/) const { return false; }
};

/// What a block knows of itself.
struct TileBlock {
  TileEvent event;
  unsigned tile;
  unsigned first;  // range
  unsigned count;  // of ranges
};

__device__ __forceinline__ bool at_ends(std::uint32_t outermost) {
  return ((outermost + 0x00010001U) & 0x80008000U) != 0;
}

/// Samples of `at_once` receivers, from device memory by way of registers to shared memory. A warp brings 256 of a receiver at a
/// time, two times four a thread; what is left behind 512 the first warp brings, of all receivers.
template <class Sample, unsigned taps, unsigned groups>
class TileFill {
  static constexpr unsigned at_once = receivers_at_once(taps);
  static constexpr unsigned warps = group_warps * groups;
  static constexpr unsigned turns = at_once * 2 / warps;
  static constexpr unsigned left = (brought(taps) - 512) / 4;  // of a receiver, by four
  static_assert(at_once * 2 % warps == 0 && at_once * left == 32);

 public:
  __device__ void load(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row) {
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
      FourSamples<Sample>(&two)[2] = samples_[turn];
      two[0] = two[1] = {};
      const unsigned row = first_row + receiver(turn);
      const std::int32_t window = windows[row];
      if (window == 0) continue;
      const std::byte* const from = row_of(tiles, block, row);
      const int n = first_sample(window) + static_cast<int>(offset());
      if (n >= 0 && n + 132 <= tiles.samples) {
        two[0].load(from, n);
        two[1].load(from, n + 128);
      } else {
        load_at_end(two[0], tiles, from, n);
        load_at_end(two[1], tiles, from, n + 128);
      }
    }
    if (threadIdx.x >= 32) return;
    rest_ = {};
    const unsigned row = first_row + threadIdx.x / left;
    if (windows[row] != 0) load_at_end(rest_, tiles, row_of(tiles, block, row), rest_sample(windows[row]));
  }

  /// Adds to `clipped` what the tile counts.
  __device__ void store(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row,
                        float* to, std::uint32_t& clipped) const {
    std::uint32_t outermost = 0;
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        const FourSamples<Sample>& four = samples_[turn][half];
        const int n = tiles.gain == nullptr
                          ? 0
                          : first_sample(windows[first_row + receiver(turn)]) + static_cast<int>(offset() + 128 * half);
        put(tiles, four, n, to + receiver(turn) * brought(taps) + offset() + 128 * half);
        outermost = __vmaxs2(outermost, four.outermost());
      }
    }
    if (threadIdx.x < 32) {
      const int n = tiles.gain == nullptr ? 0 : rest_sample(windows[first_row + threadIdx.x / left]);
      put(tiles, rest_, n, to + threadIdx.x / left * brought(taps) + 512 + 4 * (threadIdx.x % left));
      outermost = __vmaxs2(outermost, rest_.outermost());
    }
    if (at_ends(outermost)) count_all(tiles, block, windows, first_row, clipped);
  }

 private:
  __device__ static unsigned receiver(unsigned turn) {
    return (turn * warps + threadIdx.x / 32) / 2;
  }
  /// Of a thread, in what its warp brings.
  __device__ static unsigned offset() {
    return threadIdx.x / 32 % 2 * 256 + threadIdx.x % 32 * 4;
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
    float4 values = {four[0], four[1], four[2], four[3]};
    if (tiles.gain != nullptr) {
      const auto gain = [&](int at) { return at >= 0 && at < tiles.samples ? __ldg(tiles.gain + at) : 0.0F; };
      values.x *= gain(n);
      values.y *= gain(n + 1);
      values.z *= gain(n + 2);
      values.w *= gain(n + 3);
    }
    *reinterpret_cast<float4*>(to) = values;
  }
  /// Rarely wanted.
  __device__ void count_all(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows, unsigned first_row,
                            std::uint32_t& clipped) const {
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
      const unsigned row = first_row + receiver(turn);
      if (windows[row] == 0) continue;
      const int n = first_sample(windows[row]) + static_cast<int>(offset());
      count(tiles, block, row, n, samples_[turn][0], clipped);
      count(tiles, block, row, n + 128, samples_[turn][1], clipped);
    }
    if (threadIdx.x >= 32) return;
    const unsigned row = first_row + threadIdx.x / left;
    if (windows[row] != 0) count(tiles, block, row, rest_sample(windows[row]), rest_, clipped);
  }
  __device__ static void count(const LineTiles& tiles, const TileBlock& block, unsigned row, int n,
                               const FourSamples<Sample>& four, std::uint32_t& clipped) {
    const std::int32_t* const begin =
        tiles.bounds + std::size_t{block.event.first_heard} * (tiles.tiles + 1) + block.tile * block.event.rows + row;
    for (int k = 0; k < 4; ++k) {
      if (n + k >= begin[0] && n + k < begin[block.event.rows] && four.at_end(k)) ++clipped;
    }
  }

  FourSamples<Sample> samples_[turns][2];
  FourSamples<Sample> rest_;
};

/// Of each sample the values behind it, by filters whose ends that are 0 are left out.
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

/// Whether the polynomial follows the way over a warp's ranges: as line_tables.cpp has it.
__device__ __forceinline__ bool is_followed(const TilePlace& place, float begin, float spacing) {
  const float half = half_warp * spacing;
  const float square = half * half;
  const float off = fminf(fmaxf(place.along, begin), begin + 2.0F * half) - place.along;
  const float nearest = fmaf(off, off, place.across_square);
  return static_cast<float>(10.0 / 1920.0 / scan_lines::steady_error) * square * square * half <= nearest * nearest;
}

/// The polynomial through the ways at Chebyshev's five places, from -1 to 1.
__device__ __forceinline__ void follow(TileReceiver& receiver, const TilePlace& place, float begin, float spacing) {
  const float half = half_warp * spacing;
  const float middle = begin + half;
  const float at_middle = tile_place(place, middle, 0.0F);
  const float far_below = tile_place(place, fmaf(half, -0.951056516F, middle), 0.0F) - at_middle;
  const float below = tile_place(place, fmaf(half, -0.587785252F, middle), 0.0F) - at_middle;
  const float above = tile_place(place, fmaf(half, 0.587785252F, middle), 0.0F) - at_middle;
  const float far_above = tile_place(place, fmaf(half, 0.951056516F, middle), 0.0F) - at_middle;
  receiver.terms[0] = at_middle;
  receiver.terms[1] = fmaf(1.37638192F, above - below, -0.324919696F * (far_above - far_below));
  receiver.terms[2] = fmaf(2.34164079F, above + below, -0.341640786F * (far_above + far_below));
  receiver.terms[3] = fmaf(-1.52169043F, above - below, 0.940456404F * (far_above - far_below));
  receiver.fourth = fmaf(-2.58885438F, above + below, 0.988854382F * (far_above + far_below));
}

/// The receivers of a stage on each line, for each warp of a group.
template <unsigned taps, unsigned groups>
__device__ __forceinline__ void place_receivers(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows,
                                                unsigned first_row, TileReceiver* to) {
  constexpr unsigned at_once = receivers_at_once(taps);
  for (unsigned item = threadIdx.x; item < block.event.lines * at_once * group_warps; item += tile_threads * groups) {
    TileReceiver receiver{};
    const unsigned warp = item % group_warps;
    const unsigned which = item / group_warps % at_once;
    const unsigned line_of_event = item / (group_warps * at_once);
    const std::int32_t window = windows[first_row + which];
    if (window != 0 && warp * warp_ranges < block.count) {
      const std::size_t at = block.event.first_place + std::size_t{line_of_event} * block.event.rows + first_row + which;
      const std::uint32_t table = tiles.weight_tables[at];
      const float even = table == unheard_place ? 0.0F : tiles.even_weights[std::size_t{table} * tiles.tiles + block.tile];
      if (even != 0.0F) {
        const std::uint32_t line = tiles.lines[block.event.first_line + line_of_event];
        const int shift = tiles.tile_places[std::size_t{line} * tiles.tiles + block.tile] - (window & ~3);
        const unsigned from = which * tile_window;
        receiver.weight = even;
        receiver.magic = whole_magic + static_cast<float>(taps == 0 ? shift + static_cast<int>(from)
                                                                    : 4 * (shift + static_cast<int>(planes * from)));
        receiver.kind = table << receiver_table_shift | receiver_is_heard | (isnan(even) ? receiver_varies : 0);
        const TilePlace place = tiles.places[at];
        const float begin = fmaf(static_cast<float>(warp * warp_ranges), tiles.spacing, tiles.range[block.first]);
        if ((window & window_is_checked) == 0 && is_followed(place, begin, tiles.spacing)) {
          receiver.kind |= receiver_is_steady;
          follow(receiver, place, begin, tiles.spacing);
        } else {
          if ((window & window_is_checked) != 0) receiver.kind |= receiver_is_checked;
          receiver.terms[0] = place.along;
          receiver.terms[1] = place.across_square;
          receiver.terms[2] = place.minus_twice;
          receiver.terms[3] = place.square;
        }
      }
    }
    to[item] = receiver;
  }
}

__device__ __forceinline__ float shared_at(std::uint32_t address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
  return value;
}
template <unsigned bytes>
__device__ __forceinline__ float shared_behind(std::uint32_t address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(value) : "r"(address), "n"(bytes));
  return value;
}

/// The value at a place whose sum with the receiver's magic number, rounded down, is `sum`. `window`: the place of all in shared
/// memory, less what the bits of whole_magic make of an address.
template <unsigned taps>
__device__ __forceinline__ float between_samples(std::uint32_t window, float sum, float fraction) {
  const std::uint32_t bits = __float_as_uint(sum);
  float before;
  float behind;
  if constexpr (taps == 0) {
    const std::uint32_t at = 4 * bits + window;
    before = shared_at(at);
    behind = shared_behind<4>(at);
  } else {
    // A quarter of the number is the sample, four bytes each; what is left is the plane.
    const std::uint32_t at = (bits & 3U) * (4 * tile_window - 1) + bits + window;
    before = shared_at(at);
    behind = shared_behind<4 * tile_window>(at);
  }
  return fmaf(fraction, behind - before, before);
}
/// `bias` comes with the parameters: were it known when the kernel is compiled, it would be added to the address of each load by
/// itself, since it is more than a load's offset holds.
__device__ __forceinline__ std::uint32_t window_address(const float* window, std::uint32_t bias) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(window)) - bias;
}

/// A thread's four ranges.
struct TileRanges {
  unsigned place[tile_depth];
  float range[tile_depth];
  float way[tile_depth];  // through its warp's, from -1 to 1
};

enum class Way : unsigned char {
  steady,  // by the polynomial
  plain,
  checked,  // some places are outside of the A-scan: their lookups are those of the first sample in shared memory, of weight 0
};

/// Lookups of a receiver at a thread's four ranges.
template <unsigned taps, Way way>
__device__ __forceinline__ void look_up(const TileReceiver& receiver, std::uint32_t window, const TileRanges& ranges,
                                        const float (&rest)[tile_depth], const float (&weight)[tile_depth], float least,
                                        float most, float (&sum)[tile_depth]) {
  const TilePlace place{receiver.terms[0], receiver.terms[1], receiver.terms[2], receiver.terms[3]};
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    float t;
    if constexpr (way == Way::steady) {
      const float x = ranges.way[v];
      t = fmaf(receiver.fourth, x, receiver.terms[3]);
      t = fmaf(t, x, receiver.terms[2]);
      t = fmaf(t, x, receiver.terms[1]);
      t = fmaf(t, x, receiver.terms[0]) + rest[v];
    } else {
      t = tile_place(place, ranges.range[v], rest[v]);
    }
    float whole = __fadd_rd(t, receiver.magic);
    float fraction = t - (whole - receiver.magic);
    float w = weight[v];
    if (way == Way::checked && !(t >= least && t < most)) {
      whole = whole_magic;
      fraction = 0.0F;
      w = 0.0F;
    }
    sum[v] = fmaf(w, between_samples<taps>(window, whole, fraction), sum[v]);
  }
}

/// One stage's receivers on a line.
template <unsigned taps>
__device__ __forceinline__ void sum_receivers(const LineTiles& tiles, const TileBlock& block, const TileReceiver* receivers,
                                              std::uint32_t window, std::uint32_t line, const TileRanges& ranges, float* sums) {
  float rest[tile_depth];
  float sum[tile_depth];
  const unsigned thread = threadIdx.x % tile_threads;
  receivers += thread / 32;
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    rest[v] = __ldg(tiles.rest + std::size_t{line} * tiles.pitch + ranges.place[v]);
    sum[v] = sums[v * tile_threads + thread];
  }
#pragma unroll 2
  for (unsigned c = 0; c < receivers_at_once(taps); ++c) {
    const TileReceiver receiver = receivers[c * group_warps];
    if (receiver.kind == 0) continue;
    float weight[tile_depth];
#pragma unroll
    for (unsigned v = 0; v < tile_depth; ++v) weight[v] = receiver.weight;
    if ((receiver.kind & receiver_varies) != 0) {
      const float* const weights = tiles.weights + std::size_t{receiver.kind >> receiver_table_shift} * tiles.ranges;
#pragma unroll
      for (unsigned v = 0; v < tile_depth; ++v) weight[v] = __ldg(weights + ranges.place[v]);
    }
    if ((receiver.kind & receiver_is_steady) != 0) {
      look_up<taps, Way::steady>(receiver, window, ranges, rest, weight, 0.0F, 0.0F, sum);
    } else if ((receiver.kind & receiver_is_checked) == 0) {
      look_up<taps, Way::plain>(receiver, window, ranges, rest, weight, 0.0F, 0.0F, sum);
    } else {
      const int from = tiles.tile_places[std::size_t{line} * tiles.tiles + block.tile];
      look_up<taps, Way::checked>(receiver, window, ranges, rest, weight, static_cast<float>(-from * tiles.fineness),
                                  static_cast<float>((tiles.samples - 1 - from) * tiles.fineness), sum);
    }
  }
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) sums[v * tile_threads + thread] = sum[v];
}

/// Samples that no window has: a warp a segment.
template <class Sample>
__device__ std::uint32_t count_segment(const LineTiles& tiles, unsigned segment) {
  std::uint32_t clipped = 0;
  if (segment >= tiles.segment_count) return clipped;
  const RowSegment where = tiles.segments[segment];
  const std::byte* const row = static_cast<const std::byte*>(tiles.rows) + std::size_t{where.row} * tiles.row_bytes;
  for (int n = where.begin / 4 * 4 + 4 * static_cast<int>(threadIdx.x % 32); n < where.end; n += 128) {
    FourSamples<Sample> four;
    four.load(row, n);
    if (!at_ends(four.outermost())) continue;
    for (int k = 0; k < 4; ++k) {
      if (n + k >= where.begin && n + k < where.end && four.at_end(k)) ++clipped;
    }
  }
  return clipped;
}

/// The sums of a line to device memory. Returns the bits of the greatest |value|.
__device__ __forceinline__ std::uint32_t write_line(const LineTiles& tiles, const TileBlock& block, std::uint32_t line,
                                                    const float* sums) {
  std::uint32_t peak = 0;
  float* const out = tiles.out + line * tiles.out_stride;
  const unsigned lane = threadIdx.x % tile_threads;
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    const unsigned k = lane / 32 * warp_ranges + v * 32 + lane % 32;
    if (k >= block.count) continue;
    const float value =
        sums[v * tile_threads + lane] * tiles.scale * __ldg(tiles.divisor + std::size_t{line} * tiles.pitch + block.first + k);
    out[block.first + k] = value;
    peak = max(peak, __float_as_uint(fabsf(value)));
  }
  if (block.tile + 1 == tiles.tiles) {
    for (std::size_t k = tiles.ranges + lane; k < tiles.out_stride; k += tile_threads) out[k] = 0.0F;
  }
  return peak;
}

template <class Sample, unsigned taps, unsigned groups>
__global__ void __launch_bounds__(tile_threads* groups,
                                  groups == 1 ? (sizeof(Sample) == 2 ? 5 : 4) : (sizeof(Sample) == 2 ? 3 : 2))
    sum_tiles(const __grid_constant__ LineTiles tiles) {
  constexpr unsigned at_once = receivers_at_once(taps);
  extern __shared__ float4 shared[];
  if (blockIdx.x >= tiles.events * tiles.tiles) {
    const unsigned warps = tile_threads * groups / 32;
    const unsigned segment = (blockIdx.x - tiles.events * tiles.tiles) * warps + threadIdx.x / 32;
    report_lines(tiles.facts, 0, count_segment<Sample>(tiles, segment), gridDim.x);
    return;
  }
  const TileLayout layout = tile_layout(taps, tiles.most_lines, tiles.most_rows);
  char* const base = reinterpret_cast<char*>(shared);
  auto* const samples = reinterpret_cast<float*>(base);
  auto* const fine = reinterpret_cast<float*>(base + layout.fine);
  auto* const receivers = reinterpret_cast<TileReceiver*>(base + layout.receivers);
  auto* const sums = reinterpret_cast<float*>(base + layout.sums);
  auto* const windows = reinterpret_cast<std::int32_t*>(base + layout.windows);

  TileBlock block;
  block.tile = blockIdx.x % tiles.tiles;
  block.event = tiles.event[blockIdx.x / tiles.tiles];
  block.first = block.tile * tiles.tile_ranges;
  block.count = min(tiles.tile_ranges, tiles.ranges - block.first);
  const unsigned lane = threadIdx.x % tile_threads;
  const unsigned group = threadIdx.x / tile_threads;
  for (unsigned row = threadIdx.x; row < block.event.rows + at_once; row += tile_threads * groups) {
    const std::size_t at = std::size_t{block.event.first_heard} * tiles.tiles + block.tile * block.event.rows + row;
    windows[row] = row < block.event.rows ? tiles.windows[at] : 0;
  }
  // Ranges behind the tile are its last one again.
  TileRanges ranges;
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    const unsigned of_warp = min(lane / 32 * warp_ranges + v * 32 + lane % 32, block.count - 1);
    ranges.place[v] = block.first + of_warp;
    ranges.range[v] = __ldg(tiles.range + ranges.place[v]);
    ranges.way[v] = (static_cast<float>(of_warp) - static_cast<float>(lane / 32 * warp_ranges) - half_warp) * (1.0F / half_warp);
    for (unsigned k = group; k < block.event.lines; k += groups) sums[k * most_tile_ranges + v * tile_threads + lane] = 0.0F;
  }
  __syncthreads();

  std::uint32_t clipped = 0;
  TileFill<Sample, taps, groups> fill;
  fill.load(tiles, block, windows, 0);
  unsigned turn = 0;
  for (unsigned first_row = 0; first_row < block.event.rows; first_row += at_once, turn ^= 1) {
    float* const here = taps == 0 ? samples + turn * at_once * tile_window : samples;
    TileReceiver* const receivers_here = receivers + turn * block.event.lines * at_once * group_warps;
    fill.store(tiles, block, windows, first_row, here, clipped);
    place_receivers<taps, groups>(tiles, block, windows, first_row, receivers_here);
    __syncthreads();
    if constexpr (taps != 0) {
      upsample_all<taps, groups>(tiles, here, fine);
      __syncthreads();
    }
    if (first_row + at_once < block.event.rows) fill.load(tiles, block, windows, first_row + at_once);
    for (unsigned k = group; k < block.event.lines; k += groups) {
      const std::uint32_t line = tiles.lines[block.event.first_line + k];
      sum_receivers<taps>(tiles, block, receivers_here + k * at_once * group_warps,
                          window_address(taps == 0 ? here : fine, tiles.address_bias), line, ranges, sums + k * most_tile_ranges);
    }
  }
  std::uint32_t peak = 0;
  for (unsigned k = group; k < block.event.lines; k += groups) {
    peak = max(peak, write_line(tiles, block, tiles.lines[block.event.first_line + k], sums + k * most_tile_ranges));
  }
  report_lines(tiles.facts, peak, clipped, gridDim.x);
}

/// Calls `use` with the kernel of the tiles' kind and its threads.
template <class Sample, class Use>
void with_kernel(const LineTiles& tiles, const Use& use) {
  const bool one = tiles.most_lines == 1;
  switch (tiles.taps) {
    case 8:
      return one ? use(&sum_tiles<Sample, 8, 1>, 1U) : use(&sum_tiles<Sample, 8, 2>, 2U);
    case 12:
      return one ? use(&sum_tiles<Sample, 12, 1>, 1U) : use(&sum_tiles<Sample, 12, 2>, 2U);
    case 16:
      return one ? use(&sum_tiles<Sample, 16, 1>, 1U) : use(&sum_tiles<Sample, 16, 2>, 2U);
    default:
      return one ? use(&sum_tiles<Sample, 0, 1>, 1U) : use(&sum_tiles<Sample, 0, 2>, 2U);
  }
}

template <class Sample>
bool prepare(const LineTiles& tiles) {
  bool fits = false;
  with_kernel<Sample>(tiles, [&](auto kernel, unsigned /*groups*/) {
    const unsigned bytes = tile_layout(tiles.taps, tiles.most_lines, tiles.most_rows).bytes;
    int device = 0;
    int most = 0;
    ECHOFORM_CUDA(cudaGetDevice(&device));
    ECHOFORM_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    // Some of it is the kernel's own.
    fits = bytes + 1024 <= static_cast<unsigned>(most);
    if (fits) ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 1024));
  });
  return fits;
}

template <class Sample>
void launch(const LineTiles& tiles, cudaStream_t stream) {
  with_kernel<Sample>(tiles, [&](auto kernel, unsigned groups) {
    const unsigned warps = groups * tile_threads / 32;
    const unsigned blocks = tiles.events * tiles.tiles + (tiles.segment_count + warps - 1) / warps;
    kernel<<<blocks, groups * tile_threads, tile_layout(tiles.taps, tiles.most_lines, tiles.most_rows).bytes, stream>>>(tiles);
  });
  ECHOFORM_CUDA_LAUNCHED("sum_tiles");
}

}  // namespace
}  // namespace echoform::gpu
