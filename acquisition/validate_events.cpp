#include "acquisition/validate_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/ranges.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double longest_delay = 1.0;  // seconds, the limit of all times of an acquisition

/// Checks one event after the other. What all events have in common is computed once.
class EventCheck {
 public:
  EventCheck(const Probe& probe, std::string_view where) : probe_(probe), where_(where), named_in_(probe.elements.size()) {}

  /// Starts the check of event number `event`.
  void begin(std::size_t event) noexcept { event_ = event; }

  void operator()(const ElementEvent& event) const { require_element(event.element, "element"); }

  void operator()(const PlaneWaveEvent& event) {
    for (const double slowness : {event.slowness_x, event.slowness_y}) {
      if (!std::isfinite(slowness) || std::abs(slowness) > most_slowness) {
        refuse(fmt::format("a slowness of {} s/m", slowness), fmt::format("sin(angle) / velocity, up to {} s/m", most_slowness));
      }
    }
    if (!(event.slowness_z >= 0.0 && event.slowness_z <= most_slowness)) {
      refuse(fmt::format("a slowness of {} s/m along z", event.slowness_z),
             fmt::format("cos(angle) / velocity, 0 to {} s/m", most_slowness));
    }
    require_delay(event.delay);
    require_elements(event.elements, "element");
    if (event.slowness_z > 0.0) return;
    if (!off_flat_) off_flat_ = flatness(probe_, frame_of(probe_));
    if (*off_flat_ > flat_array_tolerance) {
      refuse(fmt::format("a plane wave without slowness_z, of an array that is {:.3g} mm off flat", 1e3 * off_flat_->value),
             "slowness_z = cos(angle) / velocity, which a curved array's delays need");
    }
  }

  void operator()(const PointWaveEvent& event) {
    for (const Metres value : {event.point.x, event.point.y, event.point.z}) {
      if (!std::isfinite(value.value) || std::abs(value.value) > farthest) {
        refuse(fmt::format("a point at {} m", value.value), fmt::format("places within {} m of the probe", farthest));
      }
    }
    if (!(event.velocity >= minimum_velocity && event.velocity <= maximum_velocity)) {
      refuse(fmt::format("a velocity of {} m/s", event.velocity.value),
             fmt::format("that of the delays, {:g} to {:g} m/s", minimum_velocity.value, maximum_velocity.value));
    }
    require_delay(event.delay);
    require_elements(event.elements, "element");
  }

  void operator()(const LawEvent& event) {
    if (event.elements.empty()) refuse("a law of no elements", "at least one that fires");
    require_elements(event.elements, "element");
    require_length("delays", event.delays.size(), event.elements.size());
    require_length("weights", event.weights.size(), event.elements.size());
    for (const float delay : event.delays) require_delay(Seconds(static_cast<double>(delay)));
    for (const float weight : event.weights) {
      const double size = std::abs(static_cast<double>(weight));
      if (size >= minimum_weight && size <= maximum_weight) continue;
      refuse(fmt::format("a weight of {}", weight),
             fmt::format("numbers of magnitude {:g} to {:g}", minimum_weight, maximum_weight));
    }
    if (!is_code(TransmitForm(event))) return;
    const auto [least, most] = std::ranges::minmax(event.delays.empty() ? std::vector<float>{0.0F} : event.delays);
    if (least != 0.0F || most != 0.0F)
      refuse("weights of both signs and delays", "a code without delays, or weights of one sign");
  }

  void operator()(const CodeEvent& event) const {
    if (event.signs.size() != probe_.elements.size()) {
      refuse(fmt::format("{} signs", event.signs.size()), fmt::format("one for each of the {} elements", probe_.elements.size()));
    }
    if (std::ranges::all_of(event.signs, [](int sign) { return sign == 0; })) {
      refuse("a row of a code in which nobody fires", "at least one element");
    }
    for (const int sign : event.signs) {
      if (sign < -1 || sign > 1) refuse(fmt::format("a sign of {}", sign), "1, -1 or 0");
    }
  }

