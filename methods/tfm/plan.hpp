// Everything that fixes how frames of one acquisition become images. Resolved and checked once; constant afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/flow.hpp"
#include "methods/method_plan.hpp"
#include "pipeline/sample_gate.hpp"
#include "rays/scene.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/beamform/apodization_options.hpp"
#include "stages/beamform/interpolation.hpp"

namespace echoform {

struct ImagingPlan;

/// The part of a frame that is imaged from one position of the probe.
struct PositionPlan {
  std::size_t position = 0;           ///< index among the positions of the frame
  std::vector<std::uint32_t> events;  ///< of the frame: event k of plan->acquisition is events[k]
  /// The plan for what is acquired there, with the probe at its place (acquisition/positions.hpp), on the same grid and
  /// gate.
  std::shared_ptr<const ImagingPlan> plan;
};

struct ImagingPlan : MethodPlan {
  using MethodPlan::MethodPlan;

  Grid grid;                       ///< acoustic grid
  std::optional<SampleGate> gate;  ///< within the A-scan; none: the whole A-scan
  Interpolation interpolation = Interpolation::linear;
  /// Relative L2 error of complex images that is good enough, 1e-6 .. 0.1. From 1e-3 on a backend may keep samples in half
  /// precision; below, single precision. The CPU is always in single precision.
  double accuracy = 1e-3;
  Apodization apodization;
  AdaptiveOptions adaptive;            ///< of the receivers' images, with its window in pixels along z; "none": their sum
  std::vector<std::uint32_t> events;   ///< events of a frame that are imaged, ascending; empty: all
  bool by_groups = false;              ///< frames are imaged by groups of A-scans
  std::optional<DopplerPlan> doppler;  ///< images of flow (pixel_flow.hpp): then `events` are first samples of ensembles
  std::vector<float> event_weights;    ///< one an imaged event, for waves of several elements; empty: all alike
  std::optional<Grid> display_grid;    ///< where it differs from the acoustic grid
  std::vector<DelayLaw> laws;          ///< one a view, at least one; with several positions those of the first imaged one
  /// For frames that state positions of the probe, the positions at which some imaged event fires, in their order. Their
  /// images are added.
  std::vector<PositionPlan> positions;
  Scene scene;  ///< what lies between elements and pixels

  /// Does what MethodPlan::take_display() does, and takes [doppler] threshold_db.
  void take_display(const ImagingSettings& settings);

  /// The gate, or the whole A-scan where there is none.
  [[nodiscard]] SampleGate imaged_samples() const { return gate.value_or(SampleGate{0, acquisition.samples}); }
  /// Whether no law and no weight distinguishes (i, j) from (j, i). Then the matrix may be halved, and a pair costs one lookup.
  [[nodiscard]] bool reciprocal() const;
};

/// Throws InputError unless grids, ranges and laws (leg sources == elements) are right. `where` names the config.
void validate(const ImagingPlan& plan, std::string_view where);

}  // namespace echoform
