#include "stages/scan_lines/line_tile_kernels.cuh"

namespace echoform::gpu {

bool prepare_float_tiles(const LineTiles& tiles) {
  return prepare<float>(tiles);
}

void launch_float_tiles(const LineTiles& tiles, cudaStream_t stream) noexcept {
  launch<float>(tiles, stream);
}

}  // namespace echoform::gpu
