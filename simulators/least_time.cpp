#include "simulators/least_time.hpp"

#include <algorithm>
#include <cmath>

#include "simulators/least_search.hpp"

namespace echoform::simulated {
namespace {

constexpr std::size_t surface_samples = 2048;
constexpr std::size_t backwall_samples = 1024;
constexpr std::size_t underside_samples = 512;

}  // namespace

LeastTimes::LeastTimes(const SimulatedScene& scene, const Material& material, std::vector<Place> elements,
                       const std::vector<Place>& places)
    : scene_(scene),
      material_(material),
      front_waves_{scene.couplant.value, scene.couplant_density, material.longitudinal_velocity.value,
                   material.shear_velocity.value, scene.density},
      back_waves_{material.longitudinal_velocity.value, material.shear_velocity.value},
      elements_(std::move(elements)) {
  std::vector<Place> met = elements_;
  met.insert(met.end(), places.begin(), places.end());
  if (scene_.backwall.kind != CurveKind::none) {
    backwall_ = std::make_unique<SampledCurve>(scene_.backwall, met, backwall_samples);
    met.insert(met.end(), backwall_->samples().begin(), backwall_->samples().end());
  }
  if (scene_.couplant.value > 0.0) {
    if (scene_.surface.kind == CurveKind::none) scene_.surface.kind = CurveKind::plane;
    surface_ = std::make_unique<SampledCurve>(scene_.surface, met, surface_samples);
    for (const Place& element : elements_) {
      auto& row = above_.emplace_back();
      for (const Place& sample : surface_->samples()) row.push_back(distance(element, sample) / scene_.couplant.value);
    }
  }
  // Straight paths alone need no times to the backwall, whose computation is the costliest.
  if (backwall_ == nullptr || (scene_.skips == 0 && !scene_.wall_echoes)) return;
  for (const char mode : scene_.modes) reach_backwall(mode);
  if (scene_.skips < 2) return;
  CurveShape front = scene_.surface;
  if (front.kind == CurveKind::none) front.kind = CurveKind::plane;
  met.assign(elements_.begin(), elements_.end());
  met.insert(met.end(), places.begin(), places.end());
  underside_ = std::make_unique<SampledCurve>(front, met, underside_samples);
  for (const char first : scene_.modes) {
    for (const char second : scene_.modes) reach_underside(first, second);
  }
}

double LeastTimes::velocity(char mode) const {
  return mode == 'L' ? material_.longitudinal_velocity.value : material_.shear_velocity.value;
}

const std::vector<std::vector<double>>& LeastTimes::table(char mode) const {
  return mode == 'L' ? longitudinal_ : shear_;
}

std::vector<double> LeastTimes::times_below(char mode, Place to) const {
  std::vector<double> times;
  if (surface_ == nullptr) return times;
  times.reserve(surface_->samples().size());
  const double slowness = 1.0 / velocity(mode);
  for (const Place& sample : surface_->samples()) times.push_back(distance(sample, to) * slowness);
  return times;
}

void LeastTimes::reach_backwall(char mode) {
  auto& rows = mode == 'L' ? longitudinal_ : shear_;
  const auto& samples = backwall_->samples();
  rows.assign(elements_.size(), std::vector<double>(samples.size()));
  auto& entries = mode == 'L' ? entries_longitudinal_ : entries_shear_;
  if (surface_ != nullptr && scene_.skips > 1) entries = rows;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const std::vector<double> below = times_below(mode, samples[k]);
    for (std::size_t element = 0; element < elements_.size(); ++element) {
      const Ray ray = through(element, mode, samples[k], below);
      rows[element][k] = ray.time;
      if (!entries.empty()) entries[element][k] = ray.entry;
    }
  }
}

double LeastTimes::slowness_along(Place normal, Place from, Place at, double velocity) const {
  const double across = towards(normal, from, at) / distance(from, at);
  return std::sqrt(std::max(0.0, 1.0 - across * across)) / velocity;
}

