// Builds an imaging plan from a configuration and an acquisition.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "methods/method.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// Resolves and checks everything that fixes how frames of an acquisition become images.
///
/// An absent [grid] follows from the data. x is the aperture, from the first to the last element centre (for a single
/// element, a quarter of the depth to either side). z goes on the axis from where the gate opens to where it closes,
/// z = t / (1 / c_tx + 1 / c_rx) with the velocities of the first view, and begins at least one pixel below the surface. A single
/// pixel lies in the middle. With a couplant, a surface or a view that skips, [grid] z must be given.
///
/// [couplant], [surface], [backwall] and the placement of the probe are checked (methods/tfm/scene.hpp). Travel times of
/// rays are computed once for everything that needs them.
///
/// With [imaging] crop, live runs are cropped to the gate of methods/tfm/gate.hpp; recordings are cropped where the key is
/// "always". Throws InputError, naming the configuration and the key, if anything is missing, contradictory or out of
/// range. It also throws if images, samples and delay tables for the frames in flight need more than [imaging]
/// memory_limit, and states how much.
[[nodiscard]] std::shared_ptr<const ImagingPlan> build_plan(const ImagingTask& task);
/// The same for a task that is made here, without the wedge that a recording may state.
[[nodiscard]] std::shared_ptr<const ImagingPlan> build_plan(const ImagingSettings& settings, const Acquisition& acquisition,
                                                            const Material& stated = {}, std::size_t frames_in_flight = 1,
                                                            ImagingUse use = ImagingUse::recording);

/// The rules of Method::rules(). Throws InputError where no element transmits.
[[nodiscard]] TaskRules tfm_rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use);

/// The delay laws of [imaging] views, in order, for the `chosen` events, or for all if none are chosen; `scene` is the
/// result of make_scene() (methods/tfm/scene.hpp). Views share the legs that they have in common. Throws InputError for a
/// law that is not known, a view that the law does not accept, a view that needs a velocity, a couplant or a backwall which
/// is missing, and a view named twice.
[[nodiscard]] std::vector<DelayLaw> make_laws(const ImagingSettings& settings, const Acquisition& acquisition,
                                              const Material& material, const Scene& scene,
                                              const std::vector<std::uint32_t>& chosen = {});

}  // namespace echoform
