#include "simulators/scene_echoes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "simulators/least_time.hpp"
#include "simulators/space_times.hpp"

namespace echoform {
namespace {

using simulated::in_plane;
using simulated::Place;
using simulated::Spot;
using simulated::spot_of;
using simulated::WallWay;
using simulated::Way;

/// Maximum distance from the plane y = 0 of places that lie in it, by rounding.
constexpr double beside_plane = 1e-9;  // m

/// Number of places on a hole's rim: at 5 degrees apart, a parabola between them is exact to 1e-12 s up to a radius of 5 mm.
constexpr std::size_t rim_places = 72;

std::vector<Place> all_in_plane(const std::vector<Spot>& spots) {
  std::vector<Place> places;
  for (const Spot& spot : spots) places.push_back(in_plane(spot));
  return places;
}

/// The paths of a scene that lies in the plane y = 0.
class PlaneWays final : public simulated::Ways {
 public:
  PlaneWays(const SimulatedScene& scene, const Material& material, const std::vector<Spot>& elements,
            const std::vector<Spot>& places)
      : times_(scene, material, all_in_plane(elements), all_in_plane(places)) {}

  [[nodiscard]] Way side(std::size_t element, const std::string& modes, const Spot& to) const override {
    return way_of(times_.side(element, modes, in_plane(to)));
  }
  [[nodiscard]] std::optional<WallWay> front_echo(std::size_t transmit, std::size_t receive) const override {
    return way_of(times_.front_echo(transmit, receive));
  }
  [[nodiscard]] std::optional<WallWay> backwall_echo(std::size_t transmit, std::size_t receive, char down,
                                                     char up) const override {
    return way_of(times_.backwall_echo(transmit, receive, down, up));
  }

 private:
  static Way way_of(const simulated::Ray& ray) {
    return {ray.time, {ray.first.x, 0.0, ray.first.z}, {ray.last.x, 0.0, ray.last.z}, ray.reach, ray.share};
  }
  static std::optional<WallWay> way_of(const std::optional<simulated::WallRay>& wall) {
    if (!wall) return std::nullopt;
    return WallWay{way_of(wall->transmit), way_of(wall->receive), wall->share};
  }

