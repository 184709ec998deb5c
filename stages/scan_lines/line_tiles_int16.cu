#include "stages/scan_lines/line_tile_kernels.cuh"
#include "stages/scan_lines/line_tile_numbers.cuh"

namespace echoform::gpu {

bool prepare_int16_tiles(LineTiles& tiles) {
  tiles.bulk_copies = numbers_are_summed();
  return prepare<std::int16_t>(tiles);
}

void launch_int16_tiles(const LineTiles& tiles, cudaStream_t stream) noexcept {
  if (are_numbers(tiles)) {
    launch_numbers(tiles, stream);
  } else {
    launch<std::int16_t>(tiles, stream);
  }
}

}  // namespace echoform::gpu
