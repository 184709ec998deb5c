// What plans of all methods have in common: the values from their task, and the setups that are made of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "methods/display_settings.hpp"
#include "methods/imaging_task.hpp"
#include "methods/shown_images.hpp"
#include "pipeline/imaging_setup.hpp"
#include "stages/compression/compression_options.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// Everything that fixes how frames of one acquisition become images by a method. Resolved once; constant afterwards.
struct MethodPlan : SetupOrigin {
  MethodPlan() = default;
  explicit MethodPlan(const ImagingTask& task);

  /// Distinguishes images before a change of settings from those after it; images carry it. 0 where settings do not change.
  std::uint64_t settings_revision = 0;
  Acquisition acquisition;
  Material material;  ///< of the part
  /// Amplitude of one unit of a sample of any encoding, in place of what the data state; finite, and not 0 as a float.
  std::optional<double> sample_scale;
  FilterOptions filter;  ///< of A-scans
  Compression compression;
  DisplaySection display;
  std::vector<Outline> outlines;      ///< probe and surfaces near the image, to be drawn over it; at most most_outlines
  std::vector<std::string> notes;     ///< what was chosen or replaced, a line each
  std::vector<std::string> warnings;  ///< what is likely to disappoint, a line each
  OutputWish wish;                    ///< which images are made beside the envelopes

  /// Takes the values of keys of LiveEffect::display; the plan of a method with such keys takes those too. Throws
  /// InputError if a value is out of its range.
  void take_display(const ImagingSettings& settings);

  /// The factor by which imaging multiplies every sample: sample_scale, or else the factor that the data state.
  [[nodiscard]] double amplitude_scale() const { return sample_scale.value_or(stated_scale(acquisition)); }
};

/// The setup of a plan, without what only some methods have: tables and groups.
[[nodiscard]] std::shared_ptr<ImagingSetup> make_setup(const std::shared_ptr<const MethodPlan>& plan, std::string_view method,
                                                       SampleGate gate, Recipe recipe);
/// How images of a plan on a grid of x and z are shown; `grid` is the display grid where it differs from theirs.
[[nodiscard]] GridDisplay display_of_plan(const MethodPlan& plan, const std::optional<Grid>& grid, bool wanted);

/// The plan that a method made a setup of. Throws std::logic_error for a setup of another method, which is a mistake of the
/// caller.
template <class Plan>
[[nodiscard]] const Plan& plan_as(const ImagingSetup& setup) {
  if (const auto* const plan = dynamic_cast<const Plan*>(setup.origin.get())) return *plan;
  throw std::logic_error("a setup of the method \"" + setup.method + "\" where another's was expected");
}

/// Whether an engine may use the steps of one recipe for those of the other: no step is added, removed or of another kind.
[[nodiscard]] bool same_stages(const Recipe& a, const Recipe& b);

/// Implements Method::retuned(): a copy of the plan takes the display keys of `wanted`, and `make` makes a setup of it as
/// it did before. Nothing is computed anew, since options of steps compare by their contents; delay laws and tables are
/// shared.
template <class Plan>
[[nodiscard]] std::shared_ptr<const ImagingSetup> retuned_setup(
    const ImagingSetup& before, const ImagingSettings& wanted, std::uint64_t settings_revision,
    std::shared_ptr<const ImagingSetup> (*make)(const std::shared_ptr<const Plan>&)) {
  auto plan = std::make_shared<Plan>(plan_as<Plan>(before));
  plan->settings_revision = settings_revision;
  plan->take_display(wanted);
  auto setup = make(plan);
  return same_stages(before.recipe, setup->recipe) ? setup : nullptr;
}

}  // namespace echoform