  simulated::LeastTimes times_;
};

Place on_rim(Place centre, double radius, double index) {
  const double angle = 2.0 * std::numbers::pi * index / static_cast<double>(rim_places);
  return {centre.x + radius * std::cos(angle), centre.z + radius * std::sin(angle)};
}

/// Cosine of the angle between the rim's normal at `at` and the path back to `from`.
double cosine_at_rim(Place centre, Place at, Place from) {
  const double nx = at.x - centre.x;
  const double nz = at.z - centre.z;
  const double fx = from.x - at.x;
  const double fz = from.z - at.z;
  return (nx * fx + nz * fz) / (std::hypot(nx, nz) * std::hypot(fx, fz));
}

std::vector<std::string> sides_of(const SimulatedScene& scene) {
  std::vector<std::string> sides;
  for (const char mode : scene.modes) sides.emplace_back(1, mode);
  if (scene.backwall.kind == CurveKind::none) return sides;
  std::vector<std::string> last = sides;
  for (std::size_t skip = 0; skip < scene.skips; ++skip) {
    std::vector<std::string> longer;
    for (const std::string& modes : last) {
      for (const char mode : scene.modes) longer.push_back(modes + mode);
    }
    sides.insert(sides.end(), longer.begin(), longer.end());
    last = std::move(longer);
  }
  return sides;
}

/// Distance in metres between a body and the element nearest to it.
double clearance_of(const Body& body, const std::vector<Element>& elements) {
  double least = std::numeric_limits<double>::infinity();
  for (const Element& element : elements) least = std::min(least, distance_to(body, spot_of(element.centre)));
  return least;
}

}  // namespace

bool in_space(const Probe& probe, const SimulatedScene& scene, const Phantom& phantom, const std::vector<double>& phases) {
  if (scene.surface.solid() || scene.backwall.solid() || !phantom.bodies.empty()) return true;
  const auto beside = [](const echoform::Point& at) { return std::abs(at.y.value) > beside_plane; };
  if (std::ranges::any_of(probe.elements, [&](const Element& element) { return beside(element.centre); })) return true;
  return std::ranges::any_of(phases, [&](double phase) {
    return std::ranges::any_of(true_positions(phantom, phase), [&](const TruePosition& at) { return beside(at.centre); });
  });
}

std::size_t bytes_of_body(const SimulatedScene& scene, const Probe& probe, const Body& body) {
  return BodyEchoes::bytes(body, clearance_of(body, probe.elements), probe.elements.size(), sides_of(scene).size());
}

Body cylinder_of(const SideDrilledHole& hole, const Probe& probe) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double far = 0.0;
  for (const Element& element : probe.elements) {
    low = std::min(low, element.centre.y.value);
    high = std::max(high, element.centre.y.value);
    far = std::max(far, std::hypot((element.centre.x - hole.centre.x).value, (element.centre.z - hole.centre.z).value));
  }
  // If the part's surface is not drawn out along y as the cylinder is, rays may leave the stretch between the elements, by less
  // than half of the path down.
  const double margin = 0.5 * far + 1e-3;
  Body cylinder;
  cylinder.kind = BodyKind::cylinder;
  cylinder.name = hole.name;
  cylinder.centre = {hole.centre.x, Metres(0.5 * (low + high)), hole.centre.z};
  cylinder.radius = hole.radius;
  cylinder.length = Metres(high - low + 2.0 * margin);
  cylinder.reflectivity = hole.reflectivity;
  return cylinder;
}

std::size_t bytes_of_hole(const SimulatedScene& scene, std::size_t elements) {
  return elements * sides_of(scene).size() * rim_places * sizeof(SceneEchoes::Side);
}

SceneEchoes::SceneEchoes(const Probe& probe, const SceneOptions& options, const Phantom& phantom,
                         const std::vector<double>& phases)
    : elements_(probe.elements),
      options_(options),
      phantom_(phantom),
      frequency_(probe.centre_frequency),
      sides_(sides_of(options.scene)),
      in_space_(in_space(probe, options.scene, phantom, phases)) {
  std::vector<Spot> elements;
  for (const Element& element : elements_) elements.push_back(spot_of(element.centre));
  std::vector<Spot> places;
  for (const double phase : phases) {
    for (const TruePosition& reflector : true_positions(phantom_, phase)) places.push_back(spot_of(reflector.centre));
  }
  if (in_space_) {
    for (const SideDrilledHole& hole : phantom_.holes) phantom_.bodies.push_back(cylinder_of(hole, probe));
    phantom_.holes.clear();
    for (const Body& body : phantom_.bodies) {
      for (const simulated::BodyExtent& extent : simulated::extents_of(body)) places.push_back(extent.at);
    }
    ways_ = std::make_unique<const simulated::SpaceTimes>(options_.scene, options_.material, std::move(elements), places);
  } else {
    ways_ = std::make_unique<const PlaneWays>(options_.scene, options_.material, elements, places);
  }
  for (const PointScatterer& one : phantom_.points) {
    still_.points.push_back(one.motion.kind == MotionKind::still ? point(one.reflectivity, spot_of(one.centre)) : nullptr);
  }
  for (const SideDrilledHole& one : phantom_.holes) {
    still_.holes.push_back(
        one.motion.kind == MotionKind::still ? hole(one.reflectivity, one.radius.value, in_plane(spot_of(one.centre))) : nullptr);
  }
  for (const Body& body : phantom_.bodies) {
    const auto way_to = [&](std::size_t element, const std::string& modes, const Spot& to) {
      const Way way = ways_->side(element, modes, to);
      return BodyEchoes::Way{way.time, way.found() ? factor_of(element, modes, way) : 0.0, way.last};
    };
    bodies_.push_back(std::make_shared<const BodyEchoes>(body, clearance_of(body, elements_), elements_.size(), sides_, way_to));
  }
  walls_.resize(elements_.size() * (elements_.size() + 1) / 2);
  if (options_.scene.wall_echoes) find_wall_echoes();
}

