#include "rays/ray_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/errors.hpp"
#include "rays/crossing_math.hpp"
#include "rays/near_turns.hpp"
#include "rays/ray_field.hpp"
#include "rays/ray_system.hpp"

namespace echoform {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void check_path(const RayPath& path) {
  if (path.velocities.size() != path.interfaces.size() + 1 || path.interfaces.size() > rays::most_interfaces) {
    throw InputError("ray path", fmt::format("{} legs and {} interfaces", path.velocities.size(), path.interfaces.size()),
                     fmt::format("one leg more than interfaces, of which there are at most {}", rays::most_interfaces));
  }
  for (const MetresPerSecond velocity : path.velocities) {
    if (velocity.value > 0.0 && std::isfinite(velocity.value)) continue;
    throw InputError("ray path", fmt::format("a velocity of {} m/s", velocity.value), "velocities above 0");
  }
  for (const RayInterface& interface : path.interfaces) {
    if (path.interfaces.size() == 1 && !interface.reflects && !interface.from_below) continue;
    if (interface.surface != nullptr && interface.surface->is_sampled() && path.in_space()) {
      throw InputError(std::string(interface.surface->name()), "points, and rays that skip at a surface in three dimensions",
                       "interpolation = \"lines\" or \"spline\"");
    }
  }
}

struct RaySolver::State {
  State(const RayPath& given, Point from) : path(given), source{from.x.value, from.z.value}, source_y(from.y.value) {
    for (const MetresPerSecond velocity : path.velocities) slowness.push_back(1.0 / velocity.value);
    reach_nodes();
    touch_surfaces();
  }

  /// Shortest times from the source to every node of every interface, over nodes of the interfaces before.
  void reach_nodes() {
    const std::size_t count = path.interfaces.size();
    arrivals.resize(count);
    before.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      const auto& nodes = path.interfaces[k].surface->nodes();
      arrivals[k].resize(nodes.size());
      before[k].assign(nodes.size(), 0);
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        if (k == 0) {
          arrivals[k][j] = slowness[0] * length(nodes[j].at - source);
          continue;
        }
        const auto& last = path.interfaces[k - 1].surface->nodes();
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < last.size(); ++i) {
          const double time = arrivals[k - 1][i] + slowness[k] * length(nodes[j].at - last[i].at);
          if (time < least) {
            least = time;
            before[k][j] = static_cast<std::uint32_t>(i);
          }
        }
        arrivals[k][j] = least;
      }
    }
    if (count > 0) totals.resize(path.interfaces.back().surface->nodes().size());
    if (!one_curve()) return;
    for (const SurfaceNode& node : path.interfaces[0].surface->nodes()) slopes.push_back(slope_at(node, slowness[0], source));
  }

  /// Whether there is one unknown. If so, the search is that of fields (crossing_math.hpp).
  [[nodiscard]] bool one_curve() const { return path.interfaces.size() == 1 && !path.interfaces[0].surface->is_sampled(); }

  static double slope_at(const SurfaceNode& node, double slowness, Vector2 end) {
    return rays::node_slope(slowness, node.tangent.x, node.tangent.z, node.at.x - end.x, node.at.z - end.z);
  }

  /// Places on all interfaces, from node `node` of the last interface back to the source.
  [[nodiscard]] std::array<SurfacePlace, rays::most_interfaces> start_over(std::size_t node) const {
    std::array<SurfacePlace, rays::most_interfaces> places{};
    for (std::size_t k = path.interfaces.size(); k-- > 0;) {
      places[k] = path.interfaces[k].surface->nodes()[node].place;
      node = before[k][node];
    }
    return places;
  }

  /// Whether the ray meets and leaves each interface on its right side, and no leg lies in a shadow.
  [[nodiscard]] bool passes(Vector2 point) const {
    Vector2 from = source;
    for (std::size_t k = 0; k < path.interfaces.size(); ++k) {
      const RayInterface& interface = path.interfaces[k];
      const CurvePoint& place = system.place(k);
      const Vector2 to = k + 1 < path.interfaces.size() ? system.place(k + 1).at : point;
      const double arrives = cross(place.first, from - place.at);  // above 0: from below
      const double leaves = cross(place.first, to - place.at);
      if (interface.from_below ? arrives < 0.0 : arrives > 0.0) return false;
      if (interface.reflects == interface.from_below ? leaves < 0.0 : leaves > 0.0) return false;
      from = place.at;
    }
    return !in_shadow(point);
  }

  [[nodiscard]] bool in_shadow(Vector2 point) const {
    const std::size_t count = path.interfaces.size();
    for (std::size_t k = 0; k < count; ++k) {
      const Surface& surface = *path.interfaces[k].surface;
      if (!surface.shadows()) continue;
      // Returns the place of a leg's end if it lies on this surface, else null.
      std::array<SurfacePlace, rays::most_interfaces> places{};
      const auto place_on = [&](std::size_t end) -> const SurfacePlace* {
        if (end >= count || path.interfaces[end].surface.get() != &surface) return nullptr;
        places[end] = system.surface_place(end);
        return &places[end];
      };
      for (std::size_t leg = 0; leg <= count; ++leg) {
        const std::optional<SurfaceFoot>& touched = touched_feet[k];
        const bool touches = leg == 0 && touched.has_value();
        const Vector2 from = leg > 0 ? system.place(leg - 1).at : touches ? touched->at : source;
        const Vector2 to = leg < count ? system.place(leg).at : point;
        const bool on_it = touches || (leg > 0 && place_on(leg - 1) != nullptr) || place_on(leg) != nullptr;
        if (on_it && surface.meets_once(to - from)) continue;
        if (surface.crosses(from, to, touches ? &touched->place : leg > 0 ? place_on(leg - 1) : nullptr, place_on(leg)))
          return true;
      }
    }
    return false;
  }

  /// Elements are placed on the part to a tenth of a millimetre; in couplant they lie where they are stated to be.
  void touch_surfaces() {
    constexpr double touches_first = 1e-7;  // m
    constexpr double touches = 1e-4;
    for (std::size_t k = 0; k < path.interfaces.size(); ++k) {
      touched_feet.emplace_back();
      const Surface& surface = *path.interfaces[k].surface;
      if (!surface.shadows()) continue;
      const SurfaceFoot foot = surface.foot(source);
      const bool first = path.interfaces.front().surface.get() == &surface;
      if (std::abs(foot.distance) < (first ? touches_first : touches)) touched_feet.back() = foot;
    }
  }

  /// A place of the last interface from which the time grows in all directions.
  struct Way {
    Vector2 at;
    double time;
  };
  [[nodiscard]] Way over_node(Vector2 node, Vector2 point) const {
    return {node, slowness[0] * length(node - source) + slowness[1] * length(point - node)};
  }
  /// By how much the other `ways` are slower than the ray over `at`. Ways over the same place are that ray, found from several
  /// starts.
  [[nodiscard]] double lead_of(Vector2 at, double time) const {
    constexpr double same = 1e-9;  // m
    double lead = std::numeric_limits<double>::infinity();
    for (const Way& way : ways) {
      if (length(way.at - at) > same) lead = std::min(lead, way.time - time);
    }
    return lead;
  }

  [[nodiscard]] double time_to(Vector2 point, double across, RayTrace* trace);
  [[nodiscard]] bool solve_across(double across, double& time);

  RayPath path;
  Vector2 source;
  double source_y;
  std::vector<double> slowness;
  std::vector<std::vector<double>> arrivals;
  std::vector<std::vector<std::uint32_t>> before;
  std::vector<double> inclined_slowness;
  std::vector<double> totals;                            // [node of the last interface], for the current point
  std::vector<Way> ways;                                 // for the current point, while it is traced
  std::vector<double> slopes;                            // with one curve: [node], the terms of the source
  std::vector<std::optional<SurfaceFoot>> touched_feet;  // [interface that casts shadows], where the source touches it
  rays::System system;
};

