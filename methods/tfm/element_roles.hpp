// The roles of the sources of a law in the pairs that are imaged. In full matrix capture all elements transmit and receive;
// where transmit events are sparse, only some transmit. Where events are waves of several elements, the events themselves
// are the sources of the transmit leg.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// The element that fires in each event, or in each of the `chosen` events, if any are chosen. Throws InputError for an
/// event in which not exactly one element fires.
[[nodiscard]] std::vector<std::uint32_t> firing_elements(const Acquisition& acquisition,
                                                         std::span<const std::uint32_t> chosen = {});

/// The roles of the sources of a law's legs.
struct ElementRoles {
  bool waves = false;          ///< sources of the transmit leg are events, not elements
  std::vector<bool> transmit;  ///< fires in some event; of waves: some element fires in this one
  std::vector<bool> receive;   ///< records some event

  /// Whether results for one side of a reciprocal law hold for the other.
  [[nodiscard]] bool alike() const { return !waves && transmit == receive; }
};

/// The roles including dead elements, for the array's geometry. If there are `chosen` events, only these count.
[[nodiscard]] ElementRoles element_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});
/// The roles of living elements only: those whose times, rays and samples an image is made of.
[[nodiscard]] ElementRoles living_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});

}  // namespace echoform
