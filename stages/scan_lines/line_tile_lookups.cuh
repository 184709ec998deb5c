// The places of the samples of a tile of lines (line_tile_kernels.cuh) in shared memory, and their sum.
#pragma once

#include <cstdint>

#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_tile_layout.cuh"

namespace echoform::gpu {
namespace {

/// Maximum deviation of the polynomial of the fourth degree from the path, in samples: a quarter of what single precision
/// promises for the sum where samples are independent of their neighbours.
constexpr double followed_error = 4.0 * scan_lines::steady_error;

/// Whether the polynomial follows the path over ranges from begin to begin + 2 half, by the criterion of line_tables.cpp.
__device__ __forceinline__ bool is_followed(const TilePlace& place, float begin, float half) {
  const float square = half * half;
  const float off = fminf(fmaxf(place.along, begin), begin + 2.0F * half) - place.along;
  const float nearest = fmaf(off, off, place.across_square);
  return static_cast<float>(10.0 / 1920.0 / followed_error) * square * square * half <= nearest * nearest;
}

/// Sets the polynomial through the paths at Chebyshev's five places, from -1 to 1, plus `rest`.
__device__ __forceinline__ void follow(TileReceiver& receiver, const TilePlace& place, float begin, float half,
                                       const RestPolynomial& rest) {
  const float middle = begin + half;
  const float at_middle = tile_place(place, middle, 0.0F);
  const float far_below = tile_place(place, fmaf(half, -0.951056516F, middle), 0.0F) - at_middle;
  const float below = tile_place(place, fmaf(half, -0.587785252F, middle), 0.0F) - at_middle;
  const float above = tile_place(place, fmaf(half, 0.587785252F, middle), 0.0F) - at_middle;
  const float far_above = tile_place(place, fmaf(half, 0.951056516F, middle), 0.0F) - at_middle;
  receiver.terms[0] = rest.terms[0] + at_middle;
  receiver.terms[1] = rest.terms[1] + fmaf(1.37638192F, above - below, -0.324919696F * (far_above - far_below));
  receiver.terms[2] = rest.terms[2] + fmaf(2.34164079F, above + below, -0.341640786F * (far_above + far_below));
  receiver.terms[3] = rest.terms[3] + fmaf(-1.52169043F, above - below, 0.940456404F * (far_above - far_below));
  receiver.fourth = rest.terms[4] + fmaf(-2.58885438F, above + below, 0.988854382F * (far_above + far_below));
}

/// The layout of samples in shared memory.
enum class Held : unsigned char {
  floats,   // [receiver, sample]
  planes,   // upsampled: [receiver, plane, sample]
  numbers,  // int16: [receiver, sample]
};
__host__ __device__ constexpr Held held_of(unsigned taps) {
  return taps == 0 ? Held::floats : Held::planes;
}

/// A receiver of the event on a line, for a warp's ranges; `which` is its number among those in shared memory.
template <Held held>
__device__ __forceinline__ TileReceiver place_receiver(const LineTiles& tiles, const TileBlock& block, unsigned line_of_event,
                                                       unsigned row, std::int32_t window, unsigned warp, unsigned which) {
  TileReceiver receiver{};
  const WarpRanges of_warp = ranges_of_warp(block.count, warp);
  if (window == 0 || of_warp.count == 0) return receiver;
  const std::size_t at = block.event.first_place + std::size_t{line_of_event} * block.event.rows + row;
  const std::uint32_t table = tiles.weight_tables[at];
  const float even = table == unheard_place ? 0.0F : tiles.even_weights[std::size_t{table} * tiles.tiles + block.tile];
  if (even == 0.0F) return receiver;
  const std::uint32_t line = tiles.lines[block.event.first_line + line_of_event];
  const int shift = tiles.tile_places[std::size_t{line} * tiles.tiles + block.tile] - (window & ~3);
  const unsigned from = which * tile_window;
  receiver.weight = even;
  receiver.magic = whole_magic + static_cast<float>(held == Held::planes ? 4 * (shift + static_cast<int>(planes * from))
                                                                         : shift + static_cast<int>(from));
  receiver.kind = table << receiver_table_shift | receiver_is_heard | (isnan(even) ? receiver_varies : 0);
  const TilePlace place = tiles.places[at];
  const float begin = tiles.range[block.first + of_warp.first];
  const float half = 0.5F * static_cast<float>(of_warp.count - 1) * tiles.spacing;
  const RestPolynomial rest = tiles.rests[(std::size_t{line} * tiles.tiles + block.tile) * tile_warps + warp];
  if ((window & window_is_checked) == 0 && !isnan(rest.terms[0]) && is_followed(place, begin, half)) {
    receiver.kind |= receiver_is_steady;
    follow(receiver, place, begin, half, rest);
  } else {
    if ((window & window_is_checked) != 0) receiver.kind |= receiver_is_checked;
    receiver.terms[0] = place.along;
    receiver.terms[1] = place.across_square;
    receiver.terms[2] = place.minus_twice;
    receiver.terms[3] = place.square;
  }
  return receiver;
}

/// Places the receivers of some stages on each line, for each warp of a group.
template <unsigned taps, unsigned groups>
__device__ __forceinline__ void place_receivers(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows,
                                                unsigned first_row, unsigned stages, TileReceiver* to) {
  constexpr unsigned at_once = receivers_at_once(taps);
  const unsigned lines = block.event.lines;
  for (unsigned item = threadIdx.x; item < stages * lines * at_once * group_warps; item += tile_threads * groups) {
    const unsigned which = item / group_warps % at_once;
    const unsigned line_of_stages = item / (group_warps * at_once);
    const unsigned stage = groups == 1 ? line_of_stages : line_of_stages / lines;
    const unsigned line_of_event = groups == 1 ? 0 : line_of_stages - stage * lines;
    const unsigned row = first_row + stage * at_once + which;
    to[item] = place_receiver<held_of(taps)>(tiles, block, line_of_event, row, windows[row], item % group_warps, which);
  }
}

__device__ __forceinline__ float number_at(std::uint32_t address) {
  std::int32_t value;
  asm volatile("ld.shared.s16 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return static_cast<float>(value);
}
__device__ __forceinline__ float number_behind(std::uint32_t address) {
  std::int32_t value;
  asm volatile("ld.shared.s16 %0, [%1+2];" : "=r"(value) : "r"(address) : "memory");
  return static_cast<float>(value);
}
__device__ __forceinline__ float shared_at(std::uint32_t address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}
template <unsigned bytes>
__device__ __forceinline__ float shared_behind(std::uint32_t address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(value) : "r"(address), "n"(bytes) : "memory");
  return value;
}

/// The value at a place; `sum` is the place plus the receiver's magic number, rounded down. `window` is the address of all
/// windows in shared memory, minus what the bits of whole_magic add to an address.
template <Held held>
__device__ __forceinline__ float between_samples(std::uint32_t window, float sum, float fraction) {
  const std::uint32_t bits = __float_as_uint(sum);
  float before;
  float behind;
  if constexpr (held == Held::numbers) {
    const std::uint32_t at = 2 * bits + window;
    before = number_at(at);
    behind = number_behind(at);
  } else if constexpr (held == Held::floats) {
    const std::uint32_t at = 4 * bits + window;
    before = shared_at(at);
    behind = shared_behind<4>(at);
  } else {
    // A quarter of the number is the sample, of four bytes; the remainder is the plane.
    const std::uint32_t at = (bits & 3U) * (4 * tile_window - 1) + bits + window;
    before = shared_at(at);
    behind = shared_behind<4 * tile_window>(at);
  }
  return fmaf(fraction, behind - before, before);
}
/// `bias` is a parameter of the kernel. If it were known at compile time, it would be added to the address of each load
/// separately, since it exceeds the offset that a load can hold.
__device__ __forceinline__ std::uint32_t window_address(const float* window, std::uint32_t bias) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(window)) - bias;
}

