// The loops of back-projection on the CPU, one for each instruction set.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu/cpu_backend.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/back_projection_math.hpp"

namespace echoform::projection {

/// Number of lanes of the widest kernel.
inline constexpr std::size_t most_lanes = 16;
/// Maximum number of rows of voxels in a tile.
inline constexpr std::size_t most_rows = 64;

/// Voxels that are summed together: rows that have as many voxels along the first axis as the kernel has lanes.
struct Tile {
  float lane[most_lanes];  ///< places along the first axis, ascending by Call::spacing; surplus lanes repeat the last place
  float second[most_rows];
  float third[most_rows];
  std::size_t rows = 0;
  float sums[most_rows * most_lanes];     ///< [row, lane of the kernel]
  float weights[most_rows * most_lanes];  ///< sums of weights, where Call::normalise
};

/// Arguments that are the same for all tiles of a frame.
struct Call {
  const float* samples = nullptr;
  std::size_t stride = 0;  ///< of rows; reading beyond a row's end is allowed
  const FlatDetector* detectors = nullptr;
  std::size_t count = 0;
  ProjectionLaw law = ProjectionLaw::constant;
  float start = 0.0F;    ///< time of column 0
  float last = 0.0F;     ///< columns - 1
  float spacing = 0.0F;  ///< of lanes
  float reach = 0.0F;    ///< upper bound of the distance of a lane's place from the grid's middle
  unsigned cosine_power = 0;
  float least_cosine = -1.0F;
  bool normalise = false;
  const FlatInclusion* inclusion = nullptr;

  /// Whether only the law applies: no power of the cosine, no minimum cosine, no normalisation and no inclusion.
  [[nodiscard]] bool plain() const { return cosine_power == 0 && least_cosine <= -1.0F && !normalise && inclusion == nullptr; }
};

/// Overwrites the tile's sums, and its weights unless plain().
using Kernel = void (*)(const Call& call, Tile& tile);

struct KernelChoice {
  Kernel run = nullptr;
  std::size_t lanes = 1;
};
[[nodiscard]] KernelChoice kernel_of(SimdLevel level);

void project_portable(const Call& call, Tile& tile);
void project_avx2(const Call& call, Tile& tile);
void project_avx512(const Call& call, Tile& tile);

}  // namespace echoform::projection
