#include "stages/wall_filter/wall_filter_kernels_body.hpp"

namespace echoform {

void wall_filter_avx512(const WallFilterTask& task) {
  wall_filter_piece_of(task);
}

}  // namespace echoform