Ray LeastTimes::through(std::size_t element, char mode, Place to, const std::vector<double>& below) const {
  const Place from = elements_[element];
  Ray ray;
  if (surface_ == nullptr) {
    if (backwall_ != nullptr && !backwall_->straight() && backwall_->blocks(from, to)) return ray;
    ray.reach = distance(from, to);
    ray.time = ray.reach / velocity(mode);
    ray.first = to;
    ray.last = from;
    return ray;
  }
  const std::vector<double>& above = above_[element];
  std::vector<double> times(above.size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = above[k] + below[k];
  const double in_couplant = 1.0 / scene_.couplant.value;
  const double in_part = 1.0 / velocity(mode);
  const auto& u = surface_->parameters();
  for (const std::size_t k : local_minima(times)) {
    const auto time = [&](double v) {
      const Place at = surface_->at(v);
      return distance(from, at) * in_couplant + distance(at, to) * in_part;
    };
    const double found = golden_section(time, u[k - 1], u[k + 1]);
    const Place at = surface_->at(found);
    const Place normal = surface_->normal(found);
    if (towards(normal, from, at) < 0.0 || towards(normal, at, to) < 0.0) continue;
    if (!surface_->straight() && (surface_->blocks(from, at) || surface_->blocks(at, to))) continue;
    if (backwall_ != nullptr && !backwall_->straight() && backwall_->blocks(at, to)) continue;
    ray.time = time(found);
    ray.entry = found;
    ray.first = at;
    ray.last = at;
    ray.reach = distance(from, at) + distance(at, to) * velocity(mode) * in_couplant;
    ray.share = front_waves_.transmission(mode, slowness_along(normal, from, at, scene_.couplant.value));
    break;
  }
  return ray;
}

Ray LeastTimes::direct(std::size_t element, char mode, Place to) const {
  return through(element, mode, to, times_below(mode, to));
}

std::vector<double> LeastTimes::turning_places(const std::vector<double>& times) const {
  const auto& u = backwall_->parameters();
  std::vector<double> places;
  for (const std::size_t k : local_minima(times)) {
    // The vertex of the parabola through three samples, which need not be equally far apart.
    const double left = (times[k] - times[k - 1]) / (u[k] - u[k - 1]);
    const double right = (times[k + 1] - times[k]) / (u[k + 1] - u[k]);
    const double middle_left = 0.5 * (u[k] + u[k - 1]);
    const double middle_right = 0.5 * (u[k + 1] + u[k]);
    places.push_back(right > left ? middle_left - left * (middle_right - middle_left) / (right - left) : u[k]);
    if (backwall_->cornered()) places.push_back(u[k]);
  }
  return places;
}

Ray LeastTimes::skip(std::size_t element, char first, char second, Place to) const {
  const std::vector<double>& down = table(first)[element];
  std::vector<double> times(down.size());
  const double slowness = 1.0 / velocity(second);
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = down[k] + distance(backwall_->samples()[k], to) * slowness;
  Ray best;
  for (const double u : turning_places(times)) {
    const Place at = backwall_->at(u);
    Ray ray = direct(element, first, at);
    if (!ray.found()) continue;
    const double time = ray.time + distance(at, to) * slowness;
    if (best.found() && !(time < best.time)) continue;
    const Place normal = backwall_->normal(u);
    if (towards(normal, ray.last, at) < 0.0 || towards(normal, to, at) < 0.0) continue;
    if (!backwall_->straight() && backwall_->blocks(at, to)) continue;
    if (surface_ != nullptr && !surface_->straight() && surface_->blocks(at, to)) continue;
    const double own = surface_ != nullptr ? scene_.couplant.value : velocity(first);
    ray.share *= back_waves_.reflection(first, second, slowness_along(normal, ray.last, at, velocity(first)));
    ray.time = time;
    ray.last = at;
    ray.reach += distance(at, to) * velocity(second) / own;
    best = ray;
  }
  return best;
}

Ray LeastTimes::side(std::size_t element, const std::string& modes, Place to) const {
  if (modes.size() == 1) return direct(element, modes[0], to);
  return modes.size() == 2 ? skip(element, modes[0], modes[1], to) : double_skip(element, modes, to);
}

std::optional<WallRay> LeastTimes::front_echo(std::size_t transmit, std::size_t receive) const {
  if (surface_ == nullptr) return std::nullopt;
  const Place from = elements_[transmit];
  const Place to = elements_[receive];
  std::vector<double> times(surface_->samples().size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = above_[transmit][k] + above_[receive][k];
  const auto& u = surface_->parameters();
  for (const std::size_t k : local_minima(times)) {
    const auto way = [&](double v) {
      const Place at = surface_->at(v);
      return distance(from, at) + distance(at, to);
    };
    const double found = golden_section(way, u[k - 1], u[k + 1]);
    const Place at = surface_->at(found);
    const Place normal = surface_->normal(found);
    if (towards(normal, from, at) < 0.0 || towards(normal, to, at) < 0.0) continue;
    if (!surface_->straight() && (surface_->blocks(from, at) || surface_->blocks(at, to))) continue;
    WallRay wall;
    wall.at = at;
    for (const auto& [ray, element] : {std::pair{&wall.transmit, from}, std::pair{&wall.receive, to}}) {
      ray->reach = distance(element, at);
      ray->time = ray->reach / scene_.couplant.value;
      ray->first = at;
      ray->last = element;
    }
    wall.share = front_waves_.reflection(slowness_along(normal, from, at, scene_.couplant.value));
    return wall;
  }
  return std::nullopt;
}

std::optional<WallRay> LeastTimes::backwall_echo(std::size_t transmit, std::size_t receive, char down, char up) const {
  if (backwall_ == nullptr) return std::nullopt;
  const std::vector<double>& out = table(down)[transmit];
  const std::vector<double>& back = table(up)[receive];
  std::vector<double> times(out.size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = out[k] + back[k];
  std::optional<WallRay> best;
  for (const double u : turning_places(times)) {
    const Place at = backwall_->at(u);
    WallRay wall{direct(transmit, down, at), direct(receive, up, at), 1.0, at};
    if (!wall.transmit.found() || !wall.receive.found()) continue;
    if (best && !(wall.transmit.time + wall.receive.time < best->transmit.time + best->receive.time)) continue;
    const Place normal = backwall_->normal(u);
    if (towards(normal, wall.transmit.last, at) < 0.0 || towards(normal, wall.receive.last, at) < 0.0) continue;
    wall.share = back_waves_.reflection(down, up, slowness_along(normal, wall.transmit.last, at, velocity(down)));
    best = wall;
  }
  return best;
}

}  // namespace echoform::simulated
