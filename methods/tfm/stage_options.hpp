// The options of each stage for an imaging plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "methods/shown_images.hpp"
#include "methods/tfm/plan.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/beamform/beamform_sum.hpp"
#include "stages/decoding/decoding.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform {

/// A plan's pairs, as all stages need them; they are computed once.
struct PlanPairs {
  /// Element of each source of the transmit leg; empty where source k is element k, for all elements.
  std::vector<std::uint32_t> firing;
  bool waves = false;       ///< sources of the transmit leg are events
  bool coded = false;       ///< frames hold rows of a code, which are decoded into `rows`
  bool reciprocal = false;  ///< no law and no weight distinguishes (i, j) from (j, i)
  /// Whether views that mirror each other have the same image, since some pair is looked up in a direction in which it was
  /// not received, and no weight distinguishes the directions.
  bool mirrors_alike = false;
  PairRows rows;
};
/// Throws InputError for an event in which not one element fires.
[[nodiscard]] PlanPairs plan_pairs(const ImagingPlan& plan);

/// The pairing of a plan; for coded frames, the rows as they were received. `pairs` are those of the plan, here and below.
[[nodiscard]] PairingOptions pairing_options(const ImagingPlan& plan, const PlanPairs& pairs);
/// The decoding of coded frames, from the rows of pairing_options() to pairs.rows. Throws InputError where the code cannot
/// be inverted.
[[nodiscard]] DecodingOptions decoding_options(const ImagingPlan& plan, const PlanPairs& pairs);
/// Plans with an accuracy of half_path_accuracy or more take the half path.
[[nodiscard]] AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan);
/// The options of one view, on the rows of pairing_options(). Options that are made twice compare equal.
[[nodiscard]] BeamformOptions beamform_options(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view);
/// The options of `part`, the plan of a frame's position or `plan` itself, whose images are added up to the frame's. For
/// views that are alike, these are the options of the first.
[[nodiscard]] BeamformOptions beamform_options_of_part(const ImagingPlan& plan, const ImagingPlan& part, const PlanPairs& pairs,
                                                       std::size_t view);
/// The row of the frame for each A-scan of an acquisition that has only these events of the frame, ascending.
[[nodiscard]] std::vector<std::size_t> rows_of_events(const FrameLayout& frame, const std::vector<std::uint32_t>& events);
/// The options for frames of several positions: what is paired for all of them, and for a view the sum of their images.
/// `pairs` are those of the positions' plans, in their order.
[[nodiscard]] PairingOptions pairing_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs);
[[nodiscard]] BeamformSumOptions beamform_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs, std::size_t view);
/// How images of the plan are shown.
[[nodiscard]] GridDisplay grid_display(const ImagingPlan& plan);

}  // namespace echoform
