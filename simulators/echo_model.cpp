#include "simulators/echo_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform {
namespace {

double length(const Point& from, const Point& to) {
  return std::hypot((to.x - from.x).value, (to.y - from.y).value, (to.z - from.z).value);
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::abs(angle) < 1e-8 ? 1.0 : std::sin(angle) / angle;
}

}  // namespace

double element_directivity(const Element& element, const Point& place, Metres wavelength) {
  const double dx = (place.x - element.centre.x).value;
  const double dy = (place.y - element.centre.y).value;
  const double dz = (place.z - element.centre.z).value;
  const Direction& n = element.normal;
  const double cosine = (dx * n.x + dy * n.y + dz * n.z) / (std::hypot(dx, dy, dz) * std::hypot(n.x, n.y, n.z));
  if (!(cosine > 0.0)) return 0.0;
  const double sine = std::sqrt(std::max(0.0, 1.0 - cosine * cosine));
  if (dy == 0.0) return sinc(element.width / wavelength * sine) * cosine;
  // The width lies along n rotated by a right angle in the plane of x and z; the length is perpendicular to both.
  const double long_way = std::hypot(dx, dy, dz);
  const double ux = n.z / std::hypot(n.x, n.z);
  const double uz = -n.x / std::hypot(n.x, n.z);
  const double along = (dx * ux + dz * uz) / long_way;
  const double across = (dx * n.y * uz + dy * (n.z * ux - n.x * uz) - dz * n.y * ux) / (long_way * std::hypot(n.x, n.y, n.z));
  return sinc(element.width / wavelength * along) * sinc(element.length / wavelength * across) * cosine;
}

double spreading_factor(Spreading spreading, Metres path, Metres wavelength) {
  const double ratio = spreading_reference / std::max(path, wavelength / 4.0);
  switch (spreading) {
    case Spreading::cylindrical:
      return std::sqrt(ratio);
    case Spreading::spherical:
      return ratio;
    case Spreading::none:
      break;
  }
  return 1.0;
}

Point specular_point(const Point& hole_centre, Metres radius, const Point& transmit, const Point& receive) {
  // The cylinder has no curvature along y, so y divides in the ratio of the in-plane legs.
  double x = hole_centre.x.value;
  double z = hole_centre.z.value;
  double leg_transmit = 1.0;
  double leg_receive = 1.0;
  // The first pass takes directions from the centre (the far field); each further one divides the error by about r / radius.
  for (int pass = 0; pass < 12; ++pass) {
    const double tx = transmit.x.value - x;
    const double tz = transmit.z.value - z;
    const double rx = receive.x.value - x;
    const double rz = receive.z.value - z;
    leg_transmit = std::hypot(tx, tz);
    leg_receive = std::hypot(rx, rz);
    double nx = tx / leg_transmit + rx / leg_receive;
    double nz = tz / leg_transmit + rz / leg_receive;
    const double norm = std::hypot(nx, nz);
    if (!(norm > 1e-12)) break;  // the elements face each other across the hole: nothing is reflected
    nx /= norm;
    nz /= norm;
    const double next_x = hole_centre.x.value + radius.value * nx;
    const double next_z = hole_centre.z.value + radius.value * nz;
    const double change = std::hypot(next_x - x, next_z - z);
    x = next_x;
    z = next_z;
    if (pass > 0 && change < 1e-9 * radius.value) break;
  }
  const double share = leg_transmit / (leg_transmit + leg_receive);
  return {Metres(x), transmit.y + (receive.y - transmit.y) * share, Metres(z)};
}

EchoModel::EchoModel(const Probe& probe, const EchoModelOptions& options, const Phantom& phantom, double phase)
    : elements_(probe.elements),
      options_(options),
      wavelength_(options.velocity / probe.centre_frequency),
      backwalls_(phantom.backwalls) {
  for (const auto& true_position : true_positions(phantom, phase)) {
    const std::size_t scatterer = reflectivities_.size();
    if (true_position.kind == ReflectorKind::point) {
      reflectivities_.push_back(phantom.points[scatterer].reflectivity);
      for (const Element& element : elements_) legs_.push_back(leg(element, true_position.centre));
    } else if (true_position.kind == ReflectorKind::hole) {
      const auto& hole = phantom.holes[holes_.size()];
      holes_.push_back({true_position.centre, hole.radius, hole.reflectivity});
    }
  }
}

EchoModel::Leg EchoModel::leg(const Element& element, const Point& place) const {
  const double path = length(element.centre, place);
  const double directivity = options_.directivity ? element_directivity(element, place, wavelength_) : 1.0;
  return {path / options_.velocity.value, directivity * spreading_factor(options_.spreading, Metres(path), wavelength_)};
}

void EchoModel::echoes(std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const {
  echoes.clear();
  const Element& from = elements_[transmit];
  const Element& to = elements_[receive];
  const auto add = [&](double time, double amplitude) {
    if (amplitude != 0.0) echoes.push_back({time, amplitude});
  };

  const std::size_t n = elements_.size();
  for (std::size_t k = 0; k < reflectivities_.size(); ++k) {
    const Leg& out = legs_[k * n + transmit];
    const Leg& back = legs_[k * n + receive];
    add(out.time + back.time, reflectivities_[k] * (out.factor * back.factor));
  }

  for (const Hole& hole : holes_) {
    const Point mirror = specular_point(hole.centre, hole.radius, from.centre, to.centre);
    const Leg out = leg(from, mirror);
    const Leg back = leg(to, mirror);
    // cos of half the angle between the legs is the cosine of incidence on the surface.
    const double nx = (mirror.x - hole.centre.x) / hole.radius;
    const double nz = (mirror.z - hole.centre.z) / hole.radius;
    const double tx = (from.centre.x - mirror.x).value;
    const double tz = (from.centre.z - mirror.z).value;
    const double cosine = (tx * nx + tz * nz) / length(mirror, from.centre);
    add(out.time + back.time, hole.reflectivity * std::sqrt(std::max(0.0, cosine)) * (out.factor * back.factor));
  }

  for (const Backwall& wall : backwalls_) {
    const double below_from = (wall.depth - from.centre.z).value;
    const double below_to = (wall.depth - to.centre.z).value;
    const Point image{to.centre.x, to.centre.y, 2.0 * wall.depth - to.centre.z};
    const double share = below_from / (below_from + below_to);
    const Point mirror{from.centre.x + (to.centre.x - from.centre.x) * share,
                       from.centre.y + (to.centre.y - from.centre.y) * share, wall.depth};
    if (mirror.x < wall.x_first || mirror.x > wall.x_last) continue;
    const double path = length(from.centre, image);
    const double directivity = options_.directivity
                                   ? element_directivity(from, mirror, wavelength_) * element_directivity(to, mirror, wavelength_)
                                   : 1.0;
    add(path / options_.velocity.value,
        wall.reflectivity * directivity * spreading_factor(options_.spreading, Metres(path), wavelength_));
  }
}

}  // namespace echoform
