#include "simulators/space_times.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace echoform::simulated {
namespace {

/// Number of samples along each parameter.
constexpr std::size_t surface_lattice = 64;
constexpr std::size_t backwall_lattice = 48;
constexpr std::size_t underside_lattice = 40;

/// Times over samples alone are late by some nanoseconds, so their order is not that of the least times. This number of the
/// smallest ones is followed.
constexpr std::size_t most_followed = 6;

Spot middle_of(const std::vector<Spot>& places) {
  Spot sum;
  for (const Spot& place : places) sum = sum + place;
  return (1.0 / static_cast<double>(std::max<std::size_t>(places.size(), 1))) * sum;
}

/// Adds the lattice's own places, from which rays go on.
void add_places_of(const SampledShape& shape, std::vector<Spot>& places) {
  std::ranges::copy_if(shape.samples(), std::back_inserter(places), [](const Spot& at) { return std::isfinite(at.x); });
}

double slowness_along(const Spot& normal, const Spot& way, double velocity) {
  const double across = inner(normal, way) / std::sqrt(inner(way, way));
  return std::sqrt(std::max(0.0, 1.0 - across * across)) / velocity;
}

}  // namespace

SpaceTimes::SpaceTimes(const SimulatedScene& scene, const Material& material, std::vector<Spot> elements,
                       const std::vector<Spot>& places)
    : scene_(scene),
      material_(material),
      front_waves_{scene.couplant.value, scene.couplant_density, material.longitudinal_velocity.value,
                   material.shear_velocity.value, scene.density},
      back_waves_{material.longitudinal_velocity.value, material.shear_velocity.value},
      elements_(std::move(elements)) {
  const Spot probe = middle_of(elements_);
  if (scene_.surface.kind == CurveKind::none) scene_.surface.kind = CurveKind::plane;
  std::vector<Spot> met = elements_;
  met.insert(met.end(), places.begin(), places.end());
  if (scene_.backwall.kind != CurveKind::none) backwall_ = sample_shape(scene_.backwall, met, probe, backwall_lattice);
  if (backwall_ != nullptr && scene_.skips > 1) underside_ = sample_shape(scene_.surface, met, probe, underside_lattice);
  if (scene_.couplant.value > 0.0) {
    if (backwall_ != nullptr) add_places_of(*backwall_, met);
    surface_ = sample_shape(scene_.surface, met, probe, surface_lattice);
    for (const Spot& element : elements_) {
      auto& row = above_.emplace_back();
      for (const Spot& sample : surface_->samples()) row.push_back(distance(element, sample) / scene_.couplant.value);
    }
  }
  // Straight paths alone need no times to the backwall, whose computation is the costliest.
  if (backwall_ == nullptr || (scene_.skips == 0 && !scene_.wall_echoes)) return;
  for (const char mode : scene_.modes) {
    const double slowness = 1.0 / velocity(mode);
    Table& table = down_[mode];
    if (surface_ != nullptr) {
      reach(*surface_, above_, *backwall_, slowness, table);
      continue;
    }
    for (const Spot& element : elements_) {
      auto& row = table.emplace_back();
      for (const Spot& sample : backwall_->samples()) row.push_back(distance(element, sample) * slowness);
    }
  }
  if (underside_ == nullptr) return;
  for (const char first : scene_.modes) {
    for (const char second : scene_.modes)
      reach(*backwall_, down_.at(first), *underside_, 1.0 / velocity(second), from_below_[{first, second}]);
  }
}

void SpaceTimes::reach(const SampledShape& from, const Table& known, const SampledShape& to, double slowness,
                       Table& least) const {
  const std::vector<Spot>& samples = to.samples();
  least.assign(elements_.size(), std::vector<double>(samples.size(), std::numeric_limits<double>::infinity()));
  std::vector<double> between(samples.size());
  for (std::size_t k = 0; k < from.samples().size(); ++k) {
    for (std::size_t v = 0; v < samples.size(); ++v) between[v] = distance(from.samples()[k], samples[v]) * slowness;
    for (std::size_t element = 0; element < elements_.size(); ++element) {
      const double so_far = known[element][k];
      double* row = least[element].data();
      for (std::size_t v = 0; v < between.size(); ++v) {
        const double time = so_far + between[v];
        row[v] = time < row[v] ? time : row[v];
      }
    }
  }
}

double SpaceTimes::velocity(char mode) const {
  if (mode == 'C') return scene_.couplant.value;
  return mode == 'L' ? material_.longitudinal_velocity.value : material_.shear_velocity.value;
}

const SampledShape& SpaceTimes::shape_of(Event event) const {
  switch (event) {
    case Event::off_backwall:
      return *backwall_;
    case Event::off_underside:
      return *underside_;
    case Event::enters:
    case Event::leaves:
    case Event::off_front:
      break;
  }
  return *surface_;
}

