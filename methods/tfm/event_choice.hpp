// The choice of a frame's transmit events that are imaged, and their weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// Chooses `count` of `events`, evenly spread: the place (2 k + 1) events / (2 count), rounded down, for
/// k = 0 .. count - 1. All of them where `count` is 0 or not less than their number.
[[nodiscard]] std::vector<std::uint32_t> spread_over(std::span<const std::uint32_t> events, std::size_t count);

/// The events that [imaging] events and compounded choose, in the order of the frame; empty where these are all. Throws
/// InputError for events that the frame does not have, for an event named twice, and for a choice among events that belong
/// together (bond_of_events()).
[[nodiscard]] std::vector<std::uint32_t> chosen_events(const ImagingSettings& settings, const Acquisition& acquisition);

/// The weight of each chosen event (of all, where none are chosen), by [apodization] event_window over the directions of
/// the waves (event_window.hpp): over their angles in the couplant, or without one in the part. Empty where all events
/// count alike. Throws InputError for a window over firings of single elements, for which the window over the elements is
/// meant.
[[nodiscard]] std::vector<float> event_weights(const ImagingSettings& settings, const Acquisition& acquisition,
                                               const Material& material, std::span<const std::uint32_t> chosen);

/// Throws InputError, naming the event, for a plane wave that propagates in no view: its angle is beyond a right angle in
/// the medium around the elements, or beyond the critical angle of a flat front surface. If the plan is that of one
/// position of several, event k is named as of_frame[k], its number in [imaging] events.
void check_propagation(const ImagingSettings& settings, const ImagingPlan& plan, std::span<const std::uint32_t> of_frame = {});

}  // namespace echoform
