// Which elements fire in an event, when and how strongly: the common result of all forms of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/probe_frame.hpp"

namespace echoform {

struct Firing {
  std::uint32_t element = 0;
  double delay = 0.0;  ///< seconds after the event's t = 0
  double weight = 1.0;

  constexpr auto operator<=>(const Firing&) const = default;
};

/// The firings of `event`, which is below event_count() of a validated acquisition, in the order in which the event names
/// its elements; dead elements are included.
[[nodiscard]] std::vector<Firing> firings_of(const Acquisition& acquisition, std::size_t event);

/// The sign of the wave that the elements make: -1 if all that fire are inverted, else 1.
[[nodiscard]] float polarity_of(const Acquisition& acquisition, std::size_t event);

/// The `chosen` events, or all events of a frame if none are chosen.
[[nodiscard]] std::vector<std::uint32_t> chosen_or_all_events(const Acquisition& acquisition,
                                                              std::span<const std::uint32_t> chosen);

/// Time at which a wave passes the probe's origin: as the event states it, or such that its earliest element fires at 0.
[[nodiscard]] Seconds delay_at_origin(const PlaneWaveEvent& event, const Probe& probe, const ProbeFrame& frame);
[[nodiscard]] Seconds delay_at_origin(const PointWaveEvent& event, const Probe& probe, const ProbeFrame& frame);

/// Whether the events are rows of a code. If some form is one, all must be (validate_events.hpp).
[[nodiscard]] bool coded(const Acquisition& acquisition);
/// Why some of a frame's events cannot be imaged without the others, as "half a matrix: each of its A-scans stands for two
/// events"; empty if each event can be imaged by itself.
[[nodiscard]] std::optional<std::string> bond_of_events(const Acquisition& acquisition);
/// Whether every event is the firing of one element: what full matrix capture and sparse firings are, and what codes are decoded
/// into.
[[nodiscard]] bool fires_single_elements(const Acquisition& acquisition);
/// Whether every event has an A-scan of every element, in whichever order, or every pair of elements has one.
[[nodiscard]] bool received_by_all(const Acquisition& acquisition);
/// Whether there are events and each is the firing of one element that alone records it.
[[nodiscard]] bool is_pulse_echo(std::span<const TransmitEvent> events);
/// Whether some event is a wave of several elements, whose front images follow: neither of single elements alone, nor coded.
[[nodiscard]] bool launches_waves(const Acquisition& acquisition);

}  // namespace echoform