std::size_t SpaceTimes::entry_before(std::size_t element, char mode, const Spot& to) const {
  const double slowness = 1.0 / velocity(mode);
  const std::vector<double>& above = above_[element];
  std::size_t entry = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < above.size(); ++k) {
    const double time = above[k] + distance(surface_->samples()[k], to) * slowness;
    if (!(time < least)) continue;
    least = time;
    entry = k;
  }
  return entry;
}

std::size_t SpaceTimes::turn_before(std::size_t element, char first, char second, const Spot& to) const {
  const double slowness = 1.0 / velocity(second);
  const std::vector<double>& down = down_.at(first)[element];
  std::size_t turn = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < down.size(); ++k) {
    const double time = down[k] + distance(backwall_->samples()[k], to) * slowness;
    if (!(time < least)) continue;
    least = time;
    turn = k;
  }
  return turn;
}

bool SpaceTimes::free(char mode, const Spot& from, const Spot& to) const {
  if (backwall_ != nullptr && backwall_->blocks(from, to)) return false;
  if (surface_ != nullptr) return !surface_->blocks(from, to);
  return underside_ == nullptr || mode == 'C' || !underside_->blocks(from, to);
}

double SpaceTimes::share_of(Event event, char before, char after, const Spot& normal, const Spot& arrives,
                            const Spot& leaves) const {
  const double along = slowness_along(normal, arrives, velocity(before));
  switch (event) {
    case Event::enters:
      return front_waves_.transmission(after, along);
    case Event::leaves:
      return front_waves_.transmission(before, slowness_along(normal, leaves, velocity(after)));
    case Event::off_front:
      return front_waves_.reflection(along);
    case Event::off_backwall:
      return back_waves_.reflection(before, after, along);
    case Event::off_underside:
      return surface_ != nullptr ? front_waves_.reflection_from_below(before, after, along)
                                 : back_waves_.reflection(before, after, along);
  }
  return 0.0;
}

SpaceTimes::Found SpaceTimes::follow(const Route& route, const Spot& from, const Spot& to) const {
  std::array<const SampledShape*, most_shapes> shapes{};
  std::array<double, most_shapes + 1> slowness{};
  SpaceParameters at{};
  SpaceParameters width{};
  for (std::size_t k = 0; k < route.count; ++k) {
    shapes[k] = &shape_of(route.events[k]);
    at[k] = shapes[k]->parameters(route.samples[k]);
    width[k] = shapes[k]->spacing(route.samples[k]);
  }
  for (std::size_t k = 0; k <= route.count; ++k) slowness[k] = 1.0 / velocity(route.modes[k]);
  Found found;
  const double time =
      narrow_down({from, to, std::span(shapes).first(route.count), std::span(slowness).first(route.count + 1)}, at, width);
  if (std::isnan(time)) return found;
  found.places[0] = from;
  for (std::size_t k = 0; k < route.count; ++k) {
    // The last steps are 1 / 4096 of these.
    constexpr double beside = 1e-2;
    const bool at_an_end =
        at[k].u - shapes[k]->us().front() < beside * width[k].u || shapes[k]->us().back() - at[k].u < beside * width[k].u ||
        at[k].v - shapes[k]->vs().front() < beside * width[k].v || shapes[k]->vs().back() - at[k].v < beside * width[k].v;
    if (at_an_end) return found;
    found.places[k + 1] = shapes[k]->at(at[k]);
  }
  found.places[route.count + 1] = to;
  for (std::size_t k = 0; k < route.count; ++k) {
    const Spot normal = shapes[k]->normal(at[k]);
    const Spot arrives = found.places[k + 1] - found.places[k];
    const Spot leaves = found.places[k + 2] - found.places[k + 1];
    const Event event = route.events[k];
    // If the backwall meets the front surface at the part's edge, the path between them vanishes there: the time is a minimum,
    // but there is no ray.
    constexpr double vanishing = 1e-7;  // m
    if (!(inner(arrives, arrives) > vanishing * vanishing)) return found;
    const bool from_below = event == Event::leaves || event == Event::off_underside;
    const bool goes_down = event == Event::enters || event == Event::off_underside;
    if (from_below == (inner(normal, arrives) > 0.0) || goes_down != (inner(normal, leaves) > 0.0)) return found;
    found.shares[k] = share_of(event, route.modes[k], route.modes[k + 1], normal, arrives, leaves);
  }
  for (std::size_t k = 0; k <= route.count; ++k) {
    if (!free(route.modes[k], found.places[k], found.places[k + 1])) return found;
  }
  found.time = time;
  return found;
}

Way SpaceTimes::straight(std::size_t element, char mode, const Spot& to) const {
  Way way;
  const Spot& from = elements_[element];
  if (backwall_ != nullptr && backwall_->blocks(from, to)) return way;
  way.reach = distance(from, to);
  way.time = way.reach / velocity(mode);
  way.first = to;
  way.last = from;
  return way;
}

