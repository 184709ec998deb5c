// The loops of the spherical model: impulses of the voxels of a piece of a row, spread on grids in time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/cpu_backend.hpp"
#include "operators/spherical_math.hpp"

namespace echoform::spherical {

/// Grids of a detector, `stride` floats apart. Points spread voxels on four in turn: what was added to one is stored by the time
/// that it is read again. Rectangles: grid n holds what is to be integrated n times.
inline constexpr std::int32_t point_grids = 4;
inline constexpr std::int32_t rectangle_grids = 3;

struct PieceTask {
  Heard heard;
  std::int32_t count = 0;        ///< voxels
  std::int32_t first = 0;        ///< cells of arrivals that count: from here ...
  std::int32_t last = 0;         ///< ... to here; all samples of their impulses are on the grid
  std::size_t stride = 0;        ///< of grids
  const float* table = nullptr;  ///< spreading::make_table()
};

/// All levels give the same bits.
struct PieceKernels {
  /// Adds the impulses of voxels to grids.
  void (*spread)(const PieceTask& task, const float* image, float* grids) = nullptr;
  /// Adds for every voxel what grids hold at its impulses, by the same weights: sums [voxel][lane], whose sum over lanes counts.
  /// Of points there is one grid.
  void (*gather)(const PieceTask& task, const float* grids, float* sums) = nullptr;
};

struct SphericalKernels {
  PieceKernels points;
  PieceKernels rectangles;
};
[[nodiscard]] SphericalKernels spherical_kernels(SimdLevel level);
extern const SphericalKernels spherical_kernels_portable;
extern const SphericalKernels spherical_kernels_avx2;
extern const SphericalKernels spherical_kernels_avx512;

}  // namespace echoform::spherical
