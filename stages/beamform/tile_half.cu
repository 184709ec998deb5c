#include "stages/beamform/tile_functions.cuh"

namespace echoform::beamform {

TileFunction half_tile_function(const TileLaunch& launch) {
  return function_of_windows(launch.kind,
                             [&](auto kind) { return tile_function_of_kind<true, decltype(kind)::value, false>(launch); });
}

}  // namespace echoform::beamform
