// Points of a run that are places of a lattice, as the voxels of a volume are, though some may be missing, and which of them
// are neighbours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/geometry.hpp"

namespace echoform::rays {

class PointLattice {
 public:
  /// Along x, y and z.
  using Place = std::array<std::size_t, 3>;

  /// The lattice of the points; none if less than a quarter of its places are points. Of equal points the last one counts.
  [[nodiscard]] static std::optional<PointLattice> of(std::span<const Point> points);

  [[nodiscard]] const Place& counts() const noexcept { return counts_; }
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// The point's place in the run; none where no point lies there.
  [[nodiscard]] std::uint32_t at(const Place& place) const {
    return points_[place[0] + counts_[0] * (place[1] + counts_[1] * place[2])];
  }

 private:
  Place counts_{};
  std::vector<std::uint32_t> points_;
};

/// Part of a lattice, from `low` to `high`, both included.
struct LatticeBrick {
  PointLattice::Place low;
  PointLattice::Place high;

  /// Bit n of `which` chooses between low and high along axis n.
  [[nodiscard]] PointLattice::Place corner(unsigned which) const;
  /// Whether every place is a corner.
  [[nodiscard]] bool smallest() const;
  /// The brick split in halves along each axis that has more than two places; neighbouring bricks share their faces.
  [[nodiscard]] std::vector<LatticeBrick> split() const;
};

/// Bricks of at most `side` steps along each axis, which share their faces.
[[nodiscard]] std::vector<LatticeBrick> bricks_of(const PointLattice::Place& counts, std::size_t side);

}  // namespace echoform::rays