std::size_t SceneEchoes::pair(std::size_t transmit, std::size_t receive) const {
  const auto [low, high] = std::minmax(transmit, receive);
  return high * (high + 1) / 2 + low;
}

double SceneEchoes::directivity(std::size_t element, char mode, const Spot& towards) const {
  if (!options_.directivity) return 1.0;
  const MetresPerSecond in_part = mode == 'L' ? options_.material.longitudinal_velocity : options_.material.shear_velocity;
  const MetresPerSecond velocity = options_.scene.couplant.value > 0.0 ? options_.scene.couplant : in_part;
  const Element& from = elements_[element];
  const Metres across = in_space_ ? Metres(towards.y) : from.centre.y;
  return element_directivity(from, {Metres(towards.x), across, Metres(towards.z)}, velocity / frequency_);
}

double SceneEchoes::factor_of(std::size_t element, const std::string& modes, const Way& way) const {
  const bool couplant = options_.scene.couplant.value > 0.0;
  const double velocity = couplant               ? options_.scene.couplant.value
                          : modes.front() == 'L' ? options_.material.longitudinal_velocity.value
                                                 : options_.material.shear_velocity.value;
  const double spreading = spreading_factor(options_.spreading, Metres(way.reach), Metres(velocity / frequency_.value));
  return directivity(element, modes.front(), way.first) * way.share * spreading;
}

SceneEchoes::Side SceneEchoes::side(std::size_t element, const std::string& modes, const Spot& to) const {
  const Way way = ways_->side(element, modes, to);
  if (!way.found()) return {way.time, 0.0, {}};
  return {way.time, factor_of(element, modes, way), in_plane(way.last)};
}

std::shared_ptr<const SceneEchoes::Point> SceneEchoes::point(double reflectivity, const Spot& at) const {
  auto made = std::make_shared<Point>();
  made->reflectivity = reflectivity;
  for (const std::string& modes : sides_) {
    for (std::size_t element = 0; element < elements_.size(); ++element) made->sides.push_back(side(element, modes, at));
  }
  return made;
}

std::shared_ptr<const SceneEchoes::Hole> SceneEchoes::hole(double reflectivity, double radius, Place at) const {
  auto made = std::make_shared<Hole>();
  made->centre = at;
  made->radius = radius;
  made->reflectivity = reflectivity;
  for (const std::string& modes : sides_) {
    for (std::size_t element = 0; element < elements_.size(); ++element) {
      for (std::size_t k = 0; k < rim_places; ++k) {
        const Place rim = on_rim(at, radius, static_cast<double>(k));
        made->sides.push_back(side(element, modes, {rim.x, 0.0, rim.z}));
      }
    }
  }
  return made;
}

SceneEchoes::Reflectors SceneEchoes::at(double phase) const {
  Reflectors all = still_;
  const std::vector<TruePosition> places = true_positions(phantom_, phase);
  for (std::size_t k = 0; k < all.points.size(); ++k) {
    if (all.points[k] == nullptr) all.points[k] = point(phantom_.points[k].reflectivity, spot_of(places[k].centre));
  }
  for (std::size_t k = 0; k < all.holes.size(); ++k) {
    if (all.holes[k] != nullptr) continue;
    const SideDrilledHole& one = phantom_.holes[k];
    all.holes[k] = hole(one.reflectivity, one.radius.value, in_plane(spot_of(places[all.points.size() + k].centre)));
  }
  return all;
}

