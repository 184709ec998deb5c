#include "stages/back_projection/flat_geometry.hpp"

namespace echoform::projection {
namespace {

std::array<double, 3> coordinates(const Point& point) {
  return {point.x.value, point.y.value, point.z.value};
}

}  // namespace

float FlatFrame::place(const Point& at, int axis) const {
  return static_cast<float>((coordinates(at)[of(axis)] - middle[of(axis)]) * samples_per_metre);
}

std::array<const Axis*, 3> axes_of(const Grid& grid) {
  return {&grid.x, &grid.y, &grid.z};
}

std::array<std::size_t, 3> steps_of(const Grid& grid) {
  return {1, grid.x.count, grid.x.count * grid.y.count};
}

FlatFrame flat_frame(const BackProjectionOptions& options, std::array<int, 3> order) {
  FlatFrame frame;
  frame.order = order;
  frame.samples_per_metre = options.sample_rate.value / options.velocity.value;
  const auto axes = axes_of(options.grid);
  for (std::size_t k = 0; k < 3; ++k) frame.middle[k] = 0.5 * (axes[k]->first + axes[k]->last).value;
  return frame;
}

std::vector<FlatDetector> flat_detectors(const BackProjectionOptions& options, const FlatFrame& frame) {
  double unit = 1.0;
  if (options.law == ProjectionLaw::inverse_cube) unit = frame.samples_per_metre * frame.samples_per_metre;
  if (options.law == ProjectionLaw::inverse_square) unit = frame.samples_per_metre;
  std::vector<FlatDetector> detectors(options.detectors->size());
  for (std::size_t q = 0; q < detectors.size(); ++q) {
    const ProjectionDetector& from = (*options.detectors)[q];
    FlatDetector& to = detectors[q];
    const std::array<double, 3> normal{from.normal.x, from.normal.y, from.normal.z};
    for (int axis = 0; axis < 3; ++axis) {
      to.place[axis] = frame.place(from.centre, axis);
      to.normal[axis] = static_cast<float>(normal[frame.of(axis)]);
    }
    to.weight = static_cast<float>(from.weight * unit);
    to.row = static_cast<std::uint32_t>(from.row);
  }
  return detectors;
}

FlatInclusion flat_inclusion(const BackProjectionOptions& options, const FlatFrame& frame) {
  const SoundInclusion& inclusion = *options.inclusion;
  FlatInclusion flat{};
  for (int axis = 0; axis < 3; ++axis) {
    flat.centre[axis] = frame.place(inclusion.centre, axis);
    flat.inverse_radius[axis] = static_cast<float>(1.0 / (inclusion.radii[frame.of(axis)].value * frame.samples_per_metre));
  }
  flat.excess = static_cast<float>(options.velocity.value / inclusion.velocity.value - 1.0);
  return flat;
}

}  // namespace echoform::projection
