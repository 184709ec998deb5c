// Weights over the waves of a frame, by where each goes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "methods/tfm/plan.hpp"
#include "stages/beamform/apodization_options.hpp"

namespace echoform {

/// Weights of `events` of the acquisition (one or more) in their order: the window over the angles at which they go, whichever
/// way they are listed and however unevenly, with edges half a mean step beyond the outermost ones. Of waves with two angles it
/// is the product of the windows over both. Virtual sources, or foci, that lie at one depth are taken by their places at that
/// depth, and other waves that are parallel by the middles of their apertures. Angles are those in `media` (m/s), the first one
/// in which all of the waves run on; where there is none, and where some wave has no direction, events are taken by their order.
[[nodiscard]] std::vector<float> window_over_events(const Acquisition& acquisition, std::span<const std::uint32_t> events,
                                                    std::span<const MetresPerSecond> media, ApodizationWindow window,
                                                    double tukey_fraction);

}  // namespace echoform
