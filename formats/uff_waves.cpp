#include "formats/uff_waves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "acquisition/firings.hpp"
#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform::formats {
namespace {

constexpr double deep_source = -1e-3;      // metres: a source farther behind z = 0 counts as a virtual source
constexpr double longest_uff_delay = 1.0;  // seconds, the limit for all times of an acquisition
constexpr double same_place = 10e-6;       // metres: USTB uses single precision
constexpr double single_precision = 1e-6;

/// o |v|, in metres, where o is -1 for a virtual source and otherwise 1.
double way_to_origin(const Direction& source) {
  return source.z < deep_source ? -length(source) : length(source);
}

/// The place as readers of the file compute it, since rounding decides on which side of `deep_source` it is.
Direction place_of(const UffPoint& point) {
  return scaled(direction_to(point), point.distance);
}

Direction from_origin(const Point& place) {
  return {place.x.value, place.y.value, place.z.value};
}

std::optional<std::uint32_t> element_at(const Direction& place, const Probe& probe) {
  std::optional<std::uint32_t> nearest;
  double least = same_place;
  for (std::size_t k = 0; k < probe.elements.size(); ++k) {
    const Direction centre = from_origin(probe.elements[k].centre);
    const double away = length(Direction{centre.x - place.x, centre.y - place.y, centre.z - place.z});
    if (away > least) continue;
    least = away;
    nearest = static_cast<std::uint32_t>(k);
  }
  return nearest;
}

/// An element that fires at `time` on the clock of the samples.
struct Lone {
  std::uint32_t element = 0;
  double time = 0.0;
};

/// The distance in metres that a wave travels from its point to the probe's origin, negative if it passes the origin before the
/// point (z > 0). PointWaveEvent::delay is the time at the origin.
double way_from_probe(const Point& in_probe) {
  const double way = length(from_origin(in_probe));
  return in_probe.z.value > 0.0 ? -way : way;
}

class EventMaker {
 public:
  EventMaker(const Probe& probe, Seconds same_time, std::string where)
      : probe_(probe),
        frame_(frame_of(probe)),
        flat_(is_flat(probe, frame_)),
        same_time_(same_time.value),
        where_(std::move(where)) {}

  UffEvents make(std::span<const UffWave> waves) {
    const auto light = static_cast<std::size_t>(
        std::ranges::count(waves, UffWavefront::photoacoustic, [](const UffWave& wave) { return wave.wavefront; }));
    if (light == waves.size()) return of_light(waves);
    if (light > 0) throw InputError(where_, fmt::format("{} photoacoustic waves beside others", light), "those alone, or none");
    std::vector<std::optional<Lone>> lone;
    for (const UffWave& wave : waves) lone.push_back(lone_of(wave));
    UffEvents made;
    // If the frame is a matrix, its times count from each element's own firing.
    if (std::ranges::all_of(lone, [](const auto& one) { return one.has_value(); }))
      made.zero = Seconds(std::ranges::min(lone, {}, [](const auto& one) { return one->time; })->time);
    std::vector<bool> fired(probe_.elements.size());
    for (std::size_t k = 0; k < waves.size(); ++k) {
      made.events.push_back({lone[k] ? element_form(*lone[k], made.zero.value, fired) : form_of(waves[k], k), {}});
    }
    if (is_matrix(made.events)) made.events.clear();
    return made;
  }

 private:
  UffEvents of_light(std::span<const UffWave> waves) const {
    for (std::size_t k = 0; k < waves.size(); ++k) {
      if (std::abs(waves[k].delay - waves[0].delay) <= same_time_) continue;
      throw InputError(where_,
                       fmt::format("light at {} s in wave {} and at {} s in wave 1", waves[k].delay, k + 1, waves[0].delay),
                       "one time of all");
    }
    return {std::vector<TransmitEvent>(waves.size(), {PassiveEvent{}, {}}), Seconds(-waves[0].delay)};
  }

  [[nodiscard]] std::optional<Lone> lone_of(const UffWave& wave) const {
    if (wave.wavefront != UffWavefront::spherical || std::isinf(wave.source.distance)) return std::nullopt;
    const Direction source = place_of(wave.source);
    const auto element = element_at(source, probe_);
    if (!element) return std::nullopt;
    return Lone{*element, way_to_origin(source) / wave.speed - wave.delay};
  }

  TransmitForm element_form(const Lone& lone, double zero, std::vector<bool>& fired) const {
    const bool at_zero = std::abs(lone.time - zero) <= same_time_;
    if (!at_zero || fired[lone.element]) {
      if (!(std::abs(lone.time - zero) < longest_uff_delay)) {
        throw InputError(where_, fmt::format("element {} firing {:g} s after the first", lone.element, lone.time - zero),
                         fmt::format("less than {:g} s", longest_uff_delay));
      }
      LawEvent law{{lone.element}, {}, {}};
      if (!at_zero) law.delays = {static_cast<float>(lone.time - zero)};
      return law;
    }
    fired[lone.element] = true;
    return ElementEvent{lone.element};
  }

