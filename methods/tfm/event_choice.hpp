// Which of a frame's transmit events are imaged, and how much each counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// `count` of `events`, evenly spread: place (2 k + 1) events / (2 count), rounded down, for k = 0 .. count - 1. All where
/// `count` is 0 or not less.
[[nodiscard]] std::vector<std::uint32_t> spread_over(std::span<const std::uint32_t> events, std::size_t count);

/// The events that [imaging] events and compounded choose, in the order of the frame; empty where they are all. Throws InputError
/// for events that the frame does not have, for one named twice, and for a choice among those that belong together
/// (bond_of_events()).
[[nodiscard]] std::vector<std::uint32_t> chosen_events(const ImagingSettings& settings, const Acquisition& acquisition);

/// By chosen event, all where none are, [apodization] event_window over where the waves go (event_window.hpp): by their angles in
/// the couplant, or without one in the part; empty where all count alike. Throws InputError for a window over firings of single
/// elements, which the elements' own window is for.
[[nodiscard]] std::vector<float> event_weights(const ImagingSettings& settings, const Acquisition& acquisition,
                                               const Material& material, std::span<const std::uint32_t> chosen);

/// Throws InputError, naming the event, for a plane wave of which no view's waves propagate: beyond a right angle in what the
/// elements stand in, or beyond the critical angle of a flat front surface. Of a plan of one position of several, event k is
/// named as of_frame[k], by which [imaging] events knows it.
void check_propagation(const ImagingSettings& settings, const ImagingPlan& plan, std::span<const std::uint32_t> of_frame = {});

}  // namespace echoform
