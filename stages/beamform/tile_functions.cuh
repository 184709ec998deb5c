// Selects the instantiation of the kernel for tiles that a launch uses.
#pragma once

#include "stages/beamform/tile_kernel.cuh"

namespace echoform::beamform {

template <bool half, bool analytic, bool weighted, bool nearest, int kind, bool separate, bool listed>
[[nodiscard]] TileFunction tile_function(const TileLaunch& launch) {
  using Variant = TileVariant<half, analytic, weighted, nearest, kind, separate, listed>;
  return {reinterpret_cast<const void*>(&beamform_tiles<Variant>),
          tile_shared_bytes(launch.kind, analytic, half, sources_of(launch), launch.order == PairOrder::once)};
}

template <bool half, bool nearest, int kind, bool separate, bool listed>
[[nodiscard]] TileFunction tile_function_with(const TileLaunch& launch) {
  if (launch.analytic) return tile_function<half, true, false, nearest, kind, separate, listed>(launch);
  return launch.transmit.weights != nullptr ? tile_function<half, false, true, nearest, kind, separate, listed>(launch)
                                            : tile_function<half, false, false, nearest, kind, separate, listed>(launch);
}

template <bool half, int kind, bool separate, bool listed = false>
[[nodiscard]] TileFunction tile_function_of_kind(const TileLaunch& launch) {
  if constexpr (half) {
    return tile_function_with<true, false, kind, separate, listed>(launch);
  } else {
    return launch.nearest ? tile_function_with<false, true, kind, separate, listed>(launch)
                          : tile_function_with<false, false, kind, separate, listed>(launch);
  }
}

}  // namespace echoform::beamform
