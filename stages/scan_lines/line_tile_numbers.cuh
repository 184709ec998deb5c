// Tiles of one line per event where received samples are summed without any processing before: int16 without time gain or
// upsampling. Samples come into shared memory as they are, by copies in which no thread takes part, and a lookup converts the two
// that it needs to floats. That takes one instruction each, whereas a fill through registers takes several for every sample.
// Little shared memory and few registers allow many blocks at once. Each warp places its receivers, 32 at a time, one per lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/bulk_copy.cuh"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_tile_fill.cuh"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_layout.cuh"
#include "stages/scan_lines/line_tile_lookups.cuh"
#include "stages/scan_lines/line_tile_output.cuh"

namespace echoform::gpu {
namespace {

constexpr unsigned numbers_at_once = 8;  // receivers of a stage
constexpr unsigned number_stages = 2;    // stages in shared memory
constexpr unsigned numbers_placed = 32 / numbers_at_once;
constexpr unsigned stage_numbers = numbers_at_once * tile_window;
constexpr unsigned most_shared = 40U << 10U;  // the limit of any kernel without a request, minus a part for the kernel itself
static_assert(tile_window % 8 == 0 && counted_samples(0) % 8 == 0);

struct NumbersLayout {
  unsigned receivers;  // [warp, receiver]
  unsigned barriers;   // [stage]
  unsigned rests;      // [thread, range]
  unsigned windows;    // [row]
  unsigned bytes;
};
__host__ __device__ inline NumbersLayout numbers_layout(unsigned most_rows) {
  NumbersLayout layout{};
  layout.receivers = number_stages * stage_numbers * static_cast<unsigned>(sizeof(std::int16_t));
  layout.barriers = layout.receivers + tile_warps * 32 * static_cast<unsigned>(sizeof(TileReceiver));
  layout.rests = layout.barriers + 8 * number_stages;
  layout.windows = layout.rests + most_tile_ranges * 4;
  layout.bytes = layout.windows + most_rows * 4;
  return layout;
}

/// Requests the samples of a stage. The first threads of the block do this, one per receiver.
__device__ __forceinline__ void ask_for_numbers(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows,
                                                unsigned stage, std::uint32_t samples, std::uint32_t barriers) {
  const unsigned row = stage * numbers_at_once + threadIdx.x;
  if (threadIdx.x >= numbers_at_once) return;
  const unsigned slot = stage % number_stages;
  const std::int32_t window = row < block.event.rows ? windows[row] : 0;
  const unsigned from = 2U * (static_cast<unsigned>(window) & ~7U);
  const auto row_bytes = static_cast<unsigned>(tiles.row_bytes);
  const unsigned bytes = window == 0 || from >= row_bytes ? 0 : min(2 * tile_window, row_bytes - from);
  arrive_expecting(barriers + 8 * slot, bytes);
  if (bytes == 0) return;
  const auto* const at =
      static_cast<const std::byte*>(tiles.rows) + std::size_t{block.event.first_row + row} * tiles.row_bytes + from;
  copy_bulk(samples + 2 * (slot * stage_numbers + threadIdx.x * tile_window), at, bytes, barriers + 8 * slot);
}

/// Adds the samples of a stage that a tile counts. Behind an A-scan there may be other samples among them.
__device__ __forceinline__ void see_numbers(const std::int16_t* samples, Outermost& outermost) {
  constexpr unsigned pieces = counted_samples(0) / 8;
  static_assert(numbers_at_once * pieces % tile_threads == 0 && tile_threads % pieces == 0);
  const auto* const of_thread =
      reinterpret_cast<const uint4*>(samples + threadIdx.x / pieces * tile_window + threadIdx.x % pieces * 8);
#pragma unroll
  for (unsigned turn = 0; turn < numbers_at_once * pieces / tile_threads; ++turn) {
    const uint4 eight = of_thread[turn * (tile_threads / pieces) * tile_window / 8];
    outermost.add(eight.x, eight.y);
    outermost.add(eight.z, eight.w);
  }
}

/// Counts once more from device memory, one warp per row. It is rarely needed.
__device__ std::uint32_t count_tile(const LineTiles& tiles, const TileBlock& block, const std::int32_t* windows) {
  std::uint32_t clipped = 0;
  for (unsigned row = threadIdx.x / 32; row < block.event.rows; row += tile_warps) {
    if (windows[row] == 0) continue;
    const std::int32_t* const begin =
        tiles.bounds + std::size_t{block.event.first_heard} * (tiles.tiles + 1) + block.tile * block.event.rows + row;
    const int window = windows[row] & ~3;
    clipped += count_samples<std::int16_t>(tiles, {block.event.first_row + row, max(begin[0], window),
                                                   min(begin[block.event.rows], window + static_cast<int>(counted_samples(0)))});
  }
  return clipped;
}

__global__ void __launch_bounds__(tile_threads, 9) sum_numbers(const __grid_constant__ LineTiles tiles) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // for bulk copies; others have no code here, and do not run it
  extern __shared__ float4 shared[];
  const NumbersLayout layout = numbers_layout(tiles.most_rows);
  char* const base = reinterpret_cast<char*>(shared);
  const auto* const samples = reinterpret_cast<const std::int16_t*>(base);
  auto* const receivers = reinterpret_cast<TileReceiver*>(base + layout.receivers) + threadIdx.x / 32 * 32;
  auto* const windows = reinterpret_cast<std::int32_t*>(base + layout.windows);
  const std::uint32_t barriers = shared_address(base + layout.barriers);
  const TileBlock block = block_of(tiles);
  for (unsigned row = threadIdx.x; row < block.event.rows; row += tile_threads) {
    windows[row] = tiles.windows[std::size_t{block.event.first_heard} * tiles.tiles + block.tile * block.event.rows + row];
  }
  if (threadIdx.x < number_stages) start_barrier(barriers + 8 * threadIdx.x, numbers_at_once);
  publish_barriers();
  __syncthreads();
  const unsigned stages = (block.event.rows + numbers_at_once - 1) / numbers_at_once;
  for (unsigned stage = 0; stage < min(stages, number_stages); ++stage) {
    ask_for_numbers(tiles, block, windows, stage, shared_address(samples), barriers);
  }