void SceneEchoes::find_wall_echoes() {
  const bool couplant = options_.scene.couplant.value > 0.0;
  const auto add = [&](std::size_t i, std::size_t j, const std::optional<WallWay>& wall, char down, char up) {
    if (!wall) return;
    const double velocity = couplant      ? options_.scene.couplant.value
                            : down == 'L' ? options_.material.longitudinal_velocity.value
                                          : options_.material.shear_velocity.value;
    const double reach = wall->transmit.reach + wall->receive.reach;
    const double amplitude = directivity(i, down, wall->transmit.first) * directivity(j, up, wall->receive.first) *
                             wall->transmit.share * wall->receive.share * wall->share *
                             spreading_factor(options_.spreading, Metres(reach), Metres(velocity / frequency_.value));
    if (amplitude != 0.0) walls_[pair(i, j)].push_back({wall->transmit.time + wall->receive.time, amplitude});
  };
  for (std::size_t j = 0; j < elements_.size(); ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      if (elements_[i].dead || elements_[j].dead) continue;
      add(i, j, ways_->front_echo(i, j), 'L', 'L');
      for (const char down : options_.scene.modes) {
        for (const char up : options_.scene.modes) add(i, j, ways_->backwall_echo(i, j, down, up), down, up);
      }
    }
  }
}

void SceneEchoes::add_hole(const Hole& hole, std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const {
  const std::size_t n = elements_.size();
  for (std::size_t a = 0; a < sides_.size(); ++a) {
    for (std::size_t b = 0; b < sides_.size(); ++b) {
      const Side* out = &hole.sides[(a * n + transmit) * rim_places];
      const Side* back = &hole.sides[(b * n + receive) * rim_places];
      const auto time = [&](std::size_t k) { return out[k].time + back[k].time; };
      std::size_t best = rim_places;
      for (std::size_t k = 0; k < rim_places; ++k) {
        if (std::isnan(time(k)) || (best < rim_places && !(time(k) < time(best)))) continue;
        best = k;
      }
      if (best == rim_places) continue;
      const double before = time((best + rim_places - 1) % rim_places);
      const double after = time((best + 1) % rim_places);
      const double bend = before - 2.0 * time(best) + after;
      // Next to a place that no ray reaches, the minimum may lie anywhere, so there is no echo.
      if (!(bend > 0.0)) continue;
      const double offset = 0.5 * (before - after) / bend;
      const Place at = on_rim(hole.centre, hole.radius, static_cast<double>(best) + offset);
      const double cosine = cosine_at_rim(hole.centre, at, out[best].last);
      const double cosine_back = cosine_at_rim(hole.centre, at, back[best].last);
      if (!(cosine > 0.0 && cosine_back > 0.0)) continue;
      const double amplitude =
          hole.reflectivity * std::sqrt(std::sqrt(cosine * cosine_back)) * out[best].factor * back[best].factor;
      if (amplitude != 0.0) echoes.push_back({time(best) - 0.25 * (before - after) * offset, amplitude});
    }
  }
}

void SceneEchoes::echoes(const Reflectors& reflectors, std::size_t transmit, std::size_t receive,
                         std::vector<Echo>& echoes) const {
  echoes = walls_[pair(transmit, receive)];
  const std::size_t n = elements_.size();
  for (const auto& point : reflectors.points) {
    for (std::size_t a = 0; a < sides_.size(); ++a) {
      const Side& out = point->sides[a * n + transmit];
      if (!(out.factor > 0.0)) continue;
      for (std::size_t b = 0; b < sides_.size(); ++b) {
        const Side& back = point->sides[b * n + receive];
        if (!(back.factor > 0.0)) continue;
        echoes.push_back({out.time + back.time, point->reflectivity * out.factor * back.factor});
      }
    }
  }
  for (const auto& hole : reflectors.holes) add_hole(*hole, transmit, receive, echoes);
  for (const auto& body : bodies_) body->add(transmit, receive, echoes);
}

}  // namespace echoform
