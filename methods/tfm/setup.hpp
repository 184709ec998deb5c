// The setup that the pipeline gets of an imaging plan: its outputs, its gate, and how display images show envelopes.
#pragma once

#include <memory>

#include "methods/method.hpp"
#include "methods/tfm/plan.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform {

/// The name in [imaging] method.
inline constexpr std::string_view tfm_name = "tfm";

/// The setup of a plan. Throws InputError if the plan is not valid. Each view has outputs in this order: its complex image
/// (if requested), its envelope, and its display image (if requested).
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan);
/// The same with other requested images.
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan,
                                                                     const OutputWish& wish);

/// The plan that a setup was made of by make_imaging_setup(). Throws std::logic_error for a setup of another method, which
/// is a mistake of the caller.
[[nodiscard]] const ImagingPlan& plan_of(const ImagingSetup& setup);

}  // namespace echoform
