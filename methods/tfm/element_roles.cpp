#include "methods/tfm/element_roles.hpp"

#include <fmt/format.h>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"

namespace echoform {

std::vector<std::uint32_t> firing_elements(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  std::vector<std::uint32_t> firing;
  for (const std::uint32_t event : chosen_or_all_events(acquisition, chosen)) {
    const auto element = firing_element(acquisition, event);
    if (!element) {
      throw InputError(fmt::format("transmit event {}", event), "one in which several elements fire", "one element an event");
    }
    firing.push_back(static_cast<std::uint32_t>(*element));
  }
  return firing;
}

namespace {

ElementRoles roles_of(const Acquisition& acquisition, std::span<const std::uint32_t> chosen, bool dead_too) {
  const std::size_t n = acquisition.elements();
  const auto counts = [&](std::size_t element) { return dead_too || !acquisition.probe.elements[element].dead; };
  ElementRoles roles{launches_waves(acquisition), {}, std::vector<bool>(n, acquisition.events.empty())};
  roles.transmit.assign(roles.waves ? acquisition.event_count() : n, false);
  for (const std::uint32_t event : chosen_or_all_events(acquisition, chosen)) {
    for (const Firing& firing : firings_of(acquisition, event)) {
      if (counts(firing.element)) roles.transmit[roles.waves ? event : firing.element] = true;
    }
    if (acquisition.events.empty()) continue;
    const std::vector<std::uint32_t>& receivers = acquisition.events[event].receivers;
    if (receivers.empty()) roles.receive.assign(n, true);
    for (const std::uint32_t receiver : receivers) roles.receive[receiver] = true;
  }
  for (std::size_t element = 0; element < n; ++element) roles.receive[element] = roles.receive[element] && counts(element);
  return roles;
}

}  // namespace

ElementRoles element_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  return roles_of(acquisition, chosen, true);
}

ElementRoles living_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  return roles_of(acquisition, chosen, false);
}

}  // namespace echoform
