#include <climits>

#include "gpu/cuda_check.hpp"
#include "stages/scan_lines/line_tile_launch.hpp"
#include "stages/scan_lines/line_tile_math.cuh"

namespace echoform::gpu {
namespace {

/// A warp handles one row of the event at a time.
__global__ void __launch_bounds__(tile_threads) find_windows(LineTiles tiles) {
  const unsigned tile = blockIdx.x % tiles.tiles;
  const TileEvent event = tiles.event[blockIdx.x / tiles.tiles];
  const std::uint32_t first = tile * tiles.tile_ranges;
  const std::uint32_t end = min(first + tiles.tile_ranges, tiles.ranges);
  for (std::uint32_t row = threadIdx.x / 32; row < event.rows; row += tile_threads / 32) {
    int lowest = INT_MAX;
    int highest = INT_MIN;
    bool used = false;
    bool outside = false;
    for (std::uint32_t k = 0; k < event.lines; ++k) {
      const std::size_t at = event.first_place + std::size_t{k} * event.rows + row;
      const std::uint32_t table = tiles.weight_tables[at];
      if (table == unheard_place || tiles.even_weights[std::size_t{table} * tiles.tiles + tile] == 0.0F) continue;
      used = true;
      const std::uint32_t line = tiles.lines[event.first_line + k];
      const int from = tiles.tile_places[std::size_t{line} * tiles.tiles + tile];
      const TilePlace place = tiles.places[at];
      const float least = static_cast<float>(-from * tiles.fineness);
      const float most = static_cast<float>((tiles.samples - 1 - from) * tiles.fineness);
      for (std::uint32_t n = first + threadIdx.x % 32; n < end; n += 32) {
        const float t = tile_place(place, tiles.range[n], tiles.rest[std::size_t{line} * tiles.pitch + n]);
        if (t >= least && t < most) {
          const int sample = from + static_cast<int>(floorf(t / static_cast<float>(tiles.fineness)));
          lowest = min(lowest, sample);
          highest = max(highest, sample);
        } else {
          outside = true;
        }
      }
    }
    lowest = __reduce_min_sync(0xffffffffU, lowest);
    highest = __reduce_max_sync(0xffffffffU, highest);
    outside = __any_sync(0xffffffffU, outside);
    if (threadIdx.x % 32 != 0) continue;
    std::int32_t window = 0;
    if (used && lowest <= highest) {
      // Lookups read the samples from lowest to highest and the one behind each. The kernel that sums has its own ranges and
      // polynomials, which move a place by rounding and 4e-5. That is far less than a sample, so a lookup moves to the adjacent
      // sample at most. The window goes from lowest - 1, or from the A-scan's first sample, to highest + 2. Where one of these
      // does not exist, places are checked.
      const int step = tiles.taps == 0 ? 8 : 4;
      const int base = max(lowest - 1, 0) / step * step;
      const bool at_end = lowest < 1 || highest + 3 > tiles.samples;
      window = base | window_is_used | (outside || at_end ? window_is_checked : 0);
      atomicMax(tiles.most_window, highest + 3 - base);
    }
    tiles.windows[std::size_t{event.first_heard} * tiles.tiles + tile * event.rows + row] = window;
  }
}

}  // namespace

void launch_line_windows(const LineTiles& tiles, cudaStream_t stream) {
  find_windows<<<tiles.events * tiles.tiles, tile_threads, 0, stream>>>(tiles);
  ECHOFORM_CUDA(cudaPeekAtLastError());
}

}  // namespace echoform::gpu
