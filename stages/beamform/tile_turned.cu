// Waves of revolution without tables. They have kernels of their own beside those of plane waves.
#include "stages/beamform/tile_functions.cuh"

namespace echoform::beamform {
namespace {

template <bool half, bool nearest, int kind>
TileFunction turned_function(const TileLaunch& launch) {
  return {reinterpret_cast<const void*>(&beamform_tiles<TurnedVariant<half, nearest, kind>>),
          tile_shared_bytes(launch.kind, true, half, sources_of(launch), false)};
}

}  // namespace

TileFunction turned_tile_function(const TileLaunch& launch) {
  return function_of_windows(launch.kind, [&](auto kind) {
    constexpr int number = decltype(kind)::value;
    if (launch.half) return turned_function<true, false, number>(launch);
    return launch.nearest ? turned_function<false, true, number>(launch) : turned_function<false, false, number>(launch);
  });
}

}  // namespace echoform::beamform
