// Frames whose numbers of transmit events and of receivers differ. They have kernels of their own, so that the kernels of full
// matrices stay as they are.
#include "stages/beamform/tile_functions.cuh"

namespace echoform::beamform {

TileFunction separate_tile_function(const TileLaunch& launch) {
  return function_of_windows(launch.kind, [&](auto kind) -> TileFunction {
    constexpr int number = decltype(kind)::value;
    if constexpr (has_separate_counts(static_cast<TileKind>(number))) {
      return launch.half ? tile_function_of_kind<true, number, true>(launch) : tile_function_of_kind<false, number, true>(launch);
    } else {
      return {};
    }
  });
}

}  // namespace echoform::beamform
