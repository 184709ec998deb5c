#include "formats/shown_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace echoform::formats {

namespace {

std::string label(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

}  // namespace

ShownUnit shown_unit(const Meaning& meaning) {
  if (meaning.unit == "m") return {"mm", 1e3, 1e-3};
  return {meaning.unit};
}

std::string label_of(const Meaning& meaning) {
  return label(meaning.name, shown_unit(meaning).name);
}

Metres pixel_extent(const Axis& axis, const Grid& grid) {
  if (axis.count > 1) return axis.spacing();
  Metres least(0.0);
  for (const Axis* other : {&grid.x, &grid.y, &grid.z}) {
    if (other->count > 1 && (least.value == 0.0 || other->spacing() < least)) least = other->spacing();
  }
  return least.value > 0.0 ? least : Metres(1e-3);
}

std::array<ShownAxis, 3> shown_axes(const ImageFile& image) {
  const auto shown = [&](const Axis& axis, const Meaning& meaning) {
    const ShownUnit unit = shown_unit(meaning);
    return ShownAxis{meaning.name, unit.name, axis.first.value * unit.to_shown,
                     pixel_extent(axis, image.grid).value * unit.to_shown, axis.count};
  };
  return {shown(image.grid.x, image.x), shown(image.grid.y, image.y), shown(image.grid.z, image.z)};
}

std::string axes_text(const std::array<ShownAxis, 3>& axes) {
  const auto& [x, y, z] = axes;
  return fmt::format("{}, {}, {}", label(x.name, x.unit), label(y.name, y.unit), label(z.name, z.unit));
}

}  // namespace echoform::formats
