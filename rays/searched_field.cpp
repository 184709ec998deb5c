#include "rays/searched_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/planning.hpp"
#include "rays/brick_search.hpp"
#include "rays/point_lattice.hpp"
#include "rays/space_shape.hpp"
#include "rays/stationary_way.hpp"

namespace echoform::rays {
namespace {

/// Points and places between two checks for cancellation; they take some milliseconds.
constexpr std::size_t points_at_once = 64;
constexpr std::size_t places_at_once = 256;
/// Fewer points than this are searched for one by one.
constexpr std::size_t least_lattice = 64;

/// Places of all shapes near some sources and points.
struct Places {
  SpaceBox box;
  double size = 0.0;  ///< of cells, m
  std::vector<ShapePlaces> shapes;
};

/// Fastest paths over places from a source: the times to the places of each shape, and the place of the shape before.
struct Reached {
  std::vector<std::vector<double>> times;
  std::vector<std::vector<std::uint32_t>> before;
};

class SearchedField final : public RayField {
 public:
  SearchedField(const RayPath& path, std::vector<Point> sources) : path_(path), sources_(std::move(sources)) {
    for (const MetresPerSecond velocity : path_.velocities) slowness_.push_back(1.0 / velocity.value);
    for (const RayInterface& interface : path_.interfaces) shapes_.emplace_back(interface);
    for (const SpaceShape& shape : shapes_) {
      if (shape.shadows() && std::find(shadowing_.begin(), shadowing_.end(), shape) == shadowing_.end())
        shadowing_.push_back(shape);
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "searched"; }
  /// Each call reaches the places once.
  [[nodiscard]] Portion portion() const noexcept override { return {1, std::size_t{1} << 16}; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    each_way(first, last, points, [&](std::size_t ray, const std::optional<SpaceWay>& way) {
      seconds[ray] = way ? way->time : std::numeric_limits<double>::quiet_NaN();
    });
  }

  bool first_places(std::size_t first, std::size_t last, std::span<const Point> points,
                    std::span<Vector3> places) const override {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    each_way(first, last, points, [&](std::size_t ray, const std::optional<SpaceWay>& way) {
      places[ray] = way ? way->places[0].at : Vector3{none, none, none};
    });
    return true;
  }

 private:
  /// Calls tell(place in [source - first, point], way) for all points; the way is empty where there is no ray.
  template <class Tell>
  void each_way(std::size_t first, std::size_t last, std::span<const Point> points, const Tell& tell) const {
    if (points.empty()) return;
    const std::shared_ptr<const Places> places = places_about(points);
    // Each triangle has a stationary path of its own, and the shortest one changes from one triangle to the next.
    const bool triangles =
        std::any_of(shapes_.begin(), shapes_.end(), [](const SpaceShape& shape) { return shape.mesh() != nullptr; });
    const auto lattice = triangles || points.size() < least_lattice ? std::nullopt : PointLattice::of(points);
    std::vector<double> totals(places->shapes.back().at.size());
    for (std::size_t source = first; source < last; ++source) {
      const Vector3 from = vector_of(sources_[source]);
      const Reached reached = reach(from, *places);
      std::size_t asked = 0;
      WaySearch search;
      search.fully = [&](std::uint32_t point, double room) {
        // A table's portion may take seconds.
        if (asked++ % points_at_once == 0) keep_planning();
        return least_way(from, vector_of(points[point]), *places, reached, totals, room);
      };
      search.nearby = [&](std::uint32_t point, std::span<const Vector3> near) {
        if (asked++ % points_at_once == 0) keep_planning();
        return stationary_way(from, vector_of(points[point]), shapes_, slowness_, near, 2.0 * places->size);
      };
      search.passes = [&](std::uint32_t point, const SpaceWay& way) { return passes(way, from, vector_of(points[point])); };
      search.surfaces = shapes_.size();
      search.slowness = slowness_.back();
      const std::size_t row = (source - first) * points.size();
      std::vector<std::uint8_t> told(points.size());
      const auto told_of = [&](std::uint32_t point, const std::optional<SpaceWay>& way) {
        told[point] = 1;
        tell(row + point, way);
      };
      if (lattice) search_by_bricks(*lattice, points, search, told_of);
      for (std::uint32_t k = 0; k < points.size(); ++k) {
        if (told[k] == 0) tell(row + k, search.fully(k, 0.0).way);
      }
    }
  }

  /// Places in a box around all sources and points and the places of their shadows on the surfaces. The box' sides are whole
  /// cells.
  [[nodiscard]] std::shared_ptr<const Places> places_about(std::span<const Point> points) const {
    constexpr double largest = std::numeric_limits<double>::max();
    SpaceBox box{{largest, largest, largest}, {-largest, -largest, -largest}};
    for (const Point& source : sources_) box.hold(vector_of(source));
    for (const Point& point : points) box.hold(vector_of(point));
    const SpaceBox ends = box;
    for (const SpaceShape& shape : shapes_) {
      for (int corner = 0; corner < 8; ++corner) {
        box.hold(shape
                     .foot({corner % 2 == 0 ? ends.low.x : ends.high.x, corner / 2 % 2 == 0 ? ends.low.y : ends.high.y,
                            corner / 4 == 0 ? ends.low.z : ends.high.z})
                     .at);
      }
      box.hold(shape.foot(0.5 * (ends.low + ends.high)).at);
    }
    const double span = length(box.high - box.low);
    const double size = std::exp2(std::round(std::log2(std::max(span, 1e-6) / 24.0)));
    const double margin = 0.1 * span;
    const auto down = [&](double value) { return size * std::floor((value - margin) / size); };
    const auto up = [&](double value) { return size * std::ceil((value + margin) / size); };
    box = {{down(box.low.x), down(box.low.y), down(box.low.z)}, {up(box.high.x), up(box.high.y), up(box.high.z)}};
    const std::lock_guard lock(mutex_);
    if (places_ != nullptr && places_->box == box && places_->size == size) return places_;
    auto places = std::make_shared<Places>(Places{box, size, {}});
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const auto same = std::find(shapes_.begin(), shapes_.begin() + static_cast<std::ptrdiff_t>(k), shapes_[k]);
      const auto known = static_cast<std::size_t>(same - shapes_.begin());
      places->shapes.push_back(known < k ? places->shapes[known] : places_on(shapes_[k], box, size));
    }
    places_ = places;
    return places_;
  }

