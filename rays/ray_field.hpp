// The rays of many sources along one path to many points, as tables of delays want them: what the sources and the points have in
// common is computed once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"
#include "cpu/cpu_backend.hpp"
#include "rays/field_forms.hpp"
#include "rays/ray_path.hpp"

namespace echoform {

class RayField {
 public:
  virtual ~RayField() = default;

  /// How rays are found, for reports: "layers", "curve" or "general"; "drawn", "sphere" ... through surfaces in three
  /// dimensions, "searched" where rays meet several of which one is such.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Sources and points of one call at which times() is quickest.
  struct Portion {
    std::size_t sources;
    std::size_t points;
  };
  [[nodiscard]] virtual Portion portion() const noexcept = 0;

  /// Minimum travel times in seconds from the sources first .. last - 1 to `points`, into `seconds` [source - first, point];
  /// NaN where there is no ray. As RaySolver's, to 1e-12 s. Thread-safe.
  virtual void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const = 0;

  /// The same rays with how they go, into `traces` [source - first, point]; dearer than times(). Points lie at their sources' y.
  virtual void trace(std::size_t first, std::size_t last, std::span<const Point> points, std::span<RayTrace> traces) const;

  /// Where the same rays meet their first interface, into `places` [source - first, point]; NaN where there is no ray. Whether
  /// the field tells: if not, nothing is written.
  virtual bool first_places(std::size_t /*first*/, std::size_t /*last*/, std::span<const Point> /*points*/,
                            std::span<Vector3> /*places*/) const {
    return false;
  }

  [[nodiscard]] virtual const RayPath& path() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Point>& sources() const noexcept = 0;

  /// The field in plain numbers, where it has a form.
  [[nodiscard]] virtual std::optional<rays::FieldForm> form() const { return std::nullopt; }
};

/// The quickest field that there is for the path; RaySolver's way for all others. `level` chooses the instruction set, no higher
/// than simd_level(). Throws InputError as RaySolver.
[[nodiscard]] std::unique_ptr<RayField> make_ray_field(const RayPath& path, std::vector<Point> sources,
                                                       SimdLevel level = simd_level());

}  // namespace echoform
