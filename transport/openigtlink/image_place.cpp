#include "transport/openigtlink/image_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/directions.hpp"
#include "pipeline/scan.hpp"

namespace echoform::openigtlink {
namespace {

constexpr double millimetres = 1e3;  // of a metre

using Column = std::array<float, 3>;

Column ras(double x, double y, double z, double factor) {
  // 0 is sent as 0, not as -0.
  const auto number = [factor](double value) { return static_cast<float>(factor * value + 0.0); };
  return {number(-x), number(y), number(-z)};
}
Column ras(const Direction& direction) {
  return ras(direction.x, direction.y, direction.z, 1.0);
}
Column ras(const Point& point) {
  return ras(point.x.value, point.y.value, point.z.value, millimetres);
}

double middle(const Axis& axis) {
  return 0.5 * (axis.first.value + axis.last.value);
}

/// From a pose's coordinates.
Direction turned(const Pose& pose, const Direction& direction) {
  const Direction z = cross(pose.x, pose.y);
  return {direction.x * pose.x.x + direction.y * pose.y.x + direction.z * z.x,
          direction.x * pose.x.y + direction.y * pose.y.y + direction.z * z.y,
          direction.x * pose.x.z + direction.y * pose.y.z + direction.z * z.z};
}

}  // namespace

std::optional<ImageHead> head_of(const Grid& grid) {
  const bool volume = grid.y.count > 1;
  double narrowest = std::numeric_limits<double>::infinity();
  for (const Axis* axis : {&grid.x, &grid.y, &grid.z}) {
    if (axis->count > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    if (axis->count > 1) narrowest = std::min(narrowest, axis->spacing().value);
  }
  if (!std::isfinite(narrowest)) narrowest = 1e-3;
  const auto width = [&](const Axis& axis) { return axis.count > 1 ? axis.spacing().value : narrowest; };
  const auto count = [](const Axis& axis) { return static_cast<std::uint16_t>(axis.count); };
  const Column along_x = ras(width(grid.x), 0.0, 0.0, millimetres);
  const Column along_z = ras(0.0, 0.0, width(grid.z), millimetres);
  const Column centre = ras(middle(grid.x), middle(grid.y), middle(grid.z), millimetres);
  ImageHead head;
  if (volume) {
    head.size = {count(grid.x), count(grid.y), count(grid.z)};
    head.matrix = {along_x, ras(0.0, width(grid.y), 0.0, millimetres), along_z, centre};
  } else {
    head.size = {count(grid.x), count(grid.z), 1};
    head.matrix = {along_x, along_z, ras(0.0, -width(grid.y), 0.0, millimetres), centre};
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
  const Matrix matrix{ras(turned(pose, probe_->x)), ras(turned(pose, probe_->y)), ras(turned(pose, probe_->z)), ras(origin)};
  for (const Column& column : matrix) {
    if (!std::all_of(column.begin(), column.end(), [](float value) { return std::isfinite(value); })) return std::nullopt;
  }
  return matrix;
}

}  // namespace echoform::openigtlink