/// A thread's ranges among the `count` ranges of its warp: two ranges of the first half, then their mirror images about the
/// middle. So the powers of a place in the polynomial serve both. The surplus ranges of a short warp repeat the middle.
static_assert(tile_depth == 4);
__device__ __forceinline__ unsigned range_of_warp(unsigned count, unsigned v) {
  const unsigned half = min(threadIdx.x % 32 + 32 * (v % 2), (count - 1) / 2);
  return v < 2 ? half : count - 1 - half;
}
struct TileRanges {
  unsigned first;  // the warp's first range
  unsigned count;
  float way[tile_depth / 2];  // the first two ranges, relative to their warp's ranges, from -1 to 1
  float square[tile_depth / 2];
  float middle;  // the middle of the warp's ranges, in samples
  float half;

  __device__ void find(const LineTiles& tiles, const TileBlock& block) {
    const WarpRanges of_warp = ranges_of_warp(block.count, threadIdx.x % tile_threads / 32);
    first = block.first + of_warp.first;
    count = of_warp.count;
#pragma unroll
    for (unsigned v = 0; v < tile_depth / 2; ++v) {
      way[v] = count < 2 ? 0.0F : static_cast<float>(2 * range_of_warp(count, v)) / static_cast<float>(count - 1) - 1.0F;
      square[v] = way[v] * way[v];
    }
    half = count < 2 ? 0.0F : 0.5F * static_cast<float>(count - 1) * tiles.spacing;
    middle = (count == 0 ? 0.0F : tiles.range[first]) + half;
  }
  __device__ float range(unsigned v) const {
    return v < tile_depth / 2 ? fmaf(way[v], half, middle) : fmaf(-way[v - tile_depth / 2], half, middle);
  }
  __device__ unsigned place(unsigned v) const {
    return first + range_of_warp(count, v);
  }
};