double RaySolver::State::time_to(Vector2 point, double across, RayTrace* trace) {
  const std::size_t count = path.interfaces.size();
  ways.clear();
  if (count == 0) return slowness[0] * std::hypot(length(point - source), across);
  const auto& nodes = path.interfaces.back().surface->nodes();
  double least = none;
  const auto take = [&] {
    double time = system.time();
    if (across != 0.0 && !solve_across(across, time)) return;
    if (!std::isnan(least) && !(time < least)) return;
    if (!passes(point)) return;
    least = time;
    if (trace == nullptr) return;
    for (std::size_t k = 0; k < count; ++k) {
      const SurfacePlace place = system.surface_place(k);
      trace->crossings[k] = {system.place(k).at, static_cast<double>(place.segment) + place.t};
    }
  };
  if (one_curve()) {
    const Surface& surface = *path.interfaces[0].surface;
    const bool near = surface.shadows() && std::abs(surface.signed_distance(point)) < rays::near_piece * surface.longest_chord();
    double slope_before = -1.0;  // negative, so that a minimum of the time at the beginning counts as a path
    const auto take_between = [&](SurfacePlace low, SurfacePlace high) {
      system.begin(path, slowness, source, point, {high});
      const bool solved = system.solve_between(low, high);
      if (trace != nullptr)
        ways.push_back(solved ? Way{system.place(0).at, system.time()} : over_node(surface.point(high).at, point));
      if (solved) take();
    };
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      const double slope = slopes[j] + slope_at(nodes[j], slowness[1], point);
      const bool turns = slope_before < 0.0 && slope >= 0.0;
      slope_before = slope;
      const bool joined = j > 0 && nodes[j - 1].place.segment == nodes[j].place.segment;
      if (joined && near && rays::lies_near(point, nodes[j - 1].at, nodes[j].at)) {
        const rays::NearTurns found = rays::near_turns(surface.piece(j - 1), {source, point, slowness[0], slowness[1]});
        for (std::size_t k = 0; k < found.count; ++k)
          take_between(surface.place_on_piece(j - 1, found.low[k]), surface.place_on_piece(j - 1, found.high[k]));
      } else if (turns && joined) {
        take_between(nodes[j - 1].place, nodes[j].place);
      } else if (turns && trace != nullptr) {
        ways.push_back(over_node(nodes[j].at, point));
      }
    }
    if (trace == nullptr) return least;
    if (slope_before < 0.0) ways.push_back(over_node(nodes.back().at, point));
    trace->lead = lead_of(trace->crossings[0].at, least);
    return least;
  }
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    totals[j] = arrivals.back()[j] + slowness[count] * length(point - nodes[j].at);
  }
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const bool below_left = j == 0 || totals[j] <= totals[j - 1];
    const bool below_right = j + 1 == nodes.size() || totals[j] < totals[j + 1];
    if (!below_left || !below_right) continue;
    system.begin(path, slowness, source, point, start_over(j));
    const bool solved = system.solve();
    if (trace != nullptr) ways.push_back({system.place(count - 1).at, system.time()});
    if (solved) take();
  }
  if (trace != nullptr) trace->lead = lead_of(trace->crossings[count - 1].at, least);
  return least;
}

