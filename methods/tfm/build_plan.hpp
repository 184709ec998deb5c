// From a configuration and an acquisition to an imaging plan.
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
/// An absent [grid] follows from the data: x is the aperture, first to last element centre (a single element: a quarter of
/// the depth to either side); z goes from where the gate opens to where it closes on the axis, z = t / (1 / c_tx + 1 / c_rx)
/// with the velocities of the first view, and begins at least one pixel below the surface.
/// One pixel alone lies in the middle. With a couplant, a surface or a view that skips, [grid] z must be given.
///
/// [couplant], [surface], [backwall] and the placement of the probe are checked (methods/tfm/scene.hpp), and travel times of rays
/// computed once for all that need them.
///
/// With [imaging] crop, live runs are cropped to the gate of methods/tfm/gate.hpp, recordings where it says "always".
/// Throws InputError, naming the configuration and the key, if anything is missing, contradictory or out of range, or if
/// images, samples and delay tables for the frames in flight need more than [imaging] memory_limit (says how much).
[[nodiscard]] std::shared_ptr<const ImagingPlan> build_plan(const ImagingTask& task);
/// The same of a task made here, without what a recording may state of a wedge.
[[nodiscard]] std::shared_ptr<const ImagingPlan> build_plan(const ImagingSettings& settings, const Acquisition& acquisition,
                                                            const Material& stated = {}, std::size_t frames_in_flight = 1,
                                                            ImagingUse use = ImagingUse::recording);

/// As Method::rules() has them. Throws InputError where nobody transmits.
[[nodiscard]] TaskRules tfm_rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use);

/// The delay laws of [imaging] views, in order, of the `chosen` events, or of all if none are; `scene` as make_scene() gives it
/// (methods/tfm/scene.hpp). Views share the legs that they have in common. Throws InputError for a law that is not known, a view
/// that it does not take or that needs a velocity, a couplant or a backwall which is missing, and a view named twice.
[[nodiscard]] std::vector<DelayLaw> make_laws(const ImagingSettings& settings, const Acquisition& acquisition,
                                              const Material& material, const Scene& scene,
                                              const std::vector<std::uint32_t>& chosen = {});

}  // namespace echoform
