// Transmit events of an MFMC sequence: from the laws of its A-scans, and to them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/pair_order.hpp"

namespace echoform::formats {

/// A delay in seconds that is none at any ultrasonic frequency.
inline constexpr double no_delay = 1e-12;

/// One element at work, without delay.
[[nodiscard]] bool is_one_element(const MfmcLaw& law);

/// Laws of A-scans by event.
struct EventOrder {
  PairOrder order;                   ///< events and sources; missing, swapped and mixed say nothing
  std::vector<const MfmcLaw*> laws;  ///< by event
};

/// The events of a sequence whose A-scans have these transmit laws and receivers (from 0), in the order in which they first
/// appear. A-scans of laws that say the same (`by_law`: of the same law) are of one event, until a receiver appears again, which
/// begins another one. `positions`: at which of the probe's each was recorded; those of different ones are of different events;
/// empty: all at one. `where` names the sequence. Throws InputError for elements that the probe does not have, and for more than
/// `most_events`.
[[nodiscard]] EventOrder order_events(std::span<const MfmcLaw* const> transmit, std::span<const std::size_t> receive,
                                      std::size_t elements, bool by_law, std::size_t most_events, const std::string& where,
                                      std::span<const std::uint32_t> positions = {});

/// Replaces those forms of `acquisition.events` that their laws contradict, by more than a nanosecond or in their weights, by
/// what the laws say; returns how many there were.
std::size_t settle_forms(Acquisition& acquisition, std::span<const MfmcLaw* const> laws);

/// Makes rows of a code of the events of a file that does not say what they are, if their laws without delays and of weights 1
/// can be meant as nothing else, such as an S-matrix: of several elements each, as many as elements that fire, recorded by the
/// same receivers, and such that decoding them leaves each element less noise than if it had fired alone. One such law is a plane
/// wave; those of an aperture that walks over the array stay waves, since their differences would add noise. Returns whether it
/// did.
bool settle_code(Acquisition& acquisition, std::span<const MfmcLaw* const> laws);

}  // namespace echoform::formats
