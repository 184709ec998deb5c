// Which sources of a law stand on which side of the pairs that are imaged: all elements on both in full matrix capture, some
// where transmit events are sparse, and on the way out the events themselves where they are waves of several elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// The element that fires in each event, or in each of the `chosen` ones, if any are. Throws InputError for an event in which not
/// one fires alone.
[[nodiscard]] std::vector<std::uint32_t> firing_elements(const Acquisition& acquisition,
                                                         std::span<const std::uint32_t> chosen = {});

/// By source of a law's legs.
struct ElementRoles {
  bool waves = false;          ///< sources of the transmit leg are events, not elements
  std::vector<bool> transmit;  ///< fires in some event; of waves: some element fires in this one
  std::vector<bool> receive;   ///< records some event

  /// Whether what is found of one side of a reciprocal law holds for the other.
  [[nodiscard]] bool alike() const { return !waves && transmit == receive; }
};

/// Dead elements counted in: the array's geometry. With `chosen` events alone, if any are.
[[nodiscard]] ElementRoles element_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});
/// Of living elements alone: those whose times, rays and samples an image is made of.
[[nodiscard]] ElementRoles living_roles(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});

}  // namespace echoform
