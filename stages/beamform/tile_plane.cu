// Plane waves without tables. They have kernels of their own, so that the kernels of single elements stay as they are.
#include "stages/beamform/tile_functions.cuh"

namespace echoform::beamform {
namespace {

template <bool half, bool nearest, int kind>
TileFunction plane_function(const TileLaunch& launch) {
  return {reinterpret_cast<const void*>(&beamform_tiles<PlaneVariant<half, nearest, kind>>),
          tile_shared_bytes(launch.kind, true, half, sources_of(launch), false)};
}

}  // namespace

TileFunction plane_tile_function(const TileLaunch& launch) {
  return function_of_windows(launch.kind, [&](auto kind) {
    constexpr int number = decltype(kind)::value;
    if (launch.half) return plane_function<true, false, number>(launch);
    return launch.nearest ? plane_function<false, true, number>(launch) : plane_function<false, false, number>(launch);
  });
}

}  // namespace echoform::beamform
