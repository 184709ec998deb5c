#include "stages/beamform/tile_kernel.cuh"

namespace echoform::beamform {
namespace {

template <bool analytic, bool weighted, bool nearest, int kind>
TileFunction function_of(const TileLaunch& launch) {
  using Variant = TileVariant<false, analytic, weighted, nearest, kind>;
  return {reinterpret_cast<const void*>(&beamform_tiles<Variant>),
          tile_shared_bytes(launch.kind, analytic, Variant::half, launch.sources, launch.order == PairOrder::once)};
}

template <bool nearest, int kind>
TileFunction function_with(const TileLaunch& launch) {
  if (launch.analytic) return function_of<true, false, nearest, kind>(launch);
  return launch.transmit.weights != nullptr ? function_of<false, true, nearest, kind>(launch)
                                            : function_of<false, false, nearest, kind>(launch);
}

template <int kind>
TileFunction function_of_kind(const TileLaunch& launch) {
  return launch.nearest ? function_with<true, kind>(launch) : function_with<false, kind>(launch);
}

}  // namespace

TileFunction float_tile_function(const TileLaunch& launch) {
  return function_of_windows(launch.kind, [&](auto kind) { return function_of_kind<decltype(kind)::value>(launch); });
}

}  // namespace echoform::beamform
