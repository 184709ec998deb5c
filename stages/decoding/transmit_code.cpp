#include "stages/decoding/transmit_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

std::vector<bool> receivers_of(const Acquisition& acquisition, std::size_t event) {
  const std::vector<std::uint32_t>& named = acquisition.events[event].receivers;
  std::vector<bool> receives(acquisition.elements(), named.empty());
  for (const std::uint32_t receiver : named) receives[receiver] = true;
  return receives;
}

}  // namespace

TransmitCode transmit_code(const Acquisition& acquisition, std::string_view where) {
  if (!coded(acquisition)) throw InputError(fmt::format("{} events", where), "no rows of a code", "rows of a code in all events");
  TransmitCode code{acquisition.event_count(), acquisition.elements(), {}, {}};
  for (const Element& element : acquisition.probe.elements) code.dead.push_back(element.dead);
  code.weights.assign(code.events * code.elements, 0.0);
  const std::vector<bool> receivers = receivers_of(acquisition, 0);
  for (std::size_t event = 0; event < code.events; ++event) {
    const std::vector<bool> own = receivers_of(acquisition, event);
    if (const auto [of_own, of_first] = std::ranges::mismatch(own, receivers); of_own != own.end()) {
      throw InputError(fmt::format("{} event {}", where, event),
                       fmt::format("element {} {}recorded, other than in event 0", of_own - own.begin(), *of_own ? "" : "not "),
                       "the same receivers in all rows of a code");
    }
    for (const Firing& firing : firings_of(acquisition, event)) {
      if (firing.delay != 0.0) {
        throw InputError(fmt::format("{} event {}", where, event),
                         fmt::format("a delay of {} s for element {}", firing.delay, firing.element), "a code without delays");
      }
      code.weights[event * code.elements + firing.element] = firing.weight;
    }
  }
  return code;
}

}  // namespace echoform
