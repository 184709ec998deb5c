// Images of flow of pixels: ensembles of repeated transmit events, each imaged as many times as it has samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "methods/flow.hpp"
#include "stages/beamform/beamform_ensemble.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform {

struct ImagingPlan;
struct PlanPairs;
struct Recipe;

/// Nothing where [doppler] asks for no flow. Image n of a frame is that of sample n of every ensemble, whose first
/// samples become the plan's events: flow takes all of a frame's events. Throws InputError, naming configuration and key, for
/// choices of events, several views or one off a wall, several positions, adaptive weights and data whose events do not stand
/// alone.
[[nodiscard]] std::optional<DopplerPlan> resolve_pixel_flow(const ImagingSettings& settings, const ImagingPlan& plan);
/// Those first samples.
[[nodiscard]] std::vector<std::uint32_t> first_samples(const DopplerPlan& doppler);
/// Means of autocorrelations go along z, over [doppler] window: of a plan whose grid is known.
[[nodiscard]] std::size_t flow_half_window(const ImagingSettings& settings, const ImagingPlan& plan);

/// Rows of all images, image by image.
[[nodiscard]] PairingOptions flow_pairing_options(const ImagingPlan& plan);

/// From analytic rows to the outputs: of the view the mean of its images' envelopes, and velocity, power
/// and variance.
void add_pixel_flow(Recipe& recipe, const ImagingPlan& plan, const PlanPairs& pairs, std::size_t analytic);

}  // namespace echoform