  [[nodiscard]] Reached reach(Vector3 from, const Places& places) const {
    Reached reached;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const std::vector<Vector3>& at = places.shapes[k].at;
      std::vector<double>& times = reached.times.emplace_back(at.size(), std::numeric_limits<double>::infinity());
      std::vector<std::uint32_t>& before = reached.before.emplace_back(at.size(), 0U);
      for (std::size_t j = 0; j < at.size(); ++j) {
        if (j % places_at_once == 0) keep_planning();
        if (k == 0) {
          times[j] = slowness_[0] * length(at[j] - from);
          continue;
        }
        const std::vector<Vector3>& last = places.shapes[k - 1].at;
        for (std::size_t i = 0; i < last.size(); ++i) {
          const double time = reached.times[k - 1][i] + slowness_[k] * length(at[j] - last[i]);
          if (!(time < times[j])) continue;
          times[j] = time;
          before[j] = static_cast<std::uint32_t>(i);
        }
      }
    }
    return reached;
  }

  /// If `room` is above 0, paths that are slower by less than `room` are searched for too, for the lead.
  [[nodiscard]] SearchedWay least_way(Vector3 from, Vector3 to, const Places& places, const Reached& reached,
                                      std::vector<double>& totals, double room) const {
    const ShapePlaces& last = places.shapes.back();
    for (std::size_t j = 0; j < totals.size(); ++j)
      totals[j] = reached.times.back()[j] + slowness_.back() * length(to - last.at[j]);
    std::vector<std::uint32_t> minima;
    for (std::uint32_t j = 0; j < totals.size(); ++j) {
      if (!std::isfinite(totals[j])) continue;
      const auto& beside = last.neighbours[j];
      if (std::all_of(beside.begin(), beside.end(), [&](std::uint32_t other) { return totals[j] <= totals[other]; }))
        minima.push_back(j);
    }
    std::sort(minima.begin(), minima.end(), [&](std::uint32_t a, std::uint32_t b) { return totals[a] < totals[b]; });
    // Over the places alone, paths are slower than the shortest ones nearby, by less than the time across a cell.
    const double late = places.size * *std::max_element(slowness_.begin(), slowness_.end());
    constexpr double never = std::numeric_limits<double>::infinity();
    SearchedWay found;
    double least = never;
    double unknown = never;  // lower bound of paths that were skipped, or ended at an edge
    std::vector<SpaceWay> others;
    for (const std::uint32_t start : minima) {
      if (totals[start] - late - room > least) {
        unknown = std::min(unknown, totals[start] - late);
        break;
      }
      std::array<Vector3, most_interfaces> near{};
      std::uint32_t place = start;
      for (std::size_t k = shapes_.size(); k-- > 0;) {
        near[k] = places.shapes[k].at[place];
        place = reached.before[k][place];
      }
      const auto way = stationary_way(from, to, shapes_, slowness_, std::span(near).first(shapes_.size()), 2.0 * places.size);
      if (!way) unknown = std::min(unknown, totals[start] - late);
      if (way && room > 0.0) others.push_back(*way);
      if (!way || way->time >= least || !passes(*way, from, to)) continue;
      least = way->time;
      found.way = way;
    }
    found.lead = unknown - least;
    for (const SpaceWay& other : others) {
      if (found.way && !same_way(other, *found.way)) found.lead = std::min(found.lead, other.time - least);
    }
    return found;
  }

