// The layout of shared memory of a block of tiles of lines (line_tile_kernels.cuh).
#pragma once

#include <cstdint>

#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_math.cuh"

namespace echoform::gpu {
namespace {

constexpr unsigned halo = tile_halo;
constexpr unsigned planes = 5;

__host__ __device__ constexpr unsigned receivers_at_once(unsigned taps) {
  return taps == 0 ? 8 : 4;
}
/// Number of groups of tile_threads threads in a block.
__host__ __device__ constexpr unsigned groups_of(unsigned most_lines) {
  return most_lines < 3 ? most_lines : 4;
}
/// Number of samples of a receiver that are brought into shared memory.
__host__ __device__ constexpr unsigned brought(unsigned taps) {
  return taps == 0 ? tile_window : tile_window + 2 * halo;
}

constexpr unsigned group_warps = tile_warps;

/// The data of a receiver on a line that a warp's lookups need.
struct alignas(16) TileReceiver {
  float terms[4];  // coefficients of the path by powers, or a TilePlace
  float fourth;    // coefficient of the fourth power
  float weight;
  float magic;         // whole_magic plus the place of the receiver's window in shared memory
  std::uint32_t kind;  // bits: receiver_*, and above them the table of varying weights
};
constexpr std::uint32_t receiver_is_heard = 1;
constexpr std::uint32_t receiver_is_checked = 2;
constexpr std::uint32_t receiver_varies = 4;
constexpr std::uint32_t receiver_is_steady = 8;
constexpr unsigned receiver_table_shift = 4;

/// Whether the samples of the next stage are stored beside those that are being summed, rather than in their place: that saves
/// one barrier per stage. With one line, more blocks fit into memory without it.
__host__ __device__ constexpr bool two_stages_held(unsigned taps, unsigned groups) {
  return taps == 0 && groups > 1;
}

/// Number of stages of receivers (receivers_at_once) that are placed at a time: enough that many threads take part, but not too
/// many for shared memory.
__host__ __device__ constexpr unsigned stages_placed(unsigned taps, unsigned lines) {
  const unsigned threads = lines == 1 ? tile_threads / 2 : groups_of(lines) * tile_threads;
  const unsigned items = lines * receivers_at_once(taps) * group_warps;
  return items >= threads ? 1 : threads / items;
}

/// Offsets of the pieces of shared memory, in bytes.
struct TileLayout {
  unsigned samples;    // [two_stages_held: 2, receiver, sample]
  unsigned fine;       // upsampled: [receiver, plane, sample]
  unsigned receivers;  // [two_stages_held: 2, stage, line, receiver, warp]
  unsigned sums;       // [line, range], where a group of threads has more than one line
  unsigned windows;    // [row], followed by some unused entries
  unsigned bytes;
};
__host__ __device__ inline TileLayout tile_layout(unsigned taps, unsigned most_lines, unsigned most_rows) {
  const unsigned at_once = receivers_at_once(taps);
  TileLayout layout{};
  layout.fine = (two_stages_held(taps, groups_of(most_lines)) ? 2 : 1) * at_once * brought(taps) * 4;
  layout.receivers = layout.fine + (taps == 0 ? 0 : at_once * planes * tile_window * 4);
  layout.sums = layout.receivers + (two_stages_held(taps, groups_of(most_lines)) ? 2 : 1) * stages_placed(taps, most_lines) *
                                       most_lines * at_once * group_warps * static_cast<unsigned>(sizeof(TileReceiver));
  layout.windows = layout.sums + (most_lines > groups_of(most_lines) ? most_lines * most_tile_ranges * 4 : 0);
  layout.bytes = layout.windows + (most_rows + stages_placed(taps, most_lines) * at_once) * 4;
  return layout;
}

}  // namespace
}  // namespace echoform::gpu