  TileRanges ranges;
  ranges.find(tiles, block);
  const std::uint32_t line = tiles.lines[block.event.first_line];
  float* const rests = reinterpret_cast<float*>(base + layout.rests) + tile_depth * threadIdx.x;
  if (ranges.count != 0) {
    for (unsigned v = 0; v < tile_depth; ++v) rests[v] = tiles.rest[std::size_t{line} * tiles.pitch + ranges.place(v)];
  }
  std::uint32_t others = 0;  // bits of the placed receivers that are not common
  float sum[tile_depth] = {};
  Outermost outermost;
  for (unsigned stage = 0; stage < stages; ++stage) {
    const unsigned slot = stage % number_stages;
    if (stage % numbers_placed == 0) {
      const unsigned row = stage * numbers_at_once + threadIdx.x % 32;
      __syncwarp();
      TileReceiver receiver{};
      if (row < block.event.rows) {
        receiver = place_receiver<Held::numbers>(tiles, block, 0, row, windows[row], threadIdx.x / 32, row % numbers_at_once);
      }
      receivers[threadIdx.x % 32] = receiver;
      others = __ballot_sync(0xffffffffU, other_than_common(receiver.kind) != 0);
      __syncwarp();
    }
    wait_for(barriers + 8 * slot, stage / number_stages % 2);
    const std::int16_t* const here = samples + slot * stage_numbers;
    const unsigned of_stage = stage % numbers_placed * numbers_at_once;
    const bool common = (others >> of_stage & ((1U << numbers_at_once) - 1)) == 0;
    sum_receivers<Held::numbers, numbers_at_once, 1>(tiles, block, receivers + of_stage, common,
                                                     shared_address(here) - tiles.address_bias, block.event.first_line, ranges,
                                                     rests, sum);
    see_numbers(here, outermost);
    __syncthreads();
    if (stage + number_stages < stages) {
      ask_for_numbers(tiles, block, windows, stage + number_stages, shared_address(samples), barriers);
    }
  }
  const std::uint32_t peak = write_line(tiles, block, ranges, line, sum);
  std::uint32_t clipped = count_segments<std::int16_t>(tiles);
  if (__syncthreads_or(outermost.at_end()) != 0) clipped += count_tile(tiles, block, windows);
  report_lines(tiles.facts, peak, clipped, gridDim.x);
#endif
}

/// Whether the code that runs on the device was compiled for compute capability 9.0 or later.
inline bool numbers_are_summed() {
  cudaFuncAttributes attributes{};
  ECHOFORM_CUDA(cudaFuncGetAttributes(&attributes, sum_numbers));
  return attributes.ptxVersion >= 90;
}

/// Whether sum_numbers() can sum these tiles.
inline bool are_numbers(const LineTiles& tiles) {
  return tiles.bulk_copies && tiles.taps == 0 && tiles.most_lines == 1 && tiles.gain == nullptr && tiles.row_bytes % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(tiles.rows) % 16 == 0 && numbers_layout(tiles.most_rows).bytes <= most_shared;
}

inline void launch_numbers(LineTiles tiles, cudaStream_t stream) {
  tiles.address_bias = 2U * whole_magic_bits;
  sum_numbers<<<tiles.events * tiles.tiles, tile_threads, numbers_layout(tiles.most_rows).bytes, stream>>>(tiles);
  ECHOFORM_CUDA_LAUNCHED("sum_numbers");
}

}  // namespace
}  // namespace echoform::gpu
