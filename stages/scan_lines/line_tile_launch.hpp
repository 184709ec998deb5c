// Sums along lines on CUDA where samples are between two others on a straight line, of the A-scans as they are or of four times
// as many samples: what docs/gpu.md calls tiles of lines. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"
#include "stages/scan_lines/rest_polynomial.hpp"

namespace echoform::gpu {

/// Threads of a tile, ranges of a thread, and maximum number of ranges of a tile.
inline constexpr unsigned tile_threads = 128;
inline constexpr unsigned tile_depth = 4;
inline constexpr unsigned most_tile_ranges = tile_threads * tile_depth;
/// Warps that share a tile's ranges evenly.
inline constexpr unsigned tile_warps = tile_threads / 32;
/// The ranges of a warp: `count` ranges from range `first` of the tile on.
struct WarpRanges {
  unsigned first = 0;
  unsigned count = 0;
};
[[nodiscard]] ECHOFORM_HOST_DEVICE WarpRanges ranges_of_warp(unsigned of_tile, unsigned warp) {
  const unsigned most = (of_tile + tile_warps - 1) / tile_warps;
  const unsigned first = warp * most;
  if (first >= of_tile) return {of_tile, 0};
  return {first, of_tile - first < most ? of_tile - first : most};
}
/// Number of samples of a receiver within which a tile's lookups must lie.
inline constexpr unsigned tile_window = most_tile_ranges + 16;
/// Number of samples that a window has before and after it, for the filters of upsampling.
inline constexpr unsigned tile_halo = 8;
/// Number of samples of a window, from its first one on, that a tile checks for clipping. No sample is counted by two tiles.
[[nodiscard]] ECHOFORM_HOST_DEVICE constexpr unsigned counted_samples(std::uint32_t taps) {
  return taps == 0 ? most_tile_ranges : tile_window + tile_halo;
}
/// Number of taps of the longest filters of upsampling.
inline constexpr unsigned most_upsampling_taps = 16;
/// Maximum number of samples of an A-scan, up to which single precision represents places in quarters of a sample.
inline constexpr std::size_t most_tiled_samples = std::size_t{1} << 20;

/// An event that has lines.
struct TileEvent {
  std::uint32_t first_row = 0;  ///< in the rows that are summed
  std::uint32_t rows = 0;
  std::uint32_t first_line = 0;  ///< in LineTiles::lines
  std::uint32_t lines = 0;
  std::uint32_t first_heard = 0;  ///< rows of the events before
  std::uint32_t first_place = 0;  ///< in LineTiles::places: [line, row] of the event
};

/// A receiver on a line. Lengths are in samples, or in quarters of them (LineTiles::fineness).
struct TilePlace {
  float along;
  float across_square;  ///< above 0
  float minus_twice;    ///< -2 a, times the fineness
  float square;         ///< |e|^2, likewise
};
inline constexpr std::uint32_t unheard_place = ~std::uint32_t{0};

/// Flags in LineTiles::windows, which holds for each tile and row the first sample, a multiple of 4 (of 8 without
/// upsampling), plus flags.
inline constexpr std::int32_t window_is_used = 1;
inline constexpr std::int32_t window_is_checked = 2;  ///< some places are outside of the A-scan

/// Samples of a row that are in no tile's window. They are read only to count clipped samples.
struct RowSegment {
  std::uint32_t row;
  std::int32_t begin;
  std::int32_t end;
};

struct LineTiles {
  const void* rows = nullptr;  ///< rows of int16 aligned to 8 bytes, or of float32 aligned to 16
  std::size_t row_bytes = 0;
  std::int32_t samples = 0;
  std::uint32_t events = 0;
  std::uint32_t most_rows = 0;   ///< of an event
  std::uint32_t most_lines = 0;  ///< likewise
  std::uint32_t tiles = 0;       ///< of a line
  std::uint32_t tile_ranges = 0;
  std::uint32_t ranges = 0;
  std::uint32_t pitch = 0;
  std::int32_t fineness = 1;       ///< 4 with upsampling
  std::uint32_t address_bias = 0;  ///< the part of the kernel's magic number in its addresses of samples: whole_magic_address()

  const TileEvent* event = nullptr;
  const std::uint32_t* lines = nullptr;  ///< those of one event after those of another
  const TilePlace* places = nullptr;
  const std::uint32_t* weight_tables = nullptr;  ///< as `places`, unheard_place among them
  const std::int32_t* tile_places = nullptr;     ///< [line, tile]: the sample that `rest` counts from
  const float* rest = nullptr;                   ///< [line, pitch]: tau_tx + r / c from there, times the fineness
  const RestPolynomial* rests = nullptr;         ///< [line, tile, warp]: of its ranges
  const float* range = nullptr;
  float spacing = 0.0F;                  ///< of ranges, in samples
  const float* weights = nullptr;        ///< [table, range]
  const float* even_weights = nullptr;   ///< [table, tile]: the weight of all ranges of the tile where they are equal, else NaN
  const float* divisor = nullptr;        ///< [line, pitch]
  std::int32_t* windows = nullptr;       ///< [event: tile, row]
  std::int32_t* most_window = nullptr;   ///< greatest number of samples that a window needs
  const std::int32_t* bounds = nullptr;  ///< [event: tile and one more, row]: samples that a tile counts begin here
  const RowSegment* segments = nullptr;
  std::uint32_t segment_count = 0;

  bool bulk_copies = false;  ///< for int16: whether the device's code supports bulk copies, as found by prepare_int16_tiles()
  float scale = 1.0F;
  const float* gain = nullptr;  ///< by sample; null: none
  std::uint32_t taps = 0;       ///< for upsampling: 8, 12 or 16; 0: no upsampling
  float phases[3][most_upsampling_taps] = {};

  float* out = nullptr;
  std::size_t out_stride = 0;
  LineFacts facts;
};

/// Bits of 1.5 x 2^23, which the kernel adds to places to make them whole numbers. Without upsampling these count samples
/// of four bytes; with upsampling they count bytes.
inline constexpr std::uint32_t whole_magic_bits = 0x4B400000U;
[[nodiscard]] constexpr std::uint32_t whole_magic_address(std::uint32_t taps) {
  return (taps == 0 ? 4U : 1U) * whole_magic_bits;
}

/// Queues the kernel that fills windows and most_window. most_window must be 0 before.
void launch_line_windows(const LineTiles& tiles, cudaStream_t stream);

/// Prepares the kernel. Called before the first launch. Returns false where a block cannot have the shared memory that it
/// needs.
[[nodiscard]] bool prepare_int16_tiles(LineTiles& tiles);
[[nodiscard]] bool prepare_float_tiles(const LineTiles& tiles);
/// Queues the kernel, one launch a frame, of int16 or float32 rows.
void launch_int16_tiles(const LineTiles& tiles, cudaStream_t stream) noexcept;
void launch_float_tiles(const LineTiles& tiles, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
