#include "acquisition/event_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "acquisition/firings.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_shown = 16;

double millimetres(Metres length) {
  return 1e3 * length.value;
}

/// The value to print: values below half of `resolution` are rounding errors and become 0, and so does -0.
double said(double value, double resolution) {
  return std::abs(value) < 0.5 * resolution ? 0.0 : value;
}

/// Successive events of one form.
struct Run {
  std::span<const TransmitEvent> events;
  MetresPerSecond velocity;

  /// Text of the first `most_shown` events; `item` gives the text of one event.
  template <class Form, class Item>
  std::string list(const Item& item) const {
    std::string text;
    for (const TransmitEvent& event : events.first(std::min(events.size(), most_shown))) {
      if (!text.empty()) text += ", ";
      text += item(std::get<Form>(event.form));
    }
    return events.size() > most_shown ? text + " ..." : text;
  }
  std::string_view plural() const { return events.size() == 1 ? "" : "s"; }

  std::string operator()(const ElementEvent&) const {
    return fmt::format("element{} {}", plural(),
                       list<ElementEvent>([](const ElementEvent& event) { return fmt::format("{}", event.element); }));
  }
  std::string operator()(const PlaneWaveEvent&) const {
    const auto form = [](const TransmitEvent& event) -> const PlaneWaveEvent& { return std::get<PlaneWaveEvent>(event.form); };
    const bool flat = std::ranges::all_of(events, [&](const TransmitEvent& event) { return form(event).slowness_y == 0.0; });
    const bool angles = velocity.value > 0.0 && std::ranges::all_of(events, [&](const TransmitEvent& event) {
                          return std::hypot(form(event).slowness_x, form(event).slowness_y) * velocity.value <= 1.0;
                        });
    const auto pair = [&](double along, double across) {
      along = said(along, 1e-6);
      return flat ? fmt::format("{:.4g}", along) : fmt::format("({:.4g}, {:.4g})", along, said(across, 1e-6));
    };
    if (!angles) {
      return fmt::format("plane wave{} of slowness {} us/mm", plural(), list<PlaneWaveEvent>([&](const PlaneWaveEvent& wave) {
                           return pair(1e3 * wave.slowness_x, 1e3 * wave.slowness_y);
                         }));
    }
    constexpr double degrees = 180.0 / std::numbers::pi;
    return fmt::format("plane wave{} at {} degrees in {:g} m/s", plural(), list<PlaneWaveEvent>([&](const PlaneWaveEvent& wave) {
                         const double x = wave.slowness_x * velocity.value;
                         const double y = wave.slowness_y * velocity.value;
                         return pair(degrees * std::atan2(x, std::sqrt(std::max(0.0, 1.0 - x * x - y * y))),
                                     degrees * std::asin(y));
                       }),
                       velocity.value);
  }
  std::string operator()(const PointWaveEvent&) const {
    return fmt::format("wave{} {}", plural(), list<PointWaveEvent>([](const PointWaveEvent& wave) {
                         const auto& [x, y, z] = wave.point;
                         return fmt::format("{} ({:.4g}, {:.4g}, {:.4g}) mm", z.value > 0.0 ? "focused at" : "from",
                                            said(millimetres(x), 1e-6), said(millimetres(y), 1e-6), said(millimetres(z), 1e-6));
                       }));
  }
  std::string operator()(const LawEvent&) const {
    return fmt::format("law{} of {} elements", plural(),
                       list<LawEvent>([](const LawEvent& law) { return fmt::format("{}", law.elements.size()); }));
  }
  std::string operator()(const CodeEvent&) const { return fmt::format("{} row{} of a code", events.size(), plural()); }
  std::string operator()(const PassiveEvent&) const {
    const bool known = std::ranges::all_of(
        events, [](const TransmitEvent& event) { return std::get<PassiveEvent>(event.form).wavelength.value > 0.0; });
    if (!known) return fmt::format("{} passive event{}", events.size(), plural());
    return fmt::format("passive event{} of light of {} nm", plural(), list<PassiveEvent>([](const PassiveEvent& event) {
                         return fmt::format("{:.6g}", 1e9 * event.wavelength.value);
                       }));
  }
};

struct FormFacts {
  EventFacts operator()(const ElementEvent& event) const { return {"element", {{"element", event.element}}}; }
  EventFacts operator()(const PlaneWaveEvent& event) const {
    EventFacts facts{"plane_wave", {{"slowness_x", event.slowness_x}, {"slowness_y", event.slowness_y}}};
    if (event.slowness_z > 0.0) facts.numbers.emplace_back("slowness_z", event.slowness_z);
    return with_wave(std::move(facts), event);
  }
  EventFacts operator()(const PointWaveEvent& event) const {
    const auto& [x, y, z] = event.point;
    EventFacts facts{"point_wave", {{"x", x.value}, {"y", y.value}, {"z", z.value}, {"velocity", event.velocity.value}}};
    return with_wave(std::move(facts), event);
  }
  EventFacts operator()(const LawEvent& event) const {
    EventFacts facts{"law", {{"elements", event.elements}}};
    if (!event.delays.empty()) facts.numbers.emplace_back("delays", event.delays);
    if (!event.weights.empty()) facts.numbers.emplace_back("weights", event.weights);
    return facts;
  }
  EventFacts operator()(const CodeEvent& event) const { return {"code", {{"signs", event.signs}}}; }
  EventFacts operator()(const PassiveEvent& event) const {
    EventFacts facts{"passive", {}};
    if (event.wavelength.value > 0.0) facts.numbers.emplace_back("wavelength", event.wavelength.value);
    if (event.pulse_energy > 0.0) facts.numbers.emplace_back("pulse_energy", event.pulse_energy);
    return facts;
  }

 private:
  template <class Wave>
  static EventFacts with_wave(EventFacts facts, const Wave& wave) {
    if (wave.delay) facts.numbers.emplace_back("delay", wave.delay->value);
    if (!wave.elements.empty()) facts.numbers.emplace_back("elements", wave.elements);
    return facts;
  }
};

/// Number of receivers of an event, as text: one number, or the range over all events.
std::string receivers_text(const Acquisition& acquisition) {
  std::size_t least = acquisition.elements();
  std::size_t most = 0;
  for (const TransmitEvent& event : acquisition.events) {
    const std::size_t count = event.receivers.empty() ? acquisition.elements() : event.receivers.size();
    least = std::min(least, count);
    most = std::max(most, count);
  }
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

}  // namespace

std::string events_text(const Acquisition& acquisition, MetresPerSecond velocity) {
  std::string text;
  std::span<const TransmitEvent> rest = acquisition.events;
  for (std::size_t runs = 0; !rest.empty() && runs < most_shown; ++runs) {
    const auto other =
        std::ranges::find_if(rest, [&](const TransmitEvent& event) { return event.form.index() != rest.front().form.index(); });
    const Run run{rest.first(static_cast<std::size_t>(other - rest.begin())), velocity};
    if (!text.empty()) text += "; ";
    text += std::visit(run, rest.front().form);
    rest = rest.subspan(run.events.size());
  }
  if (!rest.empty()) text += "; ...";
  if (is_pulse_echo(acquisition.events)) {
    text += "; each is recorded by itself alone";
  } else if (!acquisition.events.empty() && !all_elements_record(acquisition)) {
    text += fmt::format("; recorded by {} elements each", receivers_text(acquisition));
  }
  return text;
}

EventFacts facts_of(const TransmitForm& form) {
  return std::visit(FormFacts{}, form);
}

}  // namespace echoform
