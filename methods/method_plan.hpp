// What plans of all methods have in common: what they take of their task, and the setups that are made of them.
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

  /// Tells images before a change of settings from those after it; images carry it. 0 where settings do not change.
  std::uint64_t settings_revision = 0;
  Acquisition acquisition;
  Material material;  ///< of the part
  /// Amplitude of one unit of a sample of any encoding, in place of what the data state; finite, and not 0 as a float.
  std::optional<double> sample_scale;
  FilterOptions filter;  ///< of A-scans
  Compression compression;
  DisplaySection display;
  std::vector<Outline> outlines;      ///< probe and surfaces near the image, for whoever draws it; at most most_outlines
  std::vector<std::string> notes;     ///< what was chosen or replaced, a line each
  std::vector<std::string> warnings;  ///< what is likely to disappoint, a line each

  /// What imaging multiplies every sample by: sample_scale, or else what the data state.
  [[nodiscard]] double amplitude_scale() const { return sample_scale.value_or(stated_scale(acquisition)); }
};

/// The setup of a plan, but for what not all methods have: tables and groups.
[[nodiscard]] std::shared_ptr<ImagingSetup> make_setup(const std::shared_ptr<const MethodPlan>& plan, std::string_view method,
                                                       SampleGate gate, Recipe recipe);
/// The setup before with another plan, which is of the same frames, and compressed as that says.
[[nodiscard]] std::shared_ptr<ImagingSetup> retuned_setup(const ImagingSetup& before,
                                                          const std::shared_ptr<const MethodPlan>& plan);

/// How images of a plan on a grid of x and z are shown; on `grid`, where it is not theirs.
[[nodiscard]] GridDisplay display_of_plan(const MethodPlan& plan, const std::optional<Grid>& grid, bool wanted);

/// What a method made a setup of. std::logic_error for a setup of another method: its caller mistakes them.
template <class Plan>
[[nodiscard]] const Plan& plan_as(const ImagingSetup& setup) {
  if (const auto* const plan = dynamic_cast<const Plan*>(setup.origin.get())) return *plan;
  throw std::logic_error("a setup of the method \"" + setup.method + "\" where another's was expected");
}

}  // namespace echoform
