#include "acquisition/transmit_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "base/errors.hpp"

namespace echoform {

std::vector<TransmitEvent> element_events(std::span<const std::uint32_t> elements) {
  std::vector<TransmitEvent> events(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) events[i].form = ElementEvent{elements[i]};
  return events;
}

PlaneWaveEvent plane_wave(double angle, MetresPerSecond velocity) {
  return {std::sin(angle) / velocity.value, 0.0, std::nullopt};
}

std::vector<TransmitEvent> hadamard_events(std::size_t elements) {
  if (!std::has_single_bit(elements)) {
    throw InputError("Hadamard matrix", fmt::format("{} elements", elements), "a power of two");
  }
  std::vector<TransmitEvent> events(elements);
  for (std::size_t row = 0; row < elements; ++row) {
    CodeEvent code{std::vector<std::int8_t>(elements)};
    for (std::size_t element = 0; element < elements; ++element) {
      code.signs[element] = static_cast<std::int8_t>(std::popcount(row & element) % 2 == 0 ? 1 : -1);
    }
    events[row].form = std::move(code);
  }
  return events;
}

std::string forms_text(std::span<const TransmitEvent> events) {
  struct Counts {
    std::size_t elements = 0, plane = 0, diverging = 0, focused = 0, laws = 0, codes = 0, passive = 0;
    void operator()(const ElementEvent& /*event*/) { ++elements; }
    void operator()(const PlaneWaveEvent& /*event*/) { ++plane; }
    void operator()(const PointWaveEvent& event) { ++(event.point.z.value > 0.0 ? focused : diverging); }
    void operator()(const LawEvent& /*event*/) { ++laws; }
    void operator()(const CodeEvent& /*event*/) { ++codes; }
    void operator()(const PassiveEvent& /*event*/) { ++passive; }
  } counts;
  for (const TransmitEvent& event : events) std::visit(counts, event.form);
  if (counts.elements == events.size()) return fmt::format("{} event{}", events.size(), events.size() == 1 ? "" : "s");
  std::string text;
  for (const auto& [count, one, many] :
       {std::tuple{counts.plane, "plane wave", "plane waves"}, std::tuple{counts.diverging, "diverging wave", "diverging waves"},
        std::tuple{counts.focused, "focused beam", "focused beams"}, std::tuple{counts.laws, "law of delays", "laws of delays"},
        std::tuple{counts.codes, "row of a code", "rows of a code"},
        std::tuple{counts.elements, "single element", "single elements"},
        std::tuple{counts.passive, "passive event", "passive events"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  }
  return text;
}

bool is_code(const TransmitForm& form) {
  if (std::holds_alternative<CodeEvent>(form)) return true;
  const auto* const law = std::get_if<LawEvent>(&form);
  if (law == nullptr) return false;
  const auto negative = [](float weight) { return weight < 0.0F; };
  return std::ranges::any_of(law->weights, negative) && !std::ranges::all_of(law->weights, negative);
}

bool all_passive(std::span<const TransmitEvent> events) {
  const auto passive = [](const TransmitEvent& event) { return std::holds_alternative<PassiveEvent>(event.form); };
  return !events.empty() && std::ranges::all_of(events, passive);
}

bool can_be_code(const TransmitForm& form) {
  if (std::holds_alternative<CodeEvent>(form)) return true;
  const auto* const law = std::get_if<LawEvent>(&form);
  return law != nullptr && std::ranges::all_of(law->delays, [](float delay) { return delay == 0.0F; });
}

}  // namespace echoform
