// From a configuration and an acquisition to an imaging plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// What a plan is for: images of a recording, of a live run, or `plan`, which describes that of a live run and says itself what
/// of it is likely to disappoint.
enum class PlanUse : unsigned char { recording, live, description };

/// Resolves and checks everything that fixes how frames of `acquisition` become images. `stated` are the velocities of the
/// recording or the sender (0 where it states none).
///
/// What [material], [probe] and [acquisition] set replaces what the data states, with one line in the log for each.
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
/// images, samples and delay tables for `frames_in_flight` frames need more than [imaging] memory_limit (says how much).
[[nodiscard]] std::shared_ptr<const ImagingPlan> build_plan(const Configuration& configuration, const Acquisition& acquisition,
                                                            const Material& stated = {}, std::size_t frames_in_flight = 1,
                                                            PlanUse use = PlanUse::recording);

/// The first half of build_plan: `acquisition` and `material` as overridden; one line for each change is added to `notes`.
void apply_overrides(const Configuration& configuration, Acquisition& acquisition, Material& material,
                     std::vector<std::string>& notes);

/// The delay laws of [imaging] views, in order; `scene` as make_scene() gives it (methods/tfm/scene.hpp). Views share the legs
/// that they have in common. Throws InputError for a law that is not known, a view that it does not take or that needs a
/// velocity, a couplant or a backwall which is missing, and a view named twice.
[[nodiscard]] std::vector<DelayLaw> make_laws(const Configuration& configuration, const Acquisition& acquisition,
                                              const Material& material, const Scene& scene);

/// Who images; what a plan takes of the host's memory depends on it.
struct ImagedBy {
  BackendKind backend = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU; 0: as many as this process may run on
};

/// As a configuration says, whose backend is settled; "auto" counts as the CPU, which needs more.
[[nodiscard]] ImagedBy imaged_by(const ImagingSection& imaging);

/// Bytes of the host's memory that images, samples, delay tables and transforms of a plan take with that many frames in flight:
/// an upper estimate. A device has tables and working memory of its own, and limits of its own.
[[nodiscard]] double memory_needed(const ImagingPlan& plan, std::size_t frames_in_flight, const ImagedBy& by = {});

/// Three quarters of the memory that this process may have: the machine's, or its control group's if that is less. Bytes.
[[nodiscard]] double default_memory_limit();

}  // namespace echoform
