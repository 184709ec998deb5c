// The beginning and the end of a block of tiles of lines (line_tile_kernels.cuh): what it knows about itself, its lines, and the
// samples that no other code counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/scan_lines/line_tile_fill.cuh"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_lookups.cuh"

namespace echoform::gpu {
namespace {

__device__ __forceinline__ TileBlock block_of(const LineTiles& tiles) {
  TileBlock block;
  // Tiles close to the array come first: they take longest, as the paths to their receivers are not polynomials.
  block.tile = blockIdx.x / tiles.events;
  block.event = tiles.event[blockIdx.x - block.tile * tiles.events];
  block.first = block.tile * tiles.tile_ranges;
  block.count = min(tiles.tile_ranges, tiles.ranges - block.first);
  return block;
}

/// Counts the samples at the ends of their range, with the lanes of a warp.
template <class Sample>
__device__ std::uint32_t count_samples(const LineTiles& tiles, const RowSegment& where) {
  std::uint32_t clipped = 0;
  const std::byte* const row = static_cast<const std::byte*>(tiles.rows) + std::size_t{where.row} * tiles.row_bytes;
  for (int n = where.begin / 4 * 4 + 4 * static_cast<int>(threadIdx.x % 32); n < where.end; n += 128) {
    FourSamples<Sample> four;
    four.load(row, n);
    Outermost outermost;
    four.add_to(outermost);
    if (!outermost.at_end()) continue;
    for (int k = 0; k < 4; ++k) {
      if (n + k >= where.begin && n + k < where.end && four.at_end(k)) ++clipped;
    }
  }
  return clipped;
}

/// Counts the samples that are in no window; the warps of the launch take the segments in rotation.
template <class Sample>
__device__ std::uint32_t count_segments(const LineTiles& tiles) {
  std::uint32_t clipped = 0;
  const unsigned warps = blockDim.x / 32;
  for (unsigned segment = blockIdx.x * warps + threadIdx.x / 32; segment < tiles.segment_count; segment += gridDim.x * warps) {
    clipped += count_samples<Sample>(tiles, tiles.segments[segment]);
  }
  return clipped;
}

/// Writes a thread's sums of a line to device memory. Returns the bits of the greatest |value|.
__device__ __forceinline__ std::uint32_t write_line(const LineTiles& tiles, const TileBlock& block, const TileRanges& ranges,
                                                    std::uint32_t line, const float (&sum)[tile_depth]) {
  std::uint32_t peak = 0;
  float* const out = tiles.out + line * tiles.out_stride;
  if (ranges.count != 0) {
#pragma unroll
    for (unsigned v = 0; v < tile_depth; ++v) {
      const unsigned k = ranges.place(v);
      const float value = sum[v] * tiles.scale * __ldg(tiles.divisor + std::size_t{line} * tiles.pitch + k);
      out[k] = value;
      peak = max(peak, __float_as_uint(fabsf(value)));
    }
  }
  if (block.tile + 1 == tiles.tiles) {
    for (std::size_t k = tiles.ranges + threadIdx.x % tile_threads; k < tiles.out_stride; k += tile_threads) out[k] = 0.0F;
  }
  return peak;
}

}  // namespace
}  // namespace echoform::gpu
