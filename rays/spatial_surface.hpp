// Surfaces of the part in three dimensions, where no curve drawn out along y tells them: tilted across, with an axis of their
// own, round in both directions. The part lies where the distance from a front surface is positive, and where that from a
// backwall is negative.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/vector3.hpp"
#include "cpu/cpu_backend.hpp"
#include "rays/curve.hpp"

namespace echoform {

class RayField;
class TriangleMesh;
struct RayPath;

/// The place of a surface that is nearest to some other place.
struct SpatialFoot {
  Vector3 at;
  Vector3 normal;  ///< of length 1, to where the distance is positive
};

class SpatialSurface {
 public:
  /// `name` is for messages ("part.toml: [surface]").
  explicit SpatialSurface(std::string name) : name_(std::move(name)) {}
  virtual ~SpatialSurface() = default;
  SpatialSurface(const SpatialSurface&) = delete;
  SpatialSurface& operator=(const SpatialSurface&) = delete;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// Distance of `from` from the nearest place of the surface, m; positive in the part. Exact to rounding.
  [[nodiscard]] virtual double signed_distance(Vector3 from) const = 0;

  /// The nearest place of the surface; one of them if there are several. Unless a surface overrides this function, the place
  /// is found from how the distance changes, to 1e-9 m and 1e-8 radians.
  [[nodiscard]] virtual SpatialFoot foot(Vector3 from) const;
  /// Whether a straight line can meet the surface more than twice; true if that is unknown.
  [[nodiscard]] virtual bool shadows() const { return true; }
  /// Its triangles; null where it is not made of such.
  [[nodiscard]] virtual const TriangleMesh* mesh() const { return nullptr; }

  /// The rays of `sources` over `path`, whose one interface is this surface. As make_ray_field() for curves.
  [[nodiscard]] virtual std::unique_ptr<RayField> field(const RayPath& path, std::vector<Point> sources,
                                                        SimdLevel level) const = 0;

 private:
  std::string name_;
};

/// How far a way from `from` along the unit vector `direction` goes until it enters the part, m; nothing where it begins in the
/// part or does not enter it within `farthest`. To 1e-9 m, but for bumps that the way grazes by less than that.
[[nodiscard]] std::optional<double> way_into(const SpatialSurface& surface, Vector3 from, Vector3 direction, double farthest);

/// Whether some place of the straight way between two points outside lies in the part, by more than 1 nm.
[[nodiscard]] bool meets(const SpatialSurface& surface, Vector3 from, Vector3 to);

/// The surface as seen from above in the plane y: for `count` (at least 2) places along x, evenly spaced from `first` to
/// `last`, the minimum depth at which the part begins below `top` and above `bottom`. If there are several stretches, the
/// longest is returned; empty if there is none.
[[nodiscard]] std::vector<Vector2> section_in_plane(const SpatialSurface& surface, double y, double first, double last,
                                                    double top, double bottom, std::size_t count);

}  // namespace echoform
