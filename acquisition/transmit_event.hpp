// What makes the sound of one shot, and which elements record it.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace echoform {

/// One element fires, all others are silent.
struct ElementEvent {
  std::uint32_t element = 0;

  constexpr auto operator<=>(const ElementEvent&) const = default;
};

/// How the elements of an event transmit: one alternative a form.
using TransmitForm = std::variant<ElementEvent>;

struct TransmitEvent {
  TransmitForm form;
  std::vector<std::uint32_t> receivers;  ///< that record it, in the order of their rows, none twice; empty: all, in order

  auto operator<=>(const TransmitEvent&) const = default;
};

/// Each of `elements` fires alone, in this order, and all elements record it.
[[nodiscard]] std::vector<TransmitEvent> element_events(std::span<const std::uint32_t> elements);

}  // namespace echoform
