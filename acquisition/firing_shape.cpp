#include "acquisition/firing_shape.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/directions.hpp"

namespace echoform {
namespace {

bool within_tolerance(double metres) {
  return std::abs(metres) <= flat_array_tolerance.value;
}

/// Mean of places, and the direction from it to the farthest place. There is no chord where all places coincide.
struct Chord {
  Point middle;
  Direction along;  ///< unit vector
};

std::optional<Chord> chord_of(const std::vector<Point>& places) {
  Chord chord;
  const double share = 1.0 / static_cast<double>(places.size());
  for (const Point& place : places) {
    chord.middle = {chord.middle.x + share * place.x, chord.middle.y + share * place.y, chord.middle.z + share * place.z};
  }
  Direction farthest{0.0, 0.0, 0.0};
  for (const Point& place : places) {
    const Direction from = between(chord.middle, place);
    if (length(from) > length(farthest)) farthest = from;
  }
  if (within_tolerance(length(farthest))) return std::nullopt;
  chord.along = unit(farthest);
  // The direction points towards +x, or else towards +y: rounding decides which element is farthest.
  const double leading = std::abs(chord.along.x) > 1e-6 ? chord.along.x : chord.along.y;
  if (leading < 0.0) chord.along = scaled(chord.along, -1.0);
  return chord;
}

bool lies_along(const Chord& chord, const std::vector<Point>& places) {
  return std::ranges::all_of(
      places, [&](const Point& place) { return within_tolerance(length(across(between(chord.middle, place), chord.along))); });
}

/// The frame whose x axis lies along the chord. The chord is stated in `frame`. There is no such frame where the chord lies along
/// the direction of emission.
std::optional<ProbeFrame> frame_along(const Chord& chord, const ProbeFrame& frame) {
  ProbeFrame along;
  along.origin = frame.to_global(chord.middle);
  along.x = frame.to_global(chord.along);
  const Direction ahead = across(frame.z, along.x);
  if (!(length(ahead) > 0.1)) return std::nullopt;
  along.z = unit(ahead);
  along.y = cross(along.z, along.x);
  return along;
}

}  // namespace

std::vector<Firing> living_firings(const Acquisition& acquisition, std::size_t event) {
  std::vector<Firing> firings = firings_of(acquisition, event);
  std::erase_if(firings, [&](const Firing& firing) { return acquisition.probe.elements[firing.element].dead; });
  return firings;
}

FiringPlaces places_of_firings(const Probe& probe, const ProbeFrame& frame, std::span<const Firing> firings) {
  if (firings.empty()) return {FiringShape::array, frame};
  std::vector<Point> places;
  for (const Firing& firing : firings) places.push_back(frame.to_probe(probe.elements[firing.element].centre));
  const auto all = [&](Metres Point::*axis) {
    return std::ranges::all_of(places, [axis](const Point& place) { return within_tolerance((place.*axis).value); });
  };
  const bool in_own_plane = all(&Point::y);
  if (in_own_plane && all(&Point::z)) return {FiringShape::row, frame};
  if (const auto chord = chord_of(places); chord && lies_along(*chord, places)) {
    if (const auto along = frame_along(*chord, frame)) return {FiringShape::row, *along};
  }
  if (in_own_plane) return {FiringShape::curve, frame};
  for (Point& place : places) place.z = Metres(0.0);
  if (const auto chord = chord_of(places); chord && lies_along(*chord, places)) {
    return {FiringShape::curve, *frame_along(*chord, frame)};
  }
  return {FiringShape::array, frame};
}

Direction sent_slowness(const PlaneWaveEvent& event, const ProbeFrame& frame, const FiringPlaces& places) {
  if (places.shape == FiringShape::array) return {event.slowness_x, event.slowness_y, 0.0};
  const Direction& along = places.frame.x;
  if (along == frame.x) return {event.slowness_x, 0.0, 0.0};
  return {
      event.slowness_x * dot(frame.x, along) + event.slowness_y * dot(frame.y, along) + event.slowness_z * dot(frame.z, along),
      0.0, 0.0};
}

}  // namespace echoform
