#include "transport/openigtlink/image_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/directions.hpp"
#include "pipeline/scan.hpp"

namespace echoform::openigtlink {
namespace {

constexpr double millimetres = 1e3;  // in a metre

using Column = std::array<float, 3>;

Column column(const AnatomicalVector& vector, double factor) {
  const auto number = [factor](double value) { return static_cast<float>(factor * value); };
  return {number(vector[0]), number(vector[1]), number(vector[2])};
}
Column ras_column(const Direction& direction) {
  return column(ras(direction.x, direction.y, direction.z), 1.0);
}
Column ras_column(const Point& point) {
  return column(ras(point.x.value, point.y.value, point.z.value), millimetres);
}
Column ras_column(const std::array<double, 3>& metres, double factor = 1.0) {
  return column(ras(factor * metres[0], factor * metres[1], factor * metres[2]), millimetres);
}

/// Rotates a direction from the coordinates of a pose.
Direction turned(const Pose& pose, const Direction& direction) {
  const Direction z = cross(pose.x, pose.y);
  return {direction.x * pose.x.x + direction.y * pose.y.x + direction.z * z.x,
          direction.x * pose.x.y + direction.y * pose.y.y + direction.z * z.y,
          direction.x * pose.x.z + direction.y * pose.y.z + direction.z * z.z};
}

}  // namespace

std::optional<ImageHead> head_of(const Grid& grid, const PixelPlaces& places) {
  for (const Axis* axis : {&grid.x, &grid.y, &grid.z}) {
    if (axis->count > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
  }
  const auto count = [](const Axis& axis) { return static_cast<std::uint16_t>(axis.count); };
  std::array<double, 3> centre = places.first;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t pixels = (k == 0 ? grid.x : k == 1 ? grid.y : grid.z).count;
    for (std::size_t part = 0; part < 3; ++part) centre[part] += 0.5 * static_cast<double>(pixels - 1) * places.steps[k][part];
  }
  const auto& [along_x, along_y, along_z] = places.steps;
  ImageHead head;
  if (grid.y.count > 1) {
    head.size = {count(grid.x), count(grid.y), count(grid.z)};
    head.matrix = {ras_column(along_x), ras_column(along_y), ras_column(along_z), ras_column(centre)};
  } else {
    head.size = {count(grid.x), count(grid.z), 1};
    head.matrix = {ras_column(along_x), ras_column(along_z), ras_column(along_y, -1.0), ras_column(centre)};
  }
  return head;
}

ProbePlace::ProbePlace(const ImagingSetup& setup) {
  if (setup.acquisition.probe.elements.empty() || !setup.acquisition.positions.empty()) return;
  probe_ = frame_of(setup.acquisition.probe);
  if (setup.scan != nullptr) pose_ = setup.scan->pose;
}

std::optional<Matrix> ProbePlace::at(std::optional<EncoderCount> count) const {
  if (!probe_ || (pose_ && !count)) return std::nullopt;
  const Pose pose = pose_ ? pose_(*count) : Pose{};
  const Direction from = turned(pose, {probe_->origin.x.value, probe_->origin.y.value, probe_->origin.z.value});
  const Point origin{pose.origin.x + Metres(from.x), pose.origin.y + Metres(from.y), pose.origin.z + Metres(from.z)};
  const Matrix matrix{ras_column(turned(pose, probe_->x)), ras_column(turned(pose, probe_->y)),
                      ras_column(turned(pose, probe_->z)), ras_column(origin)};
  for (const Column& one : matrix) {
    if (!std::all_of(one.begin(), one.end(), [](float value) { return std::isfinite(value); })) return std::nullopt;
  }
  return matrix;
}

}  // namespace echoform::openigtlink
