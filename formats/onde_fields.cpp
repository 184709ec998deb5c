#include "formats/onde_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "formats/hdf5_names.hpp"

namespace echoform::formats {

double OndeGroup::number(const char* name, double least, double greatest) const {
  const Hdf5Item item = require(name);
  if (item.points() != 1) throw InputError(item.where(), fmt::format("shape {}", shape_text(item.shape())), "one value");
  const double value = item.numbers().front();
  if (!(value >= least && value <= greatest))
    throw InputError(item.where(), fmt::format("{:g}", value), fmt::format("a number from {:g} to {:g}", least, greatest));
  return value;
}

std::optional<OndeGroup> OndeGroup::follow_if_there(const char* name) const {
  const auto item = find(name);
  if (!item) return std::nullopt;
  if (item->points() != 1) throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), "one reference");
  Hdf5Handle group = open_reference(*item, item->references().front());
  std::string where = where_.substr(0, where_.find(": /") + 2) + hdf5_name(group);
  return OndeGroup(std::move(group), std::move(where));
}

OndeGroup OndeGroup::follow(const char* name) const {
  auto group = follow_if_there(name);
  if (!group) throw InputError(where_, fmt::format("no {}", name), fmt::format("the mandatory {}", name));
  return std::move(*group);
}

bool OndeGroup::is_a(const char* type) const {
  const auto item = find(onde_type);
  if (!item || item->type_class() != Hdf5Class::text) return false;
  const std::vector<std::string> types = item->texts();
  return std::ranges::find(types, type) != types.end();
}

std::vector<std::string> find_onde_groups(const Hdf5Handle& file, const std::string& file_name, const char* type) {
  std::vector<std::string> groups = names_of_groups(file);
  std::erase_if(groups, [&](const std::string& name) {
    Hdf5Handle group(H5Gopen2(file.id(), name.c_str(), H5P_DEFAULT));
    if (!group) return true;
    const std::string where = fmt::format("{}: {}", file_name, hdf5_name(group));
    return !OndeGroup(std::move(group), where).is_a(type);
  });
  return groups;
}

OndeFrame onde_frame(std::span<const double> numbers, const std::string& where) {
  const double size =
      std::sqrt(numbers[3] * numbers[3] + numbers[4] * numbers[4] + numbers[5] * numbers[5] + numbers[6] * numbers[6]);
  if (numbers.size() != 7 || !(size > 1e-6) || !std::isfinite(size))
    throw InputError(where, fmt::format("a quaternion of length {:g}", size), "one of length 1");
  const double w = numbers[3] / size;
  const double a = numbers[4] / size;
  const double b = numbers[5] / size;
  const double c = numbers[6] / size;
  return {{numbers[0], numbers[1], numbers[2]},
          {1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b + c * w), 2.0 * (a * c - b * w)},
          {2.0 * (a * b - c * w), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c + a * w)},
          {2.0 * (a * c + b * w), 2.0 * (b * c - a * w), 1.0 - 2.0 * (a * a + b * b)}};
}

std::array<double, 7> onde_numbers(const OndeFrame& frame) {
  const Vector3& x = frame.x;
  const Vector3& y = frame.y;
  const Vector3& z = frame.z;
  // Uses the greatest of the four squares, so that nothing is divided by a number close to 0.
  const std::array<double, 4> squares{1.0 + x.x + y.y + z.z, 1.0 + x.x - y.y - z.z, 1.0 - x.x + y.y - z.z, 1.0 - x.x - y.y + z.z};
  const auto greatest = static_cast<std::size_t>(std::ranges::max_element(squares) - squares.begin());
  const double root = std::sqrt(squares[greatest]);
  std::array<double, 4> q{};
  switch (greatest) {
    case 0:
      q = {root * root, y.z - z.y, z.x - x.z, x.y - y.x};
      break;
    case 1:
      q = {y.z - z.y, root * root, x.y + y.x, z.x + x.z};
      break;
    case 2:
      q = {z.x - x.z, x.y + y.x, root * root, y.z + z.y};
      break;
    default:
      q = {x.y - y.x, z.x + x.z, y.z + z.y, root * root};
  }
  for (double& part : q) part /= 2.0 * root;
  return {frame.origin.x, frame.origin.y, frame.origin.z, q[0], q[1], q[2], q[3]};
}

OndeFrame within(const OndeFrame& outer, const OndeFrame& inner) {
  return {outer.origin + outer.turned(inner.origin), outer.turned(inner.x), outer.turned(inner.y), outer.turned(inner.z)};
}

Pose pose_of(const OndeFrame& frame) {
  return {point_of(frame.origin), direction_of(frame.x), direction_of(frame.y)};
}

OndeFrame frame_of(const Pose& pose) {
  const Vector3 x = vector_of(pose.x);
  const Vector3 y = vector_of(pose.y);
  return {vector_of(pose.origin), x, y, cross(x, y)};
}

}  // namespace echoform::formats
