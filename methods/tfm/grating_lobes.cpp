#include "methods/tfm/grating_lobes.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "methods/array_shape.hpp"
#include "methods/tfm/setup_figures.hpp"

namespace echoform {
namespace {

/// Number of orders examined on either side; an array's pitch never has more wavelengths.
constexpr int most_orders = 32;
constexpr double degrees_per_radian = 180.0 / std::numbers::pi;

Vector2 flat(const Point& point) {
  return {point.x.value, point.z.value};
}

Vector2 unit(Vector2 a) {
  return (1.0 / length(a)) * a;
}

/// Whether the last element stands before the first one in the order of array_rows().
bool runs_backwards(const Probe& probe) {
  const Element& first = probe.elements.front();
  const Vector2 way = flat(probe.elements.back().centre) - flat(first.centre);
  return dot(way, {first.normal.z, -first.normal.x}) < 0.0;
}

/// Some elements of an array, at least one, as a line in the plane of x and z.
struct ArrayLine {
  Vector2 centre;
  Vector2 along;  ///< towards the last element
  Vector2 normal;

  ArrayLine(const Probe& probe, const std::vector<bool>& elements) {
    const auto rows = array_rows(probe, elements);
    Vector2 first = rows.front().at;
    Vector2 last = rows.back().at;
    if (runs_backwards(probe)) std::swap(first, last);
    const Direction& emits = probe.elements.front().normal;
    centre = 0.5 * (first + last);
    normal = unit({emits.x, emits.z});
    along = length(last - first) > 0.0 ? unit(last - first) : Vector2{normal.z, -normal.x};
  }
};

struct LobeMeeting {
  double path = std::numeric_limits<double>::infinity();
  Vector2 tangent;
};

/// Where a ray along a unit vector first meets a surface, by the chords between its nodes.
std::optional<LobeMeeting> meet(const Surface& surface, Vector2 from, Vector2 direction) {
  LobeMeeting nearest;
  const auto& nodes = surface.nodes();
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    const Vector2 chord = nodes[k].at - nodes[k - 1].at;
    const double turn = cross(direction, chord);
    if (turn == 0.0) continue;
    const Vector2 to_chord = nodes[k - 1].at - from;
    const double path = cross(to_chord, chord) / turn;
    const double share = cross(to_chord, direction) / turn;
    if (path > 0.0 && share >= 0.0 && share <= 1.0 && path < nearest.path) nearest = {path, unit(chord)};
  }
  return nearest.path < std::numeric_limits<double>::infinity() ? std::optional(nearest) : std::nullopt;
}

/// Adds the lobes behind the surface that a ray which leaves at `sine` causes.
void refract(const ArrayLine& array, const Scene& scene, const Material& material, double sine,
             std::vector<EnteringLobe>& entering) {
  const Vector2 direction = sine * array.along + std::sqrt(1.0 - sine * sine) * array.normal;
  const auto meeting = meet(*scene.surface, array.centre, direction);
  if (!meeting) return;
  Vector2 inwards{-meeting->tangent.z, meeting->tangent.x};
  if (dot(inwards, direction) < 0.0) inwards = -1.0 * inwards;
  for (const auto& [mode, velocity] : {std::pair{'L', material.longitudinal_velocity}, std::pair{'T', material.shear_velocity}}) {
    const double refracted = dot(direction, meeting->tangent) * (velocity / scene.couplant);
    if (!(velocity.value > 0.0) || std::abs(refracted) >= 1.0) continue;
    const Vector2 way = refracted * meeting->tangent + std::sqrt(1.0 - refracted * refracted) * inwards;
    entering.push_back({std::asin(sine) * degrees_per_radian, mode, std::atan2(way.x, way.z) * degrees_per_radian});
  }
}

}  // namespace

std::optional<double> departure_sine(const Leg& leg, const Probe& probe, const std::vector<bool>& elements, const Point& pixel,
                                     MetresPerSecond velocity) {
  double later = 0.0;  // seconds, over `way`
  double way = 0.0;
  std::vector<double> times(leg.sources(), std::numeric_limits<double>::quiet_NaN());
  std::vector<bool> reaching(leg.sources(), false);
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (!elements[source]) continue;
    leg.travel_times(source, {&pixel, 1}, {&times[source], 1});
    reaching[source] = !std::isnan(times[source]);
  }
  std::optional<std::pair<Vector2, double>> before;
  for (const ArrayRow& row : array_rows(probe, reaching)) {
    double time = 0.0;  // the mean
    for (const std::size_t source : row.elements) time += times[source] / static_cast<double>(row.elements.size());
    if (before) {
      later += time - before->second;
      way += length(row.at - before->first);
    }
    before = {row.at, time};
  }
  if (!(way > 0.0)) return std::nullopt;
  return (runs_backwards(probe) ? 1.0 : -1.0) * velocity.value * later / way;
}

std::optional<Metres> couplant_path(const Probe& probe, const SpatialSurface& front) {
  Vector3 centre;
  for (const Element& element : probe.elements) {
    centre = centre + (1.0 / static_cast<double>(probe.elements.size())) * vector_of(element.centre);
  }
  constexpr double farthest = 10.0;  // m
  const auto way = way_into(front, centre, unit_of(vector_of(probe.elements.front().normal)), farthest);
  return way ? std::optional(Metres(*way)) : std::nullopt;
}

std::optional<Metres> couplant_path(const Probe& probe, const Surface& front) {
  const ArrayLine array(probe, std::vector<bool>(probe.elements.size(), true));
  const auto meeting = meet(front, array.centre, array.normal);
  return meeting ? std::optional(Metres(meeting->path)) : std::nullopt;
}

std::vector<EnteringLobe> entering_lobes(const Probe& probe, const std::vector<bool>& elements, const Scene& scene,
                                         const Material& material, double steered, Hertz frequency) {
  std::vector<EnteringLobe> entering;
  const ArrayShape shape = array_shape(subarray(probe, elements));
  if (!shape.even || !(shape.pitch.value > 0.0)) return entering;
  const ArrayLine array(probe, elements);
  const double apart = wavelength_of(scene.couplant, frequency) / shape.pitch;
  for (const double side : {-1.0, 1.0}) {
    int order = 0;
    for (double sine = steered + side * apart; std::abs(sine) < 1.0 && order < most_orders; sine += side * apart, ++order) {
      refract(array, scene, material, sine, entering);
    }
  }
  return entering;
}

}  // namespace echoform