/// Continues from the ray in the plane to the ray whose ends lie `across` apart along y.
bool RaySolver::State::solve_across(double across, double& time) {
  constexpr int swinging = 30;  // steps, of which most rays need a few
  const std::size_t legs = slowness.size();
  const double y = std::abs(across);
  double low = 0.0;
  double high = *std::min_element(slowness.begin(), slowness.end());
  double p = 0.0;
  double last_step = high;
  std::vector<double>& inclined = inclined_slowness;
  inclined.resize(legs);
  for (int step = 0; step < 100; ++step) {
    // The distance along y that belongs to p, and its derivative at fixed places.
    double way = 0.0;
    double growth = 0.0;
    time = p * y;
    for (std::size_t leg = 0; leg < legs; ++leg) {
      const double left = std::sqrt(slowness[leg] * slowness[leg] - p * p);
      const double along = system.leg_length(leg);
      way += along * p / left;
      growth += along * slowness[leg] * slowness[leg] / (left * left * left);
      time += along * left;
    }
    (way < y ? low : high) = p;
    const double newton = (y - way) / growth;
    double next = p + newton;
    // Near the critical angle places move far with p, and the distance grows much faster than at fixed places. Newton's steps
    // then jump from one side of the root to the other: searches that take many steps have to halve.
    const bool swings = step >= swinging && std::abs(newton) > 0.5 * last_step;
    if (!(next > low && next < high) || swings) next = 0.5 * (low + high);
    last_step = std::abs(next - p);
    // T is stationary in p, so an error of p enters squared. Where places jump to another ray, no p belongs to y.
    if (last_step <= 1e-12 * high) return std::abs(newton) <= 1e-6 * high;
    p = next;
    for (std::size_t leg = 0; leg < legs; ++leg) inclined[leg] = std::sqrt(slowness[leg] * slowness[leg] - p * p);
    system.set_slowness(inclined);
    if (!system.solve()) return false;
  }
  return false;
}

RaySolver::RaySolver(const RayPath& path, Point source) {
  check_path(path);
  if (path.in_space()) {
    spatial_ = make_ray_field(path, {source});
  } else {
    state_ = std::make_unique<State>(path, source);
  }
}
RaySolver::~RaySolver() = default;
RaySolver::RaySolver(RaySolver&&) noexcept = default;
RaySolver& RaySolver::operator=(RaySolver&&) noexcept = default;

double RaySolver::time_to(Point point, std::vector<Vector2>* places) {
  if (spatial_ != nullptr) {
    if (places != nullptr) places->clear();
    double seconds = none;
    spatial_->times(0, 1, {&point, 1}, {&seconds, 1});
    return seconds;
  }
  if (places != nullptr) {
    const RayTrace trace = trace_to(point);
    const std::size_t count = std::isnan(trace.seconds) ? 0 : state_->path.interfaces.size();
    places->clear();
    for (std::size_t k = 0; k < count; ++k) places->push_back(trace.crossings[k].at);
    return trace.seconds;
  }
  return state_->time_to({point.x.value, point.z.value}, point.y.value - state_->source_y, nullptr);
}

RayTrace RaySolver::trace_to(Point point) {
  RayTrace trace;
  if (spatial_ != nullptr) {
    trace.seconds = time_to(point);
    return trace;
  }
  trace.seconds = state_->time_to({point.x.value, point.z.value}, point.y.value - state_->source_y, &trace);
  return trace;
}

void RaySolver::times_to(std::span<const Point> points, std::span<double> seconds) {
  if (spatial_ != nullptr) return spatial_->times(0, 1, points, seconds);
  for (std::size_t k = 0; k < points.size(); ++k) seconds[k] = time_to(points[k]);
}

}  // namespace echoform
