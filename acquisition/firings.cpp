#include "acquisition/firings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace echoform {
namespace {

double length(const Point& p) {
  return std::sqrt(p.x.value * p.x.value + p.y.value * p.y.value + p.z.value * p.z.value);
}

double distance(const Point& a, const Point& b) {
  return length({a.x - b.x, a.y - b.y, a.z - b.z});
}

/// Time at which the wave passes a place in the probe's frame; 0 at the frame's origin.
double passes(const PlaneWaveEvent& event, const Point& place) {
  return event.slowness_x * place.x.value + event.slowness_y * place.y.value + event.slowness_z * place.z.value;
}

double passes(const PointWaveEvent& event, const Point& place) {
  const double longer = distance(place, event.point) - length(event.point);
  return (event.point.z.value > 0.0 ? -longer : longer) / event.velocity.value;
}

/// Calls body(element) for each element that fires.
template <class Event, class Body>
void for_each_firing(const Event& event, const Probe& probe, const Body& body) {
  if (event.elements.empty()) {
    for (std::uint32_t element = 0; element < probe.elements.size(); ++element) body(element);
  } else {
    for (const std::uint32_t element : event.elements) body(element);
  }
}

template <class Event>
Seconds origin_delay(const Event& event, const Probe& probe, const ProbeFrame& frame) {
  if (event.delay) return *event.delay;
  double earliest = std::numeric_limits<double>::infinity();
  for_each_firing(event, probe, [&](std::uint32_t element) {
    earliest = std::min(earliest, passes(event, frame.to_probe(probe.elements[element].centre)));
  });
  return Seconds(-earliest);
}

template <class Event>
std::vector<Firing> wave_firings(const Event& event, const Probe& probe) {
  const ProbeFrame frame = frame_of(probe);
  const double at_origin = origin_delay(event, probe, frame).value;
  std::vector<Firing> firings;
  for_each_firing(event, probe, [&](std::uint32_t element) {
    firings.push_back({element, at_origin + passes(event, frame.to_probe(probe.elements[element].centre)), 1.0});
  });
  return firings;
}

struct FormFirings {
  const Probe& probe;

  std::vector<Firing> operator()(const ElementEvent& event) const { return {{event.element, 0.0, 1.0}}; }
  std::vector<Firing> operator()(const PlaneWaveEvent& event) const { return wave_firings(event, probe); }
  std::vector<Firing> operator()(const PointWaveEvent& event) const { return wave_firings(event, probe); }
  std::vector<Firing> operator()(const LawEvent& event) const {
    std::vector<Firing> firings;
    for (std::size_t k = 0; k < event.elements.size(); ++k) {
      firings.push_back({event.elements[k], event.delays.empty() ? 0.0 : static_cast<double>(event.delays[k]),
                         event.weights.empty() ? 1.0 : static_cast<double>(event.weights[k])});
    }
    return firings;
  }
  std::vector<Firing> operator()(const CodeEvent& event) const {
    std::vector<Firing> firings;
    for (std::uint32_t element = 0; element < event.signs.size(); ++element) {
      if (event.signs[element] != 0) firings.push_back({element, 0.0, static_cast<double>(event.signs[element])});
    }
    return firings;
  }
  std::vector<Firing> operator()(const PassiveEvent& /*event*/) const { return {}; }
};

}  // namespace

std::vector<Firing> firings_of(const Acquisition& acquisition, std::size_t event) {
  if (acquisition.events.empty()) return {{static_cast<std::uint32_t>(event), 0.0, 1.0}};
  return std::visit(FormFirings{acquisition.probe}, acquisition.events[event].form);
}

float polarity_of(const Acquisition& acquisition, std::size_t event) {
  const auto* const law = acquisition.events.empty() ? nullptr : std::get_if<LawEvent>(&acquisition.events[event].form);
  const bool inverted =
      law != nullptr && !law->weights.empty() && std::ranges::all_of(law->weights, [](float weight) { return weight < 0.0F; });
  return inverted ? -1.0F : 1.0F;
}

std::vector<std::uint32_t> chosen_or_all_events(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  std::vector<std::uint32_t> events(chosen.begin(), chosen.end());
  if (!events.empty()) return events;
  events.resize(acquisition.event_count());
  std::iota(events.begin(), events.end(), 0U);
  return events;
}

Seconds delay_at_origin(const PlaneWaveEvent& event, const Probe& probe, const ProbeFrame& frame) {
  return origin_delay(event, probe, frame);
}

Seconds delay_at_origin(const PointWaveEvent& event, const Probe& probe, const ProbeFrame& frame) {
  return origin_delay(event, probe, frame);
}

bool coded(const Acquisition& acquisition) {
  return std::ranges::any_of(acquisition.events, [](const TransmitEvent& event) { return is_code(event.form); });
}

std::optional<std::string> bond_of_events(const Acquisition& acquisition) {
  if (acquisition.pairs_once()) return "half a matrix: each of its A-scans stands for two events";
  if (coded(acquisition)) return "a code: all of its rows are needed to tell elements apart";
  return std::nullopt;
}

bool fires_single_elements(const Acquisition& acquisition) {
  return std::ranges::all_of(acquisition.events,
                             [](const TransmitEvent& event) { return std::holds_alternative<ElementEvent>(event.form); });
}

bool received_by_all(const Acquisition& acquisition) {
  return std::ranges::all_of(acquisition.events, [&](const TransmitEvent& event) {
    return event.receivers.empty() || event.receivers.size() == acquisition.elements();
  });
}

bool is_pulse_echo(std::span<const TransmitEvent> events) {
  const auto echoes = [](const TransmitEvent& event) {
    const auto* const firing = std::get_if<ElementEvent>(&event.form);
    return firing != nullptr && event.receivers.size() == 1 && event.receivers.front() == firing->element;
  };
  return !events.empty() && std::ranges::all_of(events, echoes);
}

bool launches_waves(const Acquisition& acquisition) {
  return !fires_single_elements(acquisition) && !coded(acquisition);
}

}  // namespace echoform
