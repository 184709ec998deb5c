// Differences of neighbouring voxels, of which penalties are made.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/grid.hpp"
#include "jobs/vector_math.hpp"

namespace echoform {

/// Voxels along each axis, of a volume in C order [z, y, x].
struct VolumeShape {
  std::size_t x = 1;
  std::size_t y = 1;
  std::size_t z = 1;

  [[nodiscard]] constexpr std::size_t voxels() const { return x * y * z; }
};
[[nodiscard]] inline VolumeShape shape_of(const Grid& grid) {
  return {grid.x.count, grid.y.count, grid.z.count};
}

/// The linear map D from a volume to its differences, [axis x, y, z][z, y, x]: each voxel minus the one before it along the
/// axis. The first voxel of an axis has none before it; its difference is 0, so no difference crosses a border.
class Differences {
 public:
  Differences(const VolumeShape& shape, VectorMath& math);

  [[nodiscard]] std::size_t voxels() const noexcept { return shape_.voxels(); }
  /// The number of differences along all axes.
  [[nodiscard]] std::size_t values() const noexcept { return 3 * voxels(); }

  /// differences = a * D volume + b * differences
  void apply(double a, std::span<const float> volume, double b, std::span<float> differences) const;
  /// volume += a * D^T differences. Values at borders count as 0, whatever they are.
  void add_transposed(double a, std::span<const float> differences, std::span<float> volume) const;
  /// to += a * D^T D volume
  void add_curvature(double a, std::span<const float> volume, std::span<float> to) const;
  /// |D volume|^2
  [[nodiscard]] double squares(std::span<const float> volume) const;
  /// The sum over voxels of the length of their three differences: the isotropic total variation.
  [[nodiscard]] double lengths(std::span<const float> volume) const;

  /// No eigenvalue of D^T D is larger: 4 for each axis.
  static constexpr double largest_eigenvalue = 12.0;

 private:
  struct Neighbours;
  using Line = FunctionRef<void(std::size_t z, std::size_t y, std::size_t first)>;
  void for_lines(Line line) const;
  template <class Term>
  [[nodiscard]] double sum_of(std::span<const float> volume, const Term& term) const;

  VolumeShape shape_;
  VectorMath* math_;
};

}  // namespace echoform
