// What an imaging plan asks of each stage.
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

/// What the stages are told of a plan's pairs, found once for all of them.
struct PlanPairs {
  /// Element of each source of the transmit leg; empty where source k is element k, for all elements.
  std::vector<std::uint32_t> firing;
  bool waves = false;       ///< sources of the transmit leg are events
  bool coded = false;       ///< frames hold rows of a code, which are decoded into `rows`
  bool reciprocal = false;  ///< no law and no weight tells (i, j) from (j, i)
  /// Whether views that are each other's mirror have the same image, since some pair is looked up in a direction in which it was
  /// not received, and no weight tells.
  bool mirrors_alike = false;
  PairRows rows;
};
/// Throws InputError for an event in which not one element fires.
[[nodiscard]] PlanPairs plan_pairs(const ImagingPlan& plan);

/// `pairs` are those of the plan, here and below.
/// Of coded frames the rows as they were received.
[[nodiscard]] PairingOptions pairing_options(const ImagingPlan& plan, const PlanPairs& pairs);
/// From those to pairs.rows, of coded frames. Throws InputError where the code cannot be undone.
[[nodiscard]] DecodingOptions decoding_options(const ImagingPlan& plan, const PlanPairs& pairs);
/// Plans with an accuracy of half_path_accuracy or more take the half path.
[[nodiscard]] AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan);
/// Of one view, on the rows of pairing_options(). Made twice they compare equal.
[[nodiscard]] BeamformOptions beamform_options(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view);
/// Of the plan of a frame's position, or of the plan itself, for images that are added up to the frame's; of views that are alike
/// the first's.
[[nodiscard]] BeamformOptions beamform_options_of_part(const ImagingPlan& plan, const ImagingPlan& part, const PlanPairs& pairs,
                                                       std::size_t view);
/// Rows of the frame, by A-scan of an acquisition of these events of it alone, which ascend.
[[nodiscard]] std::vector<std::size_t> rows_of_events(const FrameLayout& frame, const std::vector<std::uint32_t>& events);
/// Of frames of several positions: what is paired for all of them, and of a view the sum of their images. `pairs` are those of
/// the positions' plans, in their order.
[[nodiscard]] PairingOptions pairing_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs);
[[nodiscard]] BeamformSumOptions beamform_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs, std::size_t view);
/// How its images are shown.
[[nodiscard]] GridDisplay grid_display(const ImagingPlan& plan);

}  // namespace echoform