enum class Way : unsigned char {
  inside,
  checked,  // some places are outside of the A-scan: they look up the first sample in shared memory, with weight 0
};

/// Computes the places of a steady receiver.
__device__ __forceinline__ void steady_places(const TileReceiver& receiver, const TileRanges& ranges, float (&t)[tile_depth]) {
#pragma unroll
  for (unsigned v = 0; v < tile_depth / 2; ++v) {
    const float x = ranges.way[v];
    const float square = ranges.square[v];
    const float even = fmaf(fmaf(receiver.fourth, square, receiver.terms[2]), square, receiver.terms[0]);
    const float odd = fmaf(receiver.terms[3], square, receiver.terms[1]);
    t[v] = fmaf(x, odd, even);
    t[v + tile_depth / 2] = fmaf(-x, odd, even);
  }
}

/// Adds the lookups of a receiver at the places `t` of a thread's four ranges.
template <Held held, Way way>
__device__ __forceinline__ void look_up(const TileReceiver& receiver, std::uint32_t window, const float (&t)[tile_depth],
                                        const float (&weight)[tile_depth], float least, float most, float (&sum)[tile_depth]) {
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    float whole = __fadd_rd(t[v], receiver.magic);
    float fraction = t[v] - (whole - receiver.magic);
    float w = weight[v];
    if (way == Way::checked && !(t[v] >= least && t[v] < most)) {
      whole = whole_magic;
      fraction = 0.0F;
      w = 0.0F;
    }
    sum[v] = fmaf(w, between_samples<held>(window, whole, fraction), sum[v]);
  }
}

