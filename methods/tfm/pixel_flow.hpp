// Images of flow at pixels: ensembles of repeated transmit events, each imaged as many times as it has samples.
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

/// Nothing where [doppler] does not ask for flow. Image n of a frame is made of sample n of every ensemble. The first
/// samples of the ensembles become the plan's events; flow uses all of a frame's events. Throws InputError, naming
/// configuration and key, for choices of events, several views or a view that reflects off a wall, several positions,
/// adaptive weights, and data whose events belong together (bond_of_events()).
[[nodiscard]] std::optional<DopplerPlan> resolve_pixel_flow(const ImagingSettings& settings, const ImagingPlan& plan);
/// The first samples of all ensembles.
[[nodiscard]] std::vector<std::uint32_t> first_samples(const DopplerPlan& doppler);
/// Half of [doppler] window in pixels along z, over which autocorrelations are averaged; 0 where z has a single pixel. Expects
/// a plan whose grid is known.
[[nodiscard]] std::size_t flow_half_window(const ImagingSettings& settings, const ImagingPlan& plan);

/// The pairing of the rows of all images, image by image.
[[nodiscard]] PairingOptions flow_pairing_options(const ImagingPlan& plan);

/// Adds the steps from analytic rows to the outputs: for the view, the mean of its images' envelopes, and velocity, power
/// and variance.
void add_pixel_flow(Recipe& recipe, const ImagingPlan& plan, const PlanPairs& pairs, std::size_t analytic);

}  // namespace echoform
