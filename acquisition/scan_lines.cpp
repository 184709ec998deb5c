#include "acquisition/scan_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/fitted_wave.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr Hertz usual_frequency(10e6);

/// The elements that fire, in the probe's frame.
struct Aperture {
  ProbeFrame frame;
  bool flat = true;
  std::vector<Point> places;
  std::vector<Firing> firings;
  Point centre;
  Direction normal;

  Aperture(const Acquisition& acquisition, std::size_t event)
      : frame(frame_of(acquisition.probe)), firings(firings_of(acquisition, event)) {
    flat = is_flat(acquisition.probe, frame);
    Direction sum{0.0, 0.0, 0.0};
    for (const Firing& firing : firings) {
      const Element& element = acquisition.probe.elements[firing.element];
      const Point place = frame.to_probe(element.centre);
      places.push_back(place);
      centre = {centre.x + place.x, centre.y + place.y, centre.z + place.z};
      const Direction& n = element.normal;
      sum = {sum.x + dot(n, frame.x), sum.y + dot(n, frame.y), sum.z + dot(n, frame.z)};
    }
    const double share = 1.0 / static_cast<double>(places.size());
    centre = {share * centre.x, share * centre.y, share * centre.z};
    normal = unit(sum);
  }

  /// Point where the line through the centre leaves the elements; the elements nearest to the line determine it.
  [[nodiscard]] Point origin_along(const Direction& direction) const {
    if (flat) return centre;
    const auto beside = [&](const Point& place) { return length(across(between(centre, place), direction)); };
    double nearest = std::numeric_limits<double>::infinity();
    for (const Point& place : places) nearest = std::min(nearest, beside(place));
    double sum = 0.0;
    double count = 0.0;
    for (const Point& place : places) {
      if (beside(place) > nearest * (1.0 + 1e-6) + 1e-9) continue;
      sum += dot(between(centre, place), direction);
      count += 1.0;
    }
    const double by = sum / count;
    return {centre.x + Metres(by * direction.x), centre.y + Metres(by * direction.y), centre.z + Metres(by * direction.z)};
  }
};

struct FormDirection {
  const Acquisition& acquisition;
  const Aperture& aperture;
  MetresPerSecond velocity;

  std::optional<Direction> operator()(const ElementEvent& /*event*/) const { return aperture.normal; }
  std::optional<Direction> operator()(const PlaneWaveEvent& event) const {
    const double x = event.slowness_x * velocity.value;
    const double y = event.slowness_y * velocity.value;
    const double rest = 1.0 - x * x - y * y;
    return rest < 0.0 ? std::nullopt : std::optional(Direction{x, y, std::sqrt(rest)});
  }
  std::optional<Direction> operator()(const PointWaveEvent& event) const {
    const bool ahead = event.point.z.value > 0.0;
    const Direction way = ahead ? between(aperture.centre, event.point) : between(event.point, aperture.centre);
    // A virtual source at the centre gives no direction.
    return length(way) > 1e-9 ? unit(way) : aperture.normal;
  }
  std::optional<Direction> operator()(const LawEvent& event) const {
    if (is_code(TransmitForm(event))) return std::nullopt;
    if (aperture.places.size() == 1) return aperture.normal;
    std::vector<DelayedPlace> places;
    for (std::size_t i = 0; i < aperture.places.size(); ++i) {
      places.push_back({between(aperture.centre, aperture.places[i]), aperture.firings[i].delay});
    }
    const std::optional<FittedWave> wave = fit_wave(places, velocity);
    const Hertz known = acquisition.probe.centre_frequency;
    const double period = 1.0 / (known.value > 0.0 ? known : usual_frequency).value;
    return wave && wave->residual.value <= 0.25 * period ? std::optional(wave->direction) : std::nullopt;
  }
  std::optional<Direction> operator()(const CodeEvent& /*event*/) const { return std::nullopt; }
  std::optional<Direction> operator()(const PassiveEvent& /*event*/) const { return std::nullopt; }
};

}  // namespace

std::optional<ScanLine> line_of_event(const Acquisition& acquisition, std::size_t event, MetresPerSecond velocity) {
  const Aperture aperture(acquisition, event);
  if (acquisition.events.empty()) return ScanLine{aperture.centre, aperture.normal};
  const std::optional<Direction> direction =
      std::visit(FormDirection{acquisition, aperture, velocity}, acquisition.events[event].form);
  if (!direction) return std::nullopt;
  return ScanLine{aperture.origin_along(*direction), *direction};
}

}  // namespace echoform
