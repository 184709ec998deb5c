// Transmit events in words, for people and for whoever writes them down by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// What fires in the events of an acquisition, in their order: "elements 6, 0, 3", "plane waves at -10, 0, 10 degrees in
/// 6320 m/s", "waves from (0, 0, -20) mm", "laws of 8, 8 elements", "64 rows of a code". `velocity` is that of the medium in
/// which angles are stated; if it is 0 (unknown), the slowness is stated instead. Of many events, only the first are listed.
[[nodiscard]] std::string events_text(const Acquisition& acquisition, MetresPerSecond velocity);

using EventNumbers =
    std::variant<std::uint32_t, double, std::vector<std::uint32_t>, std::vector<float>, std::vector<std::int8_t>>;

/// The fields that an event states of its form, with the names of WIRE.md and in SI units. Optional fields that the event
/// omits are absent. "signs" of a code, one per element, is the exception: on the wire it is two lists of bits.
struct EventFacts {
  std::string_view form;  ///< "plane_wave"
  std::vector<std::pair<std::string_view, EventNumbers>> numbers;
};

[[nodiscard]] EventFacts facts_of(const TransmitForm& form);

}  // namespace echoform
