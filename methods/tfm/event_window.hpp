// Weights over the waves of a frame, by the direction of each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "methods/tfm/plan.hpp"
#include "stages/beamform/apodization_options.hpp"

namespace echoform {

/// Weights of `events` of the acquisition (one or more) in their order: the window over the angles of the waves, with edges
/// half a mean step beyond the outermost ones. The angles may be listed in any order and may be uneven. For waves with two
/// angles it is the product of the windows over both. Virtual sources, or foci, that lie at one depth have
/// their places at that depth instead of angles, and other waves that are parallel have the middles of their apertures.
/// Angles are those in the first of `media` (m/s) in which all of the waves propagate. Where there is no such medium, or
/// some wave has no direction, events count by their order.
[[nodiscard]] std::vector<float> window_over_events(const Acquisition& acquisition, std::span<const std::uint32_t> events,
                                                    std::span<const MetresPerSecond> media, ApodizationWindow window,
                                                    double tukey_fraction);

}  // namespace echoform
