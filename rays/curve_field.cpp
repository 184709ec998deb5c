// Paths over one surface of any shape.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rays/curve_search.hpp"
#include "rays/ray_fields.hpp"

namespace echoform::rays {
namespace {

class CurveField final : public RayField {
 public:
  CurveField(const RayPath& path, const std::vector<Point>& sources, const FieldKernels& kernels)
      : rays_(path, sources, kernels) {}

  [[nodiscard]] std::optional<FieldForm> form() const override {
    if (rays_.touching) return std::nullopt;
    CurveForm form;
    // One of the two nodes of a smooth joint is enough. Their places are equal up to rounding.
    constexpr double same = 1e-12;  // m
    std::vector<std::size_t> kept;
    const std::size_t count = rays_.nodes.places.size();
    const auto joined = [&](std::size_t n) { return (rays_.nodes.joined[n / 64] >> (n % 64) & 1U) != 0; };
    for (std::size_t n = 0; n < count; ++n) {
      if (n + 1 < count && !joined(n) && length(rays_.nodes.places[n] - rays_.nodes.places[n + 1]) < same &&
          rays_.nodes.tangents[n] == rays_.nodes.tangents[n + 1])
        continue;
      kept.push_back(n);
      form.nodes.push_back({rays_.nodes.places[n], rays_.nodes.tangent_x[n], rays_.nodes.tangent_z[n], joined(n) ? 1U : 0U});
      form.pieces.push_back(rays_.nodes.pieces[n]);
      form.reaches.push_back(joined(n) ? rays_.surface.segment_on_piece(n) : PieceReach{});
    }
    for (std::size_t source = 0; source < rays_.sources.size(); ++source) {
      for (const std::size_t n : kept) form.slopes.push_back(rays_.slopes[source * 64 * rays_.nodes.words + n]);
      form.sources.push_back(place_in_plane(rays_.sources[source]));
      form.across.push_back(rays_.sources[source].y.value);
    }
    form.point_slowness = rays_.after_slope;
    form.before = rays_.before;
    form.after = rays_.after;
    form.sides = rays_.sides();
    if (rays_.surface.shadows()) form.shades = shades_of(form, kept);
    return FieldForm{std::nullopt, std::move(form)};
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "curve"; }
  [[nodiscard]] const RayPath& path() const noexcept override { return rays_.path; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return rays_.sources; }
  [[nodiscard]] Portion portion() const noexcept override { return {rays_.sources.size(), 256}; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    search(first, last, points, seconds, {});
  }

  void trace(std::size_t first, std::size_t last, std::span<const Point> points, std::span<RayTrace> traces) const override {
    std::vector<double> seconds(traces.size());
    search(first, last, points, seconds, traces);
    for (std::size_t ray = 0; ray < traces.size(); ++ray) traces[ray].seconds = seconds[ray];
  }

 private:
  /// `kept` lists the nodes of the surface that the form has.
  [[nodiscard]] CurveShades shades_of(const CurveForm& form, std::span<const std::size_t> kept) const {
    constexpr std::uint32_t group_size = 16;
    CurveShades shades;
    shades.directions = rays_.surface.directions();
    shades.longest_chord = rays_.surface.longest_chord();
    shades.pieces.resize(kept.size());
    for (std::size_t n = 0; n < kept.size(); ++n) {
      if (form.nodes[n].joined == 0) continue;
      PieceShade& shade = shades.pieces[n];
      shade.sag = rays_.surface.sag(kept[n]);
      shade.goes_on = (form.reaches[n].low < 0.0 ? 1U : 0U) | (form.reaches[n].high > 1.0 ? 2U : 0U);
      const auto node = static_cast<std::uint32_t>(n);
      if (shades.groups.empty() || node - shades.groups.back().first >= group_size) shades.groups.push_back({node, node, {}});
      PieceGroup& group = shades.groups.back();
      group.last = node + 1;
      CurveBox around;
      around.hold(form.nodes[n].at);
      around.hold(form.nodes[n + 1].at);
      around.widen(shade.sag);
      for (CurveBox* box : {&group.box, &shades.box}) {
        box->hold(around.low);
        box->hold(around.high);
      }
    }
    return shades;
  }

  /// The caller fills in the times of traces. Without traces only times are found.
  void search(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds,
              std::span<RayTrace> traces) const {
    std::fill(seconds.begin(), seconds.end(), std::numeric_limits<double>::quiet_NaN());
    CurveSearch search(rays_, points, seconds, traces, first);
    for (std::size_t point = 0; point < points.size(); point += scanned_points) {
      search.take_points(point, std::min(points.size(), point + scanned_points));
      for (std::size_t source = first; source < last; ++source) search.scan(source);
    }
    search.finish();
    search.ask_solver();
  }

  CurveRays rays_;
};

}  // namespace

CurveRays::CurveRays(const RayPath& along, const std::vector<Point>& from, const FieldKernels& with)
    : path(along),
      surface(*path.interfaces.front().surface),
      sources(from),
      kernels(with),
      nodes(surface),
      before(1.0 / path.velocities[0].value),
      after(1.0 / path.velocities[1].value),
      slopes(sources.size() * 64 * nodes.words, 1.0F) {
  constexpr double contact = 1e-7;  // m
  for (const Point& source : sources) {
    const SurfaceFoot foot = surface.foot(place_in_plane(source));
    const bool on_it = std::abs(foot.distance) < contact;
    beginnings.push_back(on_it ? foot.at : place_in_plane(source));
    touching = touching || on_it;
    touches.push_back(on_it ? 1 : 0);
  }
  const double most = std::max(before, after);
  for (std::size_t source = 0; source < sources.size(); ++source) {
    const Vector2 beginning = place_in_plane(sources[source]);
    for (std::size_t n = 0; n < nodes.places.size(); ++n) {
      const Vector2 way = nodes.places[n] - beginning;
      slopes[source * 64 * nodes.words + n] =
          static_cast<float>(node_slope(before / most, nodes.tangents[n].x, nodes.tangents[n].z, way.x, way.z));
    }
  }
  after_slope = static_cast<float>(after / most);
}

CrossingSides CurveRays::sides() const {
  const RayInterface& interface = path.interfaces.front();
  const double source = interface.from_below ? 1.0 : -1.0;
  return {source, interface.reflects ? source : -source};
}

std::unique_ptr<RayField> make_curve_field(const RayPath& path, const std::vector<Point>& sources, const FieldKernels& kernels) {
  if (path.interfaces.size() != 1 || path.interfaces.front().surface->is_sampled()) return nullptr;
  return std::make_unique<CurveField>(path, sources, kernels);
}

}  // namespace echoform::rays