  /// Whether two paths converged to the same places.
  [[nodiscard]] bool same_way(const SpaceWay& one, const SpaceWay& other) const {
    constexpr double same = 1e-7;  // m
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (length(one.places[k].at - other.places[k].at) > same) return false;
    }
    return true;
  }

  /// Whether the path meets and leaves each surface on its right side, and no leg lies in a shadow.
  [[nodiscard]] bool passes(const SpaceWay& way, Vector3 from, Vector3 to) const {
    const std::size_t count = shapes_.size();
    const auto place = [&](std::size_t end) { return end == 0 ? from : end > count ? to : way.places[end - 1].at; };
    for (std::size_t k = 0; k < count; ++k) {
      const RayInterface& interface = path_.interfaces[k];
      const Vector3 normal = way.places[k].normal;
      const double arrives = dot(normal, place(k) - place(k + 1));  // above 0: from below
      const double leaves = dot(normal, place(k + 2) - place(k + 1));
      if (interface.from_below ? arrives < 0.0 : arrives > 0.0) return false;
      if (interface.reflects == interface.from_below ? leaves < 0.0 : leaves > 0.0) return false;
    }
    for (const SpaceShape& shape : shadowing_) {
      for (std::size_t leg = 0; leg <= count; ++leg) {
        if (!keeps_to_a_side(shape, place(leg), place(leg + 1), leg == 0)) return false;
      }
    }
    return true;
  }

  /// Whether a leg lies on one side of a shape, that of the leg's middle, except for the last 1e-7 m. Elements are placed on the
  /// part to a tenth of a millimetre: a first leg that begins so near to a shape begins on it.
  [[nodiscard]] bool keeps_to_a_side(const SpaceShape& shape, Vector3 from, Vector3 to, bool first) const {
    constexpr double end_margin = 1e-7;
    constexpr double touches = 1e-4;
    const double whole = length(to - from);
    if (!(whole > 2.0 * end_margin)) return true;
    const Vector3 middle = 0.5 * (from + to);
    const double side = shape.distance(middle) < 0.0 ? -1.0 : 1.0;
    for (const Vector3 end : {from, to}) {
      const Vector3 along = (2.0 / whole) * (end - middle);
      // No place of the surface is nearer than `distance`, so the path is free over this length.
      double far = 0.0;
      for (int step = 0; far < 0.5 * whole - end_margin; ++step) {
        const double distance = side * shape.distance(middle + far * along);
        if (!(distance > 0.0) || step == 4096) {
          if (first && end == from && std::abs(shape.distance(from)) < touches && 0.5 * whole - far < 10.0 * touches) break;
          return false;
        }
        far += std::max(distance, 1e-9);
      }
    }
    return true;
  }

  RayPath path_;
  std::vector<Point> sources_;
  std::vector<double> slowness_;
  std::vector<SpaceShape> shapes_;
  std::vector<SpaceShape> shadowing_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Places> places_;  // of the last call
};

}  // namespace

std::unique_ptr<RayField> make_searched_field(const RayPath& path, std::vector<Point> sources) {
  return std::make_unique<SearchedField>(path, std::move(sources));
}

}  // namespace echoform::rays
