// Everything that fixes how frames of one acquisition become tomograms. Resolved once; constant afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "methods/method.hpp"
#include "methods/method_plan.hpp"
#include "methods/tomography/reach.hpp"
#include "methods/tomography/section.hpp"
#include "methods/tomography/surface.hpp"
#include "methods/unmixing_settings.hpp"
#include "pipeline/sample_gate.hpp"

namespace echoform {

/// The name in [imaging] method.
inline constexpr std::string_view tomography_name = "tomography";

/// The detectors of events with light of one wavelength, and its image.
struct WavelengthPlan {
  std::string image;
  Metres wavelength;                ///< 0 where unknown
  std::vector<Detector> detectors;  ///< living detectors
  std::vector<std::size_t> rows;    ///< rows of these detectors in the frame
  std::size_t declared = 0;         ///< number of detectors, including dead ones
  std::size_t first_row = 0;        ///< first of their rows, which are contiguous, in the blocks of the chain
  DetectorShares shares;
};

struct TomographyPlan : MethodPlan {
  using MethodPlan::MethodPlan;

  MetresPerSecond velocity;
  Grid grid;
  std::optional<Grid> display_grid;
  DetectorSurface surface;
  std::vector<WavelengthPlan> wavelengths;  ///< at least one
  bool shows_mean = false;                  ///< whether the image of their mean is output before their images
  std::optional<UnmixingPlan> unmixing;     ///< unmixing of their images
  std::optional<SoundInclusion> object;
  std::size_t muted = 0;  ///< samples at the beginning of each A-scan that are left out
  SampleGate gate;
  ReachOfGrid reach;
  std::optional<DeconvolutionOptions> deconvolution;
  std::vector<float> event_gains;  ///< one an event, for the energy of its light; empty: 1 for all
  TomographySection section;

  /// Does what MethodPlan::take_display() does, and takes the display keys of [unmixing].
  void take_display(const ImagingSettings& settings);
};

/// The rules of Method::rules(). Throws as check_tomography().
[[nodiscard]] TaskRules tomography_rules(const ImagingSettings& settings, ImagingUse use);

/// Throws InputError, naming settings and key.
[[nodiscard]] std::shared_ptr<const TomographyPlan> build_tomography_plan(const ImagingTask& task);

/// The setup of a plan.
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_tomography_setup(const std::shared_ptr<const TomographyPlan>& plan);
/// The plan that a setup was made of by make_tomography_setup().
[[nodiscard]] const TomographyPlan& tomography_plan_of(const ImagingSetup& setup);

}  // namespace echoform
