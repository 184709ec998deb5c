#include "rays/drawn_surface.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "rays/ray_field.hpp"

namespace echoform {
namespace {

/// The field of a curve, whose sources and points are given in the curve's axes.
class DrawnField final : public RayField {
 public:
  DrawnField(const RayPath& path, std::vector<Point> sources, const SurfaceAxes& axes, std::shared_ptr<const Surface> curve,
             SimdLevel level)
      : path_(path), sources_(std::move(sources)), axes_(axes) {
    RayPath own = path;
    own.interfaces.front().surface = std::move(curve);
    own.interfaces.front().spatial = nullptr;
    in_axes_ = make_ray_field(own, turned(sources_), level);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "drawn"; }
  [[nodiscard]] Portion portion() const noexcept override { return in_axes_->portion(); }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    in_axes_->times(first, last, turned(points), seconds);
  }

  [[nodiscard]] std::optional<rays::FieldForm> form() const override {
    auto form = in_axes_->form();
    if (!form) return std::nullopt;
    if (form->layers) form->layers = rays::turned_form(std::move(*form->layers), axes_.origin, axes_.x, axes_.y, axes_.z);
    if (form->curve) form->curve->axes = axes_;
    return form;
  }

 private:
  [[nodiscard]] std::vector<Point> turned(std::span<const Point> points) const {
    std::vector<Point> found;
    found.reserve(points.size());
    for (const Point& point : points) found.push_back(point_of(axes_.into(vector_of(point))));
    return found;
  }

  RayPath path_;
  std::vector<Point> sources_;
  SurfaceAxes axes_;
  std::unique_ptr<const RayField> in_axes_;
};

}  // namespace

SurfaceAxes SurfaceAxes::along(Vector3 origin, Vector3 axis) {
  SurfaceAxes axes;
  axes.origin = origin;
  axes.y = unit_of(axis);
  axes.z = unit_of(Vector3{0.0, 0.0, 1.0} - axes.y.z * axes.y);
  axes.x = cross(axes.y, axes.z);
  return axes;
}

Vector3 axis_direction(double turn, double dip) {
  return {std::cos(dip) * std::sin(turn), std::cos(dip) * std::cos(turn), std::sin(dip)};
}

DrawnSurface::DrawnSurface(std::string name, Surface curve, const SurfaceAxes& axes)
    : SpatialSurface(std::move(name)), curve_(std::make_shared<const Surface>(std::move(curve))), axes_(axes) {}

double DrawnSurface::signed_distance(Vector3 from) const {
  const Vector3 place = axes_.into(from);
  return curve_->signed_distance({place.x, place.z});
}

SpatialFoot DrawnSurface::foot(Vector3 from) const {
  const Vector3 place = axes_.into(from);
  const SurfaceFoot found = curve_->foot({place.x, place.z});
  const Vector2 along = curve_->point(found.place).first;
  return {axes_.origin + found.at.x * axes_.x + place.y * axes_.y + found.at.z * axes_.z,
          unit_of(along.x * axes_.z - along.z * axes_.x)};
}

std::unique_ptr<RayField> DrawnSurface::field(const RayPath& path, std::vector<Point> sources, SimdLevel level) const {
  return std::make_unique<DrawnField>(path, std::move(sources), axes_, curve_, level);
}

}  // namespace echoform
