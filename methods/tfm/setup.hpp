// What the pipeline is told of an imaging plan: its outputs, its gate, how display images show envelopes.
#pragma once

#include <memory>

#include "methods/method.hpp"
#include "methods/tfm/plan.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform {

/// As [imaging] method has it.
inline constexpr std::string_view tfm_name = "tfm";

/// The setup of a plan, which is checked: throws InputError. For each view an output of its complex image (if wished), its
/// envelope and its display image (if wished), in this order.
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan);
/// The same of a plan that wishes for other images.
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan,
                                                                     const OutputWish& wish);

/// The plan that a setup was made of by make_imaging_setup(). std::logic_error for a setup of another method: its caller
/// mistakes them.
[[nodiscard]] const ImagingPlan& plan_of(const ImagingSetup& setup);

}  // namespace echoform
