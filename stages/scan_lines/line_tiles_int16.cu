#include "stages/scan_lines/line_tile_kernels.cuh"

namespace echoform::gpu {

bool prepare_int16_tiles(const LineTiles& tiles) {
  return prepare<std::int16_t>(tiles);
}

void launch_int16_tiles(const LineTiles& tiles, cudaStream_t stream) noexcept {
  launch<std::int16_t>(tiles, stream);
}

}  // namespace echoform::gpu
