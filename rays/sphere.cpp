// A sphere: a ball seen from outside, or a hollow seen from inside.
//
// The sphere is symmetric about the line from a source to the centre, so the ray lies in the plane of source, point and centre.
// There the ray is that of a circle, and all sources have fields over the same arc.
#include <cmath>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>

#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

constexpr double pi = std::numbers::pi;

/// The source lies above the centre, at x = 0, and points lie at x >= 0. So do rays. There are none beyond the arc's ends, which
/// are far enough from where rays may be.
Surface arc_of(const std::string& name, double radius, bool inside) {
  constexpr double beyond = 0.2;
  // A ball shows the source less than the quarter from its top on; in a hollow, rays may go anywhere.
  if (inside) return Surface(name, {arc_segment({}, radius, 0.5 * pi + beyond, -(pi + 2.0 * beyond))});
  return Surface(name, {arc_segment({}, radius, -0.5 * pi - beyond, 0.5 * pi + 2.0 * beyond)});
}

class SphereField final : public RayField {
 public:
  SphereField(const RayPath& path, std::vector<Point> sources, Vector3 centre, const std::shared_ptr<const Surface>& arc,
              SimdLevel level)
      : path_(path), sources_(std::move(sources)), centre_(centre) {
    RayPath own = path;
    own.interfaces.front().surface = arc;
    own.interfaces.front().spatial = nullptr;
    for (const Point& source : sources_) {
      const Vector3 out = vector_of(source) - centre;
      const double far = length(out);
      up_.push_back(far > 0.0 ? (1.0 / far) * out : Vector3{0.0, 0.0, -1.0});
      fields_.push_back(make_ray_field(own, {Point{Metres(0.0), Metres(0.0), Metres(-far)}}, level));
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "sphere"; }
  [[nodiscard]] Portion portion() const noexcept override { return {8, 2048}; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    std::vector<Point> in_plane(points.size());
    for (std::size_t source = first; source < last; ++source) {
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Vector3 out = vector_of(points[k]) - centre_;
        const double up = dot(out, up_[source]);
        in_plane[k] = {Metres(length(out - up * up_[source])), Metres(0.0), Metres(-up)};
      }
      fields_[source]->times(0, 1, in_plane, seconds.subspan((source - first) * points.size(), points.size()));
    }
  }

 private:
  RayPath path_;
  std::vector<Point> sources_;
  Vector3 centre_;
  std::vector<Vector3> up_;  // [source], direction from the centre to it
  std::vector<std::unique_ptr<const RayField>> fields_;
};

class Sphere final : public SpatialSurface {
 public:
  Sphere(const std::string& name, Vector3 centre, double radius, bool inside)
      : SpatialSurface(name),
        centre_(centre),
        radius_(radius),
        inside_(inside),
        arc_(std::make_shared<const Surface>(arc_of(name, radius, inside))) {}

  [[nodiscard]] double signed_distance(Vector3 from) const override {
    const double out = length(from - centre_) - radius_;
    return inside_ ? out : -out;
  }

  [[nodiscard]] SpatialFoot foot(Vector3 from) const override {
    const Vector3 out = from - centre_;
    const double far = length(out);
    const Vector3 up = far > 0.0 ? (1.0 / far) * out : Vector3{0.0, 0.0, -1.0};
    return {centre_ + radius_ * up, (inside_ ? 1.0 : -1.0) * up};
  }

  [[nodiscard]] std::unique_ptr<RayField> field(const RayPath& path, std::vector<Point> sources, SimdLevel level) const override {
    return std::make_unique<SphereField>(path, std::move(sources), centre_, arc_, level);
  }

 private:
  Vector3 centre_;
  double radius_;
  bool inside_;
  std::shared_ptr<const Surface> arc_;
};

}  // namespace

SurfaceKind sphere_kind() {
  SurfaceKind kind;
  kind.name = "sphere";
  kind.meaning = "A sphere.";
  kind.parameters = {
      {"radius", "m", "Its radius.", 1e-4, 100.0},
      {"x", "m", "Where its crown lies along x: the place at the least depth, or in a hollow at the greatest.", -10.0, 10.0, 0.0},
      {"y", "m", "Where its crown lies along y.", -10.0, 10.0, 0.0},
      {"z", "m", "Depth of its crown.", -10.0, 10.0, 0.0},
      {"side", "", "\"outside\": a ball. \"inside\": a hollow with the probe in it.", 0.0, 0.0, {}, true}};
  kind.make_spatial = [](const SurfaceDescription& d) -> std::shared_ptr<const SpatialSurface> {
    const bool inside = side_of(d);
    const double radius = d.numbers.at("radius");
    const Vector3 crown{d.numbers.at("x"), d.numbers.at("y"), d.numbers.at("z")};
    return std::make_shared<const Sphere>(d.where, crown + Vector3{0.0, 0.0, inside ? -radius : radius}, radius, inside);
  };
  return kind;
}

}  // namespace echoform
