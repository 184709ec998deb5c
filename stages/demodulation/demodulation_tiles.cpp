#include "stages/demodulation/demodulation_tiles.hpp"

#include <algorithm>

namespace echoform {
namespace {

constexpr std::size_t warp = 32;
constexpr std::size_t most_threads = 128;
constexpr std::size_t most_floats = 12'000;  // every device grants 48 KiB without a request

DemodulationTile tile_of(const DemodulationOptions& options, std::size_t kept) {
  const std::size_t of_warp = warp * demodulation_outputs;
  DemodulationTile tile{kept, (kept + of_warp - 1) / of_warp * warp, 0, PhaseLayout(options, kept)};
  tile.layout.pitch |= 1;
  // Threads beyond the tile's end read what lies behind the tile, and write nothing.
  tile.floats = options.decimation * tile.layout.pitch + (tile.threads * demodulation_outputs - kept);
  return tile;
}

}  // namespace

DemodulationTile demodulation_tile(const DemodulationOptions& options, std::size_t columns) {
  std::size_t kept = std::min(most_threads * demodulation_outputs, (columns + warp - 1) / warp * warp);
  DemodulationTile tile = tile_of(options, kept);
  while (tile.floats > most_floats && kept > warp) tile = tile_of(options, kept -= warp);
  return tile;
}

std::size_t demodulation_bytes_cuda(const DemodulationOptions& options, const BlockSpec& input) {
  const std::size_t kept = (input.columns + options.decimation - 1) / options.decimation;
  std::size_t bytes = demodulation_tap_count(options) * sizeof(DemodulationTap) + kept * 2 * sizeof(float);
  if (input.type == ElementType::raw && options.time_gain != nullptr) bytes += input.columns * sizeof(float);
  return bytes;
}

}  // namespace echoform
