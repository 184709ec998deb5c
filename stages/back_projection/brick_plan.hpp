// How voxels and detectors are distributed over the threads of a GPU. Free of CUDA's headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/flat_geometry.hpp"

namespace echoform::projection {

inline constexpr std::uint32_t brick_warps = 8;
inline constexpr std::uint32_t brick_threads = 32 * brick_warps;
/// Voxels of a thread along the third axis: `deep` in volumes, `shallow` in images, which have few voxels.
inline constexpr std::uint32_t deep = 16;
inline constexpr std::uint32_t shallow = 4;
/// Maximum of half the samples of a window. Where voxels lie too far from each other for it, samples are read from device
/// memory.
inline constexpr std::uint32_t most_half_window = 512;

/// A block of threads takes a brick of voxels. Along an axis a warp has `lanes` neighbouring voxels, and the block has
/// `warps` neighbouring warps. Along the third axis each thread has `depth` voxels, whose distance is the width of the block
/// there.
struct BrickPlan {
  std::array<int, 3> order{0, 1, 2};  ///< which of x, y, z is the first, second and third axis
  std::array<std::uint32_t, 3> lanes{32, 1, 1};
  std::array<std::uint32_t, 3> warps{brick_warps, 1, 1};
  std::uint32_t depth = shallow;
  std::array<std::uint32_t, 3> bricks{1, 1, 1};
  std::uint32_t groups = 1;       ///< of detectors; each group is summed separately, then the sums are added
  std::uint32_t group_size = 1;   ///< detectors of a group; the last group may have fewer
  std::uint32_t half_window = 0;  ///< of the samples of a detector that a brick looks up; 0: no windows, samples are read
                                  ///< from device memory
  std::uint32_t batch = 0;        ///< detectors whose windows are in shared memory at a time

  [[nodiscard]] std::uint32_t threads(std::size_t axis) const { return lanes[axis] * warps[axis]; }
  [[nodiscard]] std::uint32_t side(std::size_t axis) const { return threads(axis) * (axis == 2 ? depth : 1); }
  [[nodiscard]] std::uint32_t all_bricks() const { return bricks[0] * bricks[1] * bricks[2]; }
  /// Bytes of shared memory of a block.
  [[nodiscard]] std::size_t shared_bytes() const;
  /// Bytes of device memory: the detectors, and the sums of groups, which have weights where `normalise`.
  [[nodiscard]] std::size_t detector_bytes(const BackProjectionOptions& options) const;
  [[nodiscard]] std::size_t sums_bytes(const BackProjectionOptions& options) const;
};

/// The plan for `options`, which must be valid. It is the same on every GPU.
[[nodiscard]] BrickPlan plan_bricks(const BackProjectionOptions& options);

}  // namespace echoform::projection
