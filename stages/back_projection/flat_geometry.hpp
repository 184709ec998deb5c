// The geometry of back-projection as kernels see it: in samples from the grid's middle, in single precision.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/back_projection_math.hpp"

namespace echoform::projection {

/// In samples from the grid's middle, axes in their order.
struct FlatFrame {
  std::array<int, 3> order{0, 1, 2};  ///< which of x, y, z comes first, second and third
  std::array<double, 3> middle{};     ///< m, of x, y, z
  double samples_per_metre = 1.0;

  /// Which of x, y and z `axis` is.
  [[nodiscard]] std::size_t of(int axis) const { return static_cast<std::size_t>(order[static_cast<std::size_t>(axis)]); }
  [[nodiscard]] float place(const Point& at, int axis) const;
};

/// Of valid options.
[[nodiscard]] FlatFrame flat_frame(const BackProjectionOptions& options, std::array<int, 3> order);
/// x, y and z, and how far in the image neighbours along each are.
[[nodiscard]] std::array<const Axis*, 3> axes_of(const Grid& grid);
[[nodiscard]] std::array<std::size_t, 3> steps_of(const Grid& grid);

/// Weights of an area or a length count in samples, as places do.
[[nodiscard]] std::vector<FlatDetector> flat_detectors(const BackProjectionOptions& options, const FlatFrame& frame);
/// Of options with an inclusion.
[[nodiscard]] FlatInclusion flat_inclusion(const BackProjectionOptions& options, const FlatFrame& frame);

/// In samples.
[[nodiscard]] inline float flat_start(const BackProjectionOptions& options) {
  return static_cast<float>(options.start_time.value * options.sample_rate.value);
}

}  // namespace echoform::projection