Way SpaceTimes::side(std::size_t element, const std::string& modes, const Spot& to) const {
  if (surface_ == nullptr && modes.size() == 1) return straight(element, modes[0], to);
  // The search goes over the samples of the last shape before the place.
  const SampledShape& last = modes.size() == 1 ? *surface_ : modes.size() == 2 ? *backwall_ : *underside_;
  const std::vector<double>& known = modes.size() == 1   ? above_[element]
                                     : modes.size() == 2 ? down_.at(modes[0])[element]
                                                         : from_below_.at(modes.substr(0, 2))[element];
  const double slowness = 1.0 / velocity(modes.back());
  std::vector<double> times(known.size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = known[k] + distance(last.samples()[k], to) * slowness;
  Way best;
  std::vector<std::size_t> minima = last.local_minima(times);
  minima.resize(std::min(minima.size(), most_followed));
  for (const std::size_t sample : minima) {
    Route route;
    route.modes = (surface_ != nullptr ? "C" : "") + modes;
    const std::size_t turn = modes.size() == 2   ? sample
                             : modes.size() == 3 ? turn_before(element, modes[0], modes[1], last.samples()[sample])
                                                 : 0;
    if (surface_ != nullptr) {
      route.add(Event::enters, modes.size() == 1 ? sample : entry_before(element, modes[0], backwall_->samples()[turn]));
    }
    if (modes.size() > 1) route.add(Event::off_backwall, turn);
    if (modes.size() > 2) route.add(Event::off_underside, sample);
    const Found found = follow(route, elements_[element], to);
    if (std::isnan(found.time) || best.time <= found.time) continue;
    best = Way{found.time, found.places[1], found.places[route.count], 0.0, 1.0};
    const double own = velocity(route.modes[0]);
    for (std::size_t k = 0; k <= route.count; ++k)
      best.reach += distance(found.places[k], found.places[k + 1]) * velocity(route.modes[k]) / own;
    for (std::size_t k = 0; k < route.count; ++k) best.share *= found.shares[k];
  }
  return best;
}

std::optional<WallWay> SpaceTimes::front_echo(std::size_t transmit, std::size_t receive) const {
  if (surface_ == nullptr) return std::nullopt;
  std::vector<double> times(surface_->samples().size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = above_[transmit][k] + above_[receive][k];
  for (const std::size_t sample : surface_->local_minima(times)) {
    Route route;
    route.modes = "CC";
    route.add(Event::off_front, sample);
    const Found found = follow(route, elements_[transmit], elements_[receive]);
    if (std::isnan(found.time)) continue;
    const double out = distance(found.places[0], found.places[1]);
    const double back = distance(found.places[1], found.places[2]);
    const double in_couplant = scene_.couplant.value;
    return WallWay{{out / in_couplant, found.places[1], found.places[0], out, 1.0},
                   {back / in_couplant, found.places[1], found.places[2], back, 1.0},
                   found.shares[0]};
  }
  return std::nullopt;
}

std::optional<WallWay> SpaceTimes::backwall_echo(std::size_t transmit, std::size_t receive, char down, char up) const {
  if (backwall_ == nullptr) return std::nullopt;
  const std::vector<double>& out = down_.at(down)[transmit];
  const std::vector<double>& back = down_.at(up)[receive];
  std::vector<double> times(out.size());
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = out[k] + back[k];
  for (const std::size_t sample : backwall_->local_minima(times)) {
    const Spot& turn = backwall_->samples()[sample];
    Route route;
    route.modes = surface_ != nullptr ? std::string{'C', down, up, 'C'} : std::string{down, up};
    if (surface_ != nullptr) route.add(Event::enters, entry_before(transmit, down, turn));
    route.add(Event::off_backwall, sample);
    if (surface_ != nullptr) route.add(Event::leaves, entry_before(receive, up, turn));
    const Found found = follow(route, elements_[transmit], elements_[receive]);
    if (std::isnan(found.time)) continue;
    const std::size_t wall = surface_ != nullptr ? 2 : 1;  // index among the places
    WallWay way;
    way.transmit.first = found.places[1];
    way.receive.first = found.places[route.count];
    way.transmit.time = way.receive.time = 0.0;
    for (std::size_t k = 0; k <= route.count; ++k) {
      const double leg = distance(found.places[k], found.places[k + 1]);
      Way& own = k < wall ? way.transmit : way.receive;
      own.time += leg / velocity(route.modes[k]);
      own.reach += leg * velocity(route.modes[k]) / velocity(k < wall ? route.modes.front() : route.modes.back());
    }
    way.transmit.last = way.receive.last = found.places[wall];
    way.share = found.shares[wall - 1];
    if (surface_ != nullptr) {
      way.transmit.share = found.shares[0];
      way.receive.share = found.shares[2];
    }
    return way;
  }
  return std::nullopt;
}

}  // namespace echoform::simulated