/// Adds the lookups of a receiver that is not steady or whose weight varies. `place_of_line` is the line's place in
/// LineTiles::lines. `rests` holds LineTiles::rest of the thread's ranges, or is null.
template <Held held>
__device__ __forceinline__ void sum_other(const LineTiles& tiles, const TileBlock& block, const TileReceiver& receiver,
                                          std::uint32_t window, unsigned place_of_line, const TileRanges& ranges,
                                          const float* rests, float (&sum)[tile_depth]) {
  float weight[tile_depth];
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) weight[v] = receiver.weight;
  if ((receiver.kind & receiver_varies) != 0) {
    const float* const weights = tiles.weights + std::size_t{receiver.kind >> receiver_table_shift} * tiles.ranges;
#pragma unroll
    for (unsigned v = 0; v < tile_depth; ++v) weight[v] = __ldg(weights + ranges.place(v));
  }
  float t[tile_depth];
  if ((receiver.kind & receiver_is_steady) != 0) {
    steady_places(receiver, ranges, t);
    look_up<held, Way::inside>(receiver, window, t, weight, 0.0F, 0.0F, sum);
    return;
  }
  const TilePlace place{receiver.terms[0], receiver.terms[1], receiver.terms[2], receiver.terms[3]};
  const std::uint32_t line = tiles.lines[place_of_line];
  const float* const rest = tiles.rest + std::size_t{line} * tiles.pitch;
#pragma unroll
  for (unsigned v = 0; v < tile_depth; ++v) {
    t[v] = tile_place(place, ranges.range(v), rests != nullptr ? rests[v] : __ldg(rest + ranges.place(v)));
  }
  if ((receiver.kind & receiver_is_checked) == 0) {
    look_up<held, Way::inside>(receiver, window, t, weight, 0.0F, 0.0F, sum);
  } else {
    const int from = tiles.tile_places[std::size_t{line} * tiles.tiles + block.tile];
    look_up<held, Way::checked>(receiver, window, t, weight, static_cast<float>(-from * tiles.fineness),
                                static_cast<float>((tiles.samples - 1 - from) * tiles.fineness), sum);
  }
}

constexpr std::uint32_t receiver_kinds = (1U << receiver_table_shift) - 1;
constexpr std::uint32_t receiver_is_common = receiver_is_heard | receiver_is_steady;

/// Returns 0 where a receiver is steady and has a single weight.
__device__ __forceinline__ std::uint32_t other_than_common(std::uint32_t kind) {
  return (kind & receiver_kinds) ^ receiver_is_common;
}

/// Adds the lookups of a steady receiver with a single weight.
template <Held held>
__device__ __forceinline__ void sum_common(const TileReceiver& receiver, std::uint32_t window, const TileRanges& ranges,
                                           float (&sum)[tile_depth]) {
  const float weight[tile_depth] = {receiver.weight, receiver.weight, receiver.weight, receiver.weight};
  float t[tile_depth];
  steady_places(receiver, ranges, t);
  look_up<held, Way::inside>(receiver, window, t, weight, 0.0F, 0.0F, sum);
}

/// Adds `count` receivers of one stage on a line, each `step` behind the one before. `common` states that all of them are steady
/// with a single weight.
template <Held held, unsigned count, unsigned step>
__device__ __forceinline__ void sum_receivers(const LineTiles& tiles, const TileBlock& block, const TileReceiver* receivers,
                                              bool common, std::uint32_t window, unsigned place_of_line, const TileRanges& ranges,
                                              const float* rests, float (&sum)[tile_depth]) {
  if (common) {
#pragma unroll
    for (unsigned c = 0; c < count; ++c) sum_common<held>(receivers[c * step], window, ranges, sum);
    return;
  }
#pragma unroll 1
  for (unsigned c = 0; c < count; ++c) {
    const TileReceiver receiver = receivers[c * step];
    if (other_than_common(receiver.kind) == 0) {
      sum_common<held>(receiver, window, ranges, sum);
    } else if (receiver.kind != 0) {
      sum_other<held>(tiles, block, receiver, window, place_of_line, ranges, rests, sum);
    }
  }
}

}  // namespace
}  // namespace echoform::gpu
