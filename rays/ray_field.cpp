#include "rays/ray_field.hpp"

#include <algorithm>
#include <utility>

#include "rays/ray_fields.hpp"
#include "rays/searched_field.hpp"

namespace echoform {
namespace {

const rays::FieldKernels& kernels_of(SimdLevel level) {
  switch (std::min(level, simd_level())) {
    case SimdLevel::avx512:
      return rays::avx512_field_kernels;
    case SimdLevel::avx2:
      return rays::avx2_field_kernels;
    case SimdLevel::portable:
      break;
  }
  return rays::portable_field_kernels;
}

class GeneralField final : public RayField {
 public:
  GeneralField(const RayPath& path, const std::vector<Point>& sources) : path_(path), sources_(sources) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "general"; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }
  /// A solver reaches its nodes once for each call.
  [[nodiscard]] Portion portion() const noexcept override { return {1, std::size_t{1} << 16}; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    for (std::size_t source = first; source < last; ++source) {
      RaySolver(path_, sources_[source]).times_to(points, seconds.subspan((source - first) * points.size(), points.size()));
    }
  }

 private:
  RayPath path_;
  std::vector<Point> sources_;
};

}  // namespace

void RayField::trace(std::size_t first, std::size_t last, std::span<const Point> points, std::span<RayTrace> traces) const {
  for (std::size_t source = first; source < last; ++source) {
    RaySolver solver(path(), sources()[source]);
    for (std::size_t k = 0; k < points.size(); ++k) traces[(source - first) * points.size() + k] = solver.trace_to(points[k]);
  }
}

namespace rays {

std::unique_ptr<RayField> make_general_field(const RayPath& path, const std::vector<Point>& sources) {
  return std::make_unique<GeneralField>(path, sources);
}

}  // namespace rays

std::unique_ptr<RayField> make_ray_field(const RayPath& path, std::vector<Point> sources, SimdLevel level) {
  check_path(path);
  if (const SpatialSurface* spatial = path.spatial()) return spatial->field(path, std::move(sources), level);
  if (path.in_space()) return rays::make_searched_field(path, std::move(sources));
  const rays::FieldKernels& kernels = kernels_of(level);
  if (auto field = rays::make_layer_field(path, sources, kernels)) return field;
  if (auto field = rays::make_curve_field(path, sources, kernels)) return field;
  return rays::make_general_field(path, sources);
}

}  // namespace echoform
