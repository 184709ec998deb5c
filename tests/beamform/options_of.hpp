// The beamformer's options as a plan has them, on rows of the test's own.
#pragma once

#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/stage_options.hpp"

namespace echoform {

/// Rows as a frame of this kind has them, nothing added up.
inline PairRows rows_of(MatrixKind kind, std::size_t elements) {
  if (kind == MatrixKind::full) return all_pairs(elements, elements);
  return kind == MatrixKind::half ? pairs_both_ways(elements) : summed_pairs(elements);
}

inline BeamformOptions options_of(const ImagingPlan& plan, PairRows pairs) {
  PlanPairs stated = plan_pairs(plan);
  stated.firing.clear();
  if (!pairs.summed && !plan.acquisition.events.empty()) stated.firing = firing_elements(plan.acquisition);
  stated.rows = std::move(pairs);
  return beamform_options(plan, stated, 0);
}
inline BeamformOptions options_of(const ImagingPlan& plan, MatrixKind kind) {
  return options_of(plan, rows_of(kind, plan.acquisition.elements()));
}

}  // namespace echoform