  void operator()(const PassiveEvent& event) const {
    if (event.wavelength.value != 0.0 && !(event.wavelength.value >= shortest_light && event.wavelength.value <= longest_light)) {
      refuse(fmt::format("light of {} m", event.wavelength.value),
             fmt::format("0 (unknown), or {} to {} m", shortest_light, longest_light));
    }
    if (event.pulse_energy != 0.0 && !(event.pulse_energy >= minimum_energy && event.pulse_energy <= most_energy)) {
      refuse(fmt::format("a pulse of {} J", event.pulse_energy),
             fmt::format("0 (unknown), or {} to {} J", minimum_energy, most_energy));
    }
  }

  /// Checks one list of an event: each element belongs to the probe and appears once.
  void require_elements(std::span<const std::uint32_t> elements, std::string_view what) {
    ++list_;
    for (const std::uint32_t element : elements) {
      require_element(element, what);
      if (named_in_[element] == list_) refuse(fmt::format("{} {} again", what, element), fmt::format("each {} once", what));
      named_in_[element] = list_;
    }
  }
  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const {
    throw InputError(fmt::format("{} event {}", where_, event_), std::string(found), std::string(expected));
  }

 private:
  static constexpr double most_slowness = 0.1;     // s/m: grazing at 10 m/s, slower than any wave
  static constexpr double farthest = 1e3;          // metres
  static constexpr double shortest_light = 1e-9;   // metres
  static constexpr double longest_light = 1.0;     // metres: microwaves generate sound too
  static constexpr double minimum_energy = 1e-15;  // joules
  static constexpr double most_energy = 1e3;       // joules

  void require_element(std::size_t element, std::string_view what) const {
    if (element < probe_.elements.size()) return;
    refuse(fmt::format("{} {}", what, element), fmt::format("elements 0 to {}", probe_.elements.size() - 1));
  }
  void require_delay(const std::optional<Seconds>& delay) const {
    if (!delay || std::abs(delay->value) < longest_delay) return;
    refuse(fmt::format("a delay of {} s", delay->value), "a finite time between -1 s and 1 s");
  }
  void require_length(std::string_view what, std::size_t found, std::size_t expected) const {
    if (found == 0 || found == expected) return;
    refuse(fmt::format("{} {} of {} elements", found, what, expected), "as many, or none");
  }

  const Probe& probe_;
  const std::string_view where_;
  std::size_t event_ = 0;
  std::optional<Metres> off_flat_;     // the probe's, computed for the first plane wave
  std::vector<std::size_t> named_in_;  // [element], the last list that named it, counted from 1
  std::size_t list_ = 0;
};

}  // namespace

void validate_events(const Acquisition& acquisition, std::string_view where) {
  const std::vector<TransmitEvent>& events = acquisition.events;
  if (events.empty()) return;
  if (acquisition.matrix != MatrixKind::full) {
    throw InputError(fmt::format("{} events", where), "events and a half matrix", "one of both");
  }
  const std::size_t positions = std::max<std::size_t>(1, acquisition.positions.size());
  std::vector<bool> fired(positions * acquisition.elements());  // [position, element]
  const bool rows = coded(acquisition);
  const auto passive = [](const TransmitEvent& event) { return std::holds_alternative<PassiveEvent>(event.form); };
  const bool all = all_passive(events);
  EventCheck check(acquisition.probe, where);
  for (std::size_t i = 0; i < events.size(); ++i) {
    check.begin(i);
    std::visit(check, events[i].form);
    check.require_elements(events[i].receivers, "receiver");
    if (passive(events[i]) && !all) check.refuse("a passive event beside others", "passive events alone, or none");
    if (rows && !can_be_code(events[i].form)) {
      check.refuse("no row of a code beside such rows", "rows of a code in all events, or in none");
    }
    const auto* const element = std::get_if<ElementEvent>(&events[i].form);
    if (element == nullptr) continue;
    const std::size_t firing = events[i].position * acquisition.elements() + element->element;
    if (fired[firing]) {
      check.refuse(fmt::format("element {} again", element->element),
                   acquisition.positions.empty() ? "each element in one event" : "each element in one event a position");
    }
    fired[firing] = true;
  }
}

}  // namespace echoform
