// Adaptive weights as [imaging] asks for them.
#pragma once

#include "config/configuration.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// The options of a plan whose acquisition, material, laws and grid are there, with the axial window in pixels along z: a period
/// takes as far as the first view's waves go there and back in it. Throws InputError for frames of several positions, and
/// where the probe has no centre frequency to count periods of.
[[nodiscard]] AdaptiveOptions resolve_adaptive_pixels(const ImagingSettings& settings, const ImagingPlan& plan);

/// Whether there are any.
[[nodiscard]] bool weighs_adaptively(const ImagingPlan& plan);

}  // namespace echoform