  [[nodiscard]] TransmitForm form_of(const UffWave& wave, std::size_t number) const {
    const Direction direction = direction_to(wave.source);
    if (wave.wavefront == UffWavefront::plane || std::isinf(wave.source.distance)) {
      const double ahead = dot(direction, frame_.z);
      // With a curved array the wave must travel ahead, since otherwise its delays do not determine its direction.
      if (ahead < (flat_ ? -single_precision : single_precision)) {
        throw InputError(where_, fmt::format("wave {}, a plane one that runs away from the part", number + 1),
                         "directions that the probe emits in");
      }
      const double to_probe = dot(direction, from_origin(frame_.origin)) / wave.speed;
      return PlaneWaveEvent{dot(direction, frame_.x) / wave.speed,
                            dot(direction, frame_.y) / wave.speed,
                            Seconds(to_probe - wave.delay),
                            {},
                            flat_ ? 0.0 : ahead / wave.speed};
    }
    const Direction source = place_of(wave.source);
    const Point in_probe = frame_.to_probe({Metres(source.x), Metres(source.y), Metres(source.z)});
    return PointWaveEvent{in_probe,
                          MetresPerSecond(wave.speed),
                          Seconds((way_to_origin(source) + way_from_probe(in_probe)) / wave.speed - wave.delay),
                          {}};
  }

  [[nodiscard]] bool is_matrix(std::span<const TransmitEvent> events) const {
    if (events.size() != probe_.elements.size()) return false;
    for (std::size_t k = 0; k < events.size(); ++k) {
      const auto* const element = std::get_if<ElementEvent>(&events[k].form);
      if (element == nullptr || element->element != k) return false;
    }
    return true;
  }

  const Probe& probe_;
  ProbeFrame frame_;
  bool flat_;
  double same_time_;
  std::string where_;
};

class WaveMaker {
 public:
  WaveMaker(const Acquisition& acquisition, MetresPerSecond velocity, const std::string& where)
      : probe_(acquisition.probe), frame_(frame_of(acquisition.probe)), velocity_(velocity.value), where_(where) {}

  UffWave operator()(const ElementEvent& event) const { return of_element(event.element, 0.0); }
  UffWave operator()(const LawEvent& event) const {
    const bool plain = event.weights.empty() || event.weights.front() == 1.0F;
    if (event.elements.size() != 1 || !plain) refuse("a law of delays and weights");
    return of_element(event.elements.front(), event.delays.empty() ? 0.0 : static_cast<double>(event.delays.front()));
  }
  UffWave operator()(const PlaneWaveEvent& event) const {
    // Delays of a curved array hold for one velocity.
    const double velocity =
        event.slowness_z > 0.0 ? 1.0 / length(Direction{event.slowness_x, event.slowness_y, event.slowness_z}) : velocity_;
    const double x = event.slowness_x * velocity;
    const double y = event.slowness_y * velocity;
    const double ahead = 1.0 - x * x - y * y;
    if (!(ahead >= 0.0)) {
      throw InputError(where_,
                       fmt::format("a plane wave of {:.4g} s/m along the probe", std::hypot(event.slowness_x, event.slowness_y)),
                       fmt::format("at most {:.4g}, or it does not run on at {:g} m/s", 1.0 / velocity, velocity));
    }
    const Direction direction = frame_.to_global(Direction{x, y, std::sqrt(ahead)});
    const double passes = delay_at_origin(event, probe_, frame_).value;  // when the wave passes the probe's origin
    return {UffWavefront::plane, point_towards(direction, HUGE_VAL),
            dot(direction, from_origin(frame_.origin)) / velocity - passes, velocity};
  }
  UffWave operator()(const PointWaveEvent& event) const {
    const UffPoint source = point_to(from_origin(frame_.to_global(event.point)));
    const double passes = delay_at_origin(event, probe_, frame_).value;
    return {UffWavefront::spherical, source,
            (way_to_origin(place_of(source)) + way_from_probe(event.point)) / event.velocity.value - passes,
            event.velocity.value};
  }
  UffWave operator()(const CodeEvent& /*event*/) const { refuse("a row of a code"); }
  UffWave operator()(const PassiveEvent& /*event*/) const { return {UffWavefront::photoacoustic, {}, 0.0, velocity_}; }

 private:
  static UffPoint point_to(const Direction& place) {
    const double distance = length(place);
    return distance > 0.0 ? point_towards(scaled(place, 1.0 / distance), distance) : UffPoint{};
  }
  [[nodiscard]] UffWave of_element(std::uint32_t element, double time) const {
    const UffPoint place = point_to(from_origin(probe_.elements[element].centre));
    return {UffWavefront::spherical, place, way_to_origin(place_of(place)) / velocity_ - time, velocity_};
  }
  [[noreturn]] void refuse(const char* found) const {
    throw InputError(where_, found,
                     "plane, diverging and focused waves, single elements and light (.mfmc and .efcap hold others)");
  }

  const Probe& probe_;
  ProbeFrame frame_;
  double velocity_;
  const std::string& where_;
};

}  // namespace

Direction direction_to(const UffPoint& point) {
  const double level = std::cos(point.elevation);
  return {std::sin(point.azimuth) * level, std::sin(point.elevation), std::cos(point.azimuth) * level};
}

UffPoint point_towards(const Direction& direction, double distance) {
  return {distance, std::atan2(direction.x, direction.z), std::atan2(direction.y, std::hypot(direction.x, direction.z))};
}

UffEvents events_of(std::span<const UffWave> waves, const Probe& probe, Seconds same_time, const std::string& where) {
  return EventMaker(probe, same_time, where).make(waves);
}

std::vector<UffWave> waves_of(const Acquisition& acquisition, MetresPerSecond velocity, const std::string& where) {
  std::vector<UffWave> waves;
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    const std::string place = fmt::format("{}, event {}", where, event);
    const WaveMaker make(acquisition, velocity, place);
    waves.push_back(acquisition.events.empty() ? make(ElementEvent{static_cast<std::uint32_t>(event)})
                                               : std::visit(make, acquisition.events[event].form));
  }
  return waves;
}

}  // namespace echoform::formats
