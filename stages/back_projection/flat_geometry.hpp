// The geometry of back-projection as kernels see it: in samples from the grid's middle, in single precision.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/back_projection_math.hpp"

namespace echoform::projection {

/// The coordinate system of kernels: samples from the grid's middle, with the axes in the order `order`.
struct FlatFrame {
  std::array<int, 3> order{0, 1, 2};  ///< which of x, y, z comes first, second and third
  std::array<double, 3> middle{};     ///< m, of x, y, z
  double samples_per_metre = 1.0;

  /// The index of x, y or z that `axis` stands for.
  [[nodiscard]] std::size_t of(int axis) const { return static_cast<std::size_t>(order[static_cast<std::size_t>(axis)]); }
  [[nodiscard]] float place(const Point& at, int axis) const;
};

/// The frame for `options`, which must be valid.
[[nodiscard]] FlatFrame flat_frame(const BackProjectionOptions& options, std::array<int, 3> order);
/// The axes x, y and z. steps_of(): the distance in the image of neighbours along each.
[[nodiscard]] std::array<const Axis*, 3> axes_of(const Grid& grid);
[[nodiscard]] std::array<std::size_t, 3> steps_of(const Grid& grid);

/// The detectors in `frame`. Weights that are an area or a length are converted to samples, as places are.
[[nodiscard]] std::vector<FlatDetector> flat_detectors(const BackProjectionOptions& options, const FlatFrame& frame);
/// The inclusion in `frame`. The options must have one.
[[nodiscard]] FlatInclusion flat_inclusion(const BackProjectionOptions& options, const FlatFrame& frame);

/// The start time in samples.
[[nodiscard]] inline float flat_start(const BackProjectionOptions& options) {
  return static_cast<float>(options.start_time.value * options.sample_rate.value);
}

}  // namespace echoform::projection
