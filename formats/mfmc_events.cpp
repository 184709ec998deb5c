#include "formats/mfmc_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"

namespace echoform::formats {
namespace {

/// Maximum difference, in seconds, between delays and those of the wave that they are stated to make.
constexpr double same_delay = 1e-9;

std::vector<std::uint32_t> elements_of(const MfmcLaw& law) {
  std::vector<std::uint32_t> elements;
  for (const MfmcLaw::Entry& entry : law.entries) elements.push_back(static_cast<std::uint32_t>(entry.element - 1));
  return elements;
}

/// The elements of the law; empty if they are all elements in their order.
std::vector<std::uint32_t> chosen_elements(const MfmcLaw& law, std::size_t elements) {
  std::vector<std::uint32_t> chosen = elements_of(law);
  std::vector<std::uint32_t> all(elements);
  std::iota(all.begin(), all.end(), 0U);
  if (chosen == all) chosen.clear();
  return chosen;
}

/// Whether the law has no delays, and weights of 1 and -1.
bool is_signs(const MfmcLaw& law) {
  return std::ranges::all_of(law.entries, [](const MfmcLaw::Entry& entry) {
    return std::abs(entry.delay) <= no_delay && std::abs(entry.weight) == 1.0;
  });
}

CodeEvent signs_of(const MfmcLaw& law, std::size_t elements) {
  CodeEvent code{std::vector<std::int8_t>(elements)};
  for (const MfmcLaw::Entry& entry : law.entries) code.signs[entry.element - 1] = static_cast<std::int8_t>(entry.weight);
  return code;
}

TransmitForm law_event(const MfmcLaw& law) {
  LawEvent event{elements_of(law), {}, {}};
  for (const MfmcLaw::Entry& entry : law.entries) {
    event.delays.push_back(static_cast<float>(entry.delay));
    event.weights.push_back(static_cast<float>(entry.weight));
  }
  if (std::ranges::all_of(event.delays, [](float delay) { return delay == 0.0F; })) event.delays.clear();
  if (std::ranges::all_of(event.weights, [](float weight) { return weight == 1.0F; })) event.weights.clear();
  return event;
}

/// The form that the law's attributes state; without them, the form of its delays and weights.
TransmitForm stated_form(const MfmcLaw& law, std::size_t elements) {
  const std::vector<double>& plane = law.plane_wave;
  const std::vector<double>& point = law.point_wave;
  if (plane.size() >= 3) {
    return PlaneWaveEvent{plane[0], plane[1], Seconds(plane[2]), chosen_elements(law, elements),
                          plane.size() > 3 ? plane[3] : 0.0};
  }
  if (point.size() == 5) {
    return PointWaveEvent{{Metres(point[0]), Metres(point[1]), Metres(point[2])},
                          MetresPerSecond(point[3]),
                          Seconds(point[4]),
                          chosen_elements(law, elements)};
  }
  if (law.code && is_signs(law)) return signs_of(law, elements);
  if (is_one_element(law) && law.entries.front().weight == 1.0) {
    return ElementEvent{static_cast<std::uint32_t>(law.entries.front().element - 1)};
  }
  return law_event(law);
}

bool agree(const std::vector<Firing>& firings, const MfmcLaw& law) {
  return std::ranges::equal(firings, law.entries, [](const Firing& firing, const MfmcLaw::Entry& entry) {
    return firing.element + 1 == entry.element && std::abs(firing.delay - entry.delay) <= same_delay &&
           std::abs(firing.weight - entry.weight) <= 1e-6;
  });
}

}  // namespace

bool is_one_element(const MfmcLaw& law) {
  return law.entries.size() == 1 && std::abs(law.entries.front().delay) <= no_delay;
}

EventOrder order_events(std::span<const MfmcLaw* const> transmit, std::span<const std::size_t> receive, std::size_t elements,
                        bool by_law, std::size_t most_events, const std::string& where,
                        std::span<const std::uint32_t> positions) {
  const auto require = [&](std::size_t a_scan, const char* does, std::size_t element) {
    if (element < elements) return;
    throw InputError(where, fmt::format("A-scan {} {} with element {}", a_scan + 1, does, element + 1),
                     fmt::format("elements 1 to {}", elements));
  };
  struct Event {
    const MfmcLaw* law = nullptr;
    std::uint32_t position = 0;
    std::vector<std::size_t> places;  // place in the file of each element's A-scan; PairOrder::none if there is none
    std::vector<std::uint32_t> receivers;
  };
  std::vector<Event> events;
  using Alike = std::vector<std::size_t>;  // indices of events
  std::map<std::tuple<TransmitForm, const MfmcLaw*, std::uint32_t>, Alike> forms;
  std::map<std::pair<const MfmcLaw*, std::uint32_t>, decltype(forms)::iterator> of_law;
  for (std::size_t k = 0; k < transmit.size(); ++k) {
    const MfmcLaw* const law = transmit[k];
    const std::uint32_t position = positions.empty() ? 0 : positions[k];
    auto known = of_law.find({law, position});
    if (known == of_law.end()) {
      for (const MfmcLaw::Entry& entry : law->entries) require(k, "transmits", entry.element - 1);
      const auto form = forms.try_emplace({stated_form(*law, elements), by_law ? law : nullptr, position}).first;
      known = of_law.emplace(std::pair{law, position}, form).first;
    }
    require(k, "receives", receive[k]);
    Alike& alike = known->second->second;
    auto found = std::ranges::find_if(alike, [&](std::size_t e) { return events[e].places[receive[k]] == PairOrder::none; });
    if (found == alike.end()) {
      if (events.size() == most_events)
        throw InputError(where, "more transmit events than that", fmt::format("at most {}", most_events));
      alike.push_back(events.size());
      events.push_back({law, position, std::vector<std::size_t>(elements, PairOrder::none), {}});
      found = alike.end() - 1;
    }
    events[*found].places[receive[k]] = k;
    events[*found].receivers.push_back(static_cast<std::uint32_t>(receive[k]));
  }

  EventOrder found;
  for (Event& event : events) {
    found.laws.push_back(event.law);
    TransmitEvent& made = found.order.events.emplace_back();
    made.form = std::get<0>(of_law.at({event.law, event.position})->first);
    made.position = event.position;
    if (event.receivers.size() == elements) {
      found.order.source.insert(found.order.source.end(), event.places.begin(), event.places.end());
      continue;
    }
    for (const std::uint32_t receiver : event.receivers) found.order.source.push_back(event.places[receiver]);
    made.receivers = std::move(event.receivers);
  }
  return found;
}

std::size_t settle_forms(Acquisition& acquisition, std::span<const MfmcLaw* const> laws) {
  std::size_t replaced = 0;
  for (std::size_t event = 0; event < laws.size(); ++event) {
    if (agree(firings_of(acquisition, event), *laws[event])) continue;
    acquisition.events[event].form = law_event(*laws[event]);
    ++replaced;
  }
  // Rows of a code in which no element is inverted look like waves. Beside other rows of a code they count as rows of it.
  const bool some_code = std::ranges::any_of(acquisition.events, [](const TransmitEvent& event) { return is_code(event.form); });
  for (std::size_t event = 0; some_code && event < laws.size(); ++event) {
    if (is_signs(*laws[event])) acquisition.events[event].form = signs_of(*laws[event], acquisition.elements());
  }
  return replaced;
}

}  // namespace echoform::formats
