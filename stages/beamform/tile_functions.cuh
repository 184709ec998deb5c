// Which instantiation of the kernel for tiles a launch takes.
#pragma once

#include "stages/beamform/tile_kernel.cuh"

namespace echoform::beamform {

template <bool half, bool analytic, bool weighted, bool nearest, int kind, bool separate>
[[nodiscard]] TileFunction tile_function(const TileLaunch& launch) {
  using Variant = TileVariant<half, analytic, weighted, nearest, kind, separate>;
  return {reinterpret_cast<const void*>(&beamform_tiles<Variant>),
          tile_shared_bytes(launch.kind, analytic, half, sources_of(launch), launch.order == PairOrder::once)};
}

template <bool half, bool nearest, int kind, bool separate>
[[nodiscard]] TileFunction tile_function_with(const TileLaunch& launch) {
  if (launch.analytic) return tile_function<half, true, false, nearest, kind, separate>(launch);
  return launch.transmit.weights != nullptr ? tile_function<half, false, true, nearest, kind, separate>(launch)
                                            : tile_function<half, false, false, nearest, kind, separate>(launch);
}

template <bool half, int kind, bool separate>
[[nodiscard]] TileFunction tile_function_of_kind(const TileLaunch& launch) {
  if constexpr (half) {
    return tile_function_with<true, false, kind, separate>(launch);
  } else {
    return launch.nearest ? tile_function_with<false, true, kind, separate>(launch)
                          : tile_function_with<false, false, kind, separate>(launch);
  }
}

}  // namespace echoform::beamform
