// The kernel of tiles of lines, included once for each type of sample (line_tiles_int16.cu, line_tiles_float.cu).
//
// A block has a tile of up to 512 ranges and all lines of an event along it. For some receivers at a time it brings the window of
// samples that the tile can reach into shared memory, as floats, with the time gain applied. If upsampled, the window also has
// the values at a quarter, a half and three quarters behind each sample; all lines of the event share them. Then each thread
// looks up the samples of four ranges, 128 apart. So the ranges of a warp are consecutive, and so are their samples. Meanwhile
// the next receivers' samples are on their way from device memory.
//
// A warp has 128 consecutive ranges. Where the path to a receiver is a polynomial of the fourth degree over these
// (line_kernels.hpp, steady_error), its coefficients are computed once for all of them.
//
// Upsampled values stand in five planes: the samples, the three phases, and the samples again from the next one on. So the value
// before a place and the one behind it have the same index in adjacent planes. Lanes whose places are a sample apart then read
// neighbouring words; in a single row of all four phases they would collide in a quarter of the banks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_tile_fill.cuh"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_layout.cuh"
#include "stages/scan_lines/line_tile_lookups.cuh"
#include "stages/scan_lines/line_tile_output.cuh"

namespace echoform::gpu {
namespace {

/// Number of blocks per multiprocessor for which the registers must suffice.
template <class Sample>
constexpr unsigned blocks_wanted(unsigned taps, unsigned groups) {
  if (groups == 4) return 2;
  if (groups == 2) return sizeof(Sample) == 2 ? 3 : 2;
  if (taps != 0) return 4;
  return sizeof(Sample) == 2 ? 6 : 5;
}

template <class Sample, unsigned taps, unsigned groups>
__global__ void __launch_bounds__(tile_threads* groups, blocks_wanted<Sample>(taps, groups))
    sum_tiles(const __grid_constant__ LineTiles tiles) {
  constexpr unsigned at_once = receivers_at_once(taps);
  extern __shared__ float4 shared[];
  const TileLayout layout = tile_layout(taps, tiles.most_lines, tiles.most_rows);
  char* const base = reinterpret_cast<char*>(shared);
  auto* const samples = reinterpret_cast<float*>(base);
  auto* const fine = reinterpret_cast<float*>(base + layout.fine);
  auto* const receivers = reinterpret_cast<TileReceiver*>(base + layout.receivers);
  auto* const sums = reinterpret_cast<float*>(base + layout.sums);
  auto* const windows = reinterpret_cast<std::int32_t*>(base + layout.windows);

  const TileBlock block = block_of(tiles);
  const unsigned lane = threadIdx.x % tile_threads;
  const unsigned group = threadIdx.x / tile_threads;
  const unsigned stages = stages_placed(taps, tiles.most_lines);
  for (unsigned row = threadIdx.x; row < block.event.rows + stages * at_once; row += tile_threads * groups) {
    const std::size_t at = std::size_t{block.event.first_heard} * tiles.tiles + block.tile * block.event.rows + row;
    windows[row] = row < block.event.rows ? tiles.windows[at] : 0;
  }
  TileRanges ranges;
  ranges.find(tiles, block);
  const bool alone = groups == 1 || tiles.most_lines <= groups;
  for (unsigned k = group; !alone && k < block.event.lines; k += groups) {
#pragma unroll
    for (unsigned v = 0; v < tile_depth; ++v) sums[k * most_tile_ranges + v * tile_threads + lane] = 0.0F;
  }
  __syncthreads();

  std::uint32_t clipped = 0;
  TileFill<Sample, taps, groups> fill;
  fill.load(tiles, block, windows, 0);
  // The state of a group's line, where the group has only one line.
  constexpr bool held_twice = two_stages_held(taps, groups);
  float sum[tile_depth] = {};
  TileReceiver* placed = receivers;
  unsigned stage = 0;  // stage among those placed
  unsigned turn = 0;
  for (unsigned first_row = 0; first_row < block.event.rows; first_row += at_once, turn ^= 1) {
    float* const here = held_twice ? samples + turn * at_once * tile_window : samples;
    if constexpr (!held_twice && taps == 0) __syncthreads();
    fill.store(tiles, block, windows, first_row, here, clipped);
    // If upsampled, all threads are done with the previous values once the samples have arrived.
    if constexpr (taps != 0) __syncthreads();
    if (stage == 0) {
      place_receivers<taps, groups>(tiles, block, windows, first_row, stages, placed);
    }
    if constexpr (taps != 0) upsample_all<taps, groups>(tiles, here, fine);
    __syncthreads();
    if (first_row + at_once < block.event.rows) fill.load(tiles, block, windows, first_row + at_once);
    const TileReceiver* const of_stage = placed + stage * block.event.lines * at_once * group_warps;
    const std::uint32_t window = window_address(taps == 0 ? here : fine, tiles.address_bias);
    for (unsigned k = group; k < block.event.lines; k += groups) {
      float* const sums_of_line = sums + k * most_tile_ranges + lane;
      if (!alone) {
#pragma unroll
        for (unsigned v = 0; v < tile_depth; ++v) sum[v] = sums_of_line[v * tile_threads];
      }
      const TileReceiver* const of_warp = of_stage + k * at_once * group_warps + threadIdx.x % tile_threads / 32;
      std::uint32_t other = 0;
#pragma unroll
      for (unsigned c = 0; c < at_once; ++c) other |= other_than_common(of_warp[c * group_warps].kind);
      sum_receivers<held_of(taps), at_once, group_warps>(tiles, block, of_warp, other == 0, window, block.event.first_line + k,
                                                         ranges, nullptr, sum);
      if (!alone) {
#pragma unroll
        for (unsigned v = 0; v < tile_depth; ++v) sums_of_line[v * tile_threads] = sum[v];
      }
    }
    if (++stage == stages) {
      stage = 0;
      if (held_twice) placed = receivers + (placed == receivers ? stages * tiles.most_lines * at_once * group_warps : 0);
    }
  }
  std::uint32_t peak = 0;
  for (unsigned k = group; k < block.event.lines; k += groups) {
    if (!alone) {
#pragma unroll
      for (unsigned v = 0; v < tile_depth; ++v) sum[v] = sums[k * most_tile_ranges + v * tile_threads + lane];
    }
    peak = max(peak, write_line(tiles, block, ranges, tiles.lines[block.event.first_line + k], sum));
  }
  clipped += count_segments<Sample>(tiles);
  report_lines(tiles.facts, peak, clipped, gridDim.x);
}

/// Calls `use` with the kernel for this kind of tiles and its number of threads.
template <class Sample, class Use>
void with_kernel(const LineTiles& tiles, const Use& use) {
  const auto of_taps = [&]<unsigned taps>(std::integral_constant<unsigned, taps>) {
    switch (groups_of(tiles.most_lines)) {
      case 1:
        return use(&sum_tiles<Sample, taps, 1>, 1U);
      case 2:
        return use(&sum_tiles<Sample, taps, 2>, 2U);
      default:
        return use(&sum_tiles<Sample, taps, 4>, 4U);
    }
  };
  switch (tiles.taps) {
    case 8:
      return of_taps(std::integral_constant<unsigned, 8>());
    case 12:
      return of_taps(std::integral_constant<unsigned, 12>());
    case 16:
      return of_taps(std::integral_constant<unsigned, 16>());
    default:
      return of_taps(std::integral_constant<unsigned, 0>());
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
    // Part of the shared memory is reserved for the kernel itself.
    fits = bytes + 1024 <= static_cast<unsigned>(most);
    if (fits) ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 1024));
  });
  return fits;
}

template <class Sample>
void launch(const LineTiles& tiles, cudaStream_t stream) {
  with_kernel<Sample>(tiles, [&](auto kernel, unsigned groups) {
    kernel<<<tiles.events * tiles.tiles, groups * tile_threads, tile_layout(tiles.taps, tiles.most_lines, tiles.most_rows).bytes,
             stream>>>(tiles);
  });
  ECHOFORM_CUDA_LAUNCHED("sum_tiles");
}

}  // namespace
}  // namespace echoform::gpu
