// Paths over parallel planes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "rays/ray_fields.hpp"

namespace echoform::rays {
namespace {

/// Sines of angles below which planes count as parallel: over a metre such planes diverge by a picometre.
constexpr double parallel = 1e-12;

/// A plane in the frame of the first one: `along` is measured along the first plane's tangent, `depth` towards its lower side.
struct Plane {
  double depth = 0.0;
  double low = 0.0;  ///< lower end, along
  double high = 0.0;
  double below = 1.0;  ///< -1 where the surface runs against the first one: its lower side points up
};

struct Frame {
  Vector2 tangent;
  Vector2 normal;

  [[nodiscard]] double along(Vector2 place) const { return dot(place, tangent); }
  [[nodiscard]] double depth(Vector2 place) const { return dot(place, normal); }
};

Vector2 in_plane(const Point& point) {
  return {point.x.value, point.z.value};
}

class LayerField final : public RayField {
 public:
  LayerField(const RayPath& path, const std::vector<Point>& sources, Frame frame, std::vector<Plane> planes,
             const FieldKernels& kernels)
      : path_(path), sources_(sources), frame_(frame), planes_(std::move(planes)), kernels_(kernels) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "layers"; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }
  [[nodiscard]] Portion portion() const noexcept override { return {32, 2048}; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    const std::size_t count = points.size();
    std::vector<double> along(count);
    std::vector<double> across(count);
    std::vector<double> distance(count);
    const double leaves = leaves_on(path_.interfaces.size() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      const Vector2 place = in_plane(points[k]);
      along[k] = frame_.along(place);
      across[k] = points[k].y.value;
      distance[k] = leaves * (frame_.depth(place) - planes_.back().depth);
    }
    for (std::size_t source = first; source < last; ++source) {
      const auto row = seconds.subspan((source - first) * count, count);
      const Vector2 place = in_plane(sources_[source]);
      const double height = arrives_from(0) * (frame_.depth(place) - planes_.front().depth);
      if (!(height >= 0.0)) {
        std::fill(row.begin(), row.end(), std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      LayerRun run;
      const int slow = stack_of(height, run.stack);
      run.source_along = frame_.along(place);
      run.source_y = sources_[source].y.value;
      run.along = along.data();
      run.y = across.data();
      run.last = distance.data();
      run.seconds = row.data();
      run.count = count;
      kernels_.layers[slow](run);
      check_ends(source, run.source_along, points, along, row);
    }
  }

  [[nodiscard]] std::optional<FieldForm> form() const override {
    LayerForm form;
    form.tangent = {frame_.tangent.x, 0.0, frame_.tangent.z};
    form.across = {0.0, 1.0, 0.0};
    form.normal = {frame_.normal.x, 0.0, frame_.normal.z};
    form.depth = planes_.back().depth;
    form.leaves = leaves_on(path_.interfaces.size() - 1);
    std::tie(form.low, form.high) = ends();
    for (const Point& point : sources_) {
      const Vector2 place = in_plane(point);
      const double height = arrives_from(0) * (frame_.depth(place) - planes_.front().depth);
      LayerSource source;
      source.along = frame_.along(place);
      source.across = point.y.value;
      source.reached = height >= 0.0 ? 1.0 : 0.0;
      form.slow = stack_of(std::max(height, 0.0), source.stack);
      form.sources.push_back(source);
    }
    return FieldForm{std::move(form), std::nullopt};
  }

  /// Side of interface `k`, 1 below and -1 above in the frame, from which the ray comes.
  [[nodiscard]] double arrives_from(std::size_t k) const {
    return (path_.interfaces[k].from_below ? 1.0 : -1.0) * planes_[k].below;
  }
  [[nodiscard]] double leaves_on(std::size_t k) const {
    return path_.interfaces[k].reflects ? arrives_from(k) : -arrives_from(k);
  }

 private:
  /// Fills the stack for a source `height` from the first plane; returns the number of slow layers.
  int stack_of(double height, LayerStack& stack) const {
    double fastest = 0.0;
    for (const MetresPerSecond velocity : path_.velocities) fastest = std::max(fastest, velocity.value);
    stack.slowness = 1.0 / fastest;
    int slow = 0;
    for (std::size_t leg = 0; leg < path_.velocities.size(); ++leg) {
      const bool varies = leg == planes_.size();
      const double fixed = leg == 0 ? height : varies ? 0.0 : std::abs(planes_[leg].depth - planes_[leg - 1].depth);
      const double ratio = path_.velocities[leg].value / fastest;
      if (ratio == 1.0) {
        stack.fixed += fixed;
        stack.varies += varies ? 1.0 : 0.0;
        continue;
      }
      stack.ratio[slow] = ratio;
      stack.bend[slow] = (1.0 - ratio) * (1.0 + ratio);
      stack.critical[slow] = ratio / std::sqrt(stack.bend[slow]);
      stack.slow_fixed[slow] = fixed;
      stack.slow_varies[slow] = varies ? 1.0 : 0.0;
      ++slow;
    }
    return slow;
  }

  /// Lower and upper end, along, of the interval that all planes share.
  [[nodiscard]] std::pair<double, double> ends() const {
    double low = -std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Plane& plane : planes_) {
      low = std::max(low, plane.low);
      high = std::min(high, plane.high);
    }
    return {low, high};
  }

  /// All places on a plane lie between the feet of source and point. Where a foot lies beyond a plane's end, the solver decides
  /// whether its ray is one.
  void check_ends(std::size_t source, double source_along, std::span<const Point> points, std::span<const double> along,
                  std::span<double> seconds) const {
    const auto [low, high] = ends();
    const auto [least, most] = std::minmax_element(along.begin(), along.end());
    if (along.empty() || (std::min(*least, source_along) >= low && std::max(*most, source_along) <= high)) return;
    RaySolver solver(path_, sources_[source]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (std::min(along[k], source_along) >= low && std::max(along[k], source_along) <= high) continue;
      seconds[k] = solver.time_to(points[k]);
    }
  }

  RayPath path_;
  std::vector<Point> sources_;
  Frame frame_;
  std::vector<Plane> planes_;
  const FieldKernels& kernels_;
};

}  // namespace

LayerForm turned_form(LayerForm form, Vector3 origin, Vector3 x, Vector3 y, Vector3 z) {
  for (Vector3* const way : {&form.tangent, &form.across, &form.normal}) *way = way->x * x + way->y * y + way->z * z;
  const double along = dot(origin, form.tangent);
  const double across = dot(origin, form.across);
  form.low += along;
  form.high += along;
  form.depth += dot(origin, form.normal);
  for (LayerSource& source : form.sources) {
    source.along += along;
    source.across += across;
  }
  return form;
}

std::unique_ptr<RayField> make_layer_field(const RayPath& path, const std::vector<Point>& sources, const FieldKernels& kernels) {
  if (path.interfaces.empty()) return nullptr;
  Frame frame;
  std::vector<Plane> planes;
  for (const RayInterface& interface : path.interfaces) {
    if (!interface.surface->plane()) return nullptr;
    const Segment& line = interface.surface->segments().front();
    const Vector2 tangent = (1.0 / length(line.b)) * line.b;
    if (planes.empty()) frame = {tangent, {-tangent.z, tangent.x}};
    if (std::abs(cross(frame.tangent, tangent)) > parallel) return nullptr;
    const double from = frame.along(line.a);
    const double to = frame.along(line.a + line.b);
    planes.push_back(
        {frame.depth(line.a), std::min(from, to), std::max(from, to), dot(frame.tangent, tangent) > 0.0 ? 1.0 : -1.0});
  }
  auto field = std::make_unique<LayerField>(path, sources, frame, planes, kernels);
  for (std::size_t k = 0; k + 1 < planes.size(); ++k) {
    // From plane k to the next one, the ray leaves plane k towards plane k + 1 and arrives there from the side of plane k.
    const double down = planes[k + 1].depth > planes[k].depth ? 1.0 : -1.0;
    if (planes[k + 1].depth == planes[k].depth || field->leaves_on(k) != down || field->arrives_from(k + 1) != -down)
      return nullptr;
  }
  return field;
}

}  // namespace echoform::rays
