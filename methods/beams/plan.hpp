// Everything that fixes how frames of one acquisition become images of scan lines. Resolved once; constant afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "methods/beams/ensembles.hpp"
#include "methods/beams/line_fan.hpp"
#include "methods/beams/scrolling.hpp"
#include "methods/beams/section.hpp"
#include "methods/method.hpp"
#include "methods/method_plan.hpp"
#include "pipeline/sample_gate.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/filter/filter_options.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// The name of the method in [imaging] method, and of its one image.
inline constexpr std::string_view beams_name = "beams";
inline constexpr std::string_view beams_image = "lines";
/// The images that scroll, with [m_mode] line and [spectrum] line.
inline constexpr std::string_view m_mode_image = "m_mode";
inline constexpr std::string_view spectrum_image = "spectrum";

struct BeamsPlan : MethodPlan {
  using MethodPlan::MethodPlan;

  MetresPerSecond velocity;
  std::vector<std::uint32_t> events;            ///< events that have lines, ascending
  LineFan fan;                                  ///< fan of the image
  std::vector<LineFan> steered;                 ///< all fans that the image is compounded of, including `fan`; empty: only `fan`
  std::shared_ptr<const LineSet> lines;         ///< lines of the image, or with [beams] blend their components
  std::shared_ptr<const LineBlendTable> blend;  ///< null: none
  SampleGate gate;
  std::optional<DemodulationOptions> baseband;  ///< resolve_baseband()
  std::size_t vestige = 0;                      ///< vestige_bins(); 0: lines are analytic signals as they are summed
  std::optional<DopplerPlan> doppler;           ///< resolve_doppler(): then `lines` are those of each sample of its ensembles
  std::optional<PulsePlan> pulses;              ///< resolve_pulses(): then `lines` are those of each sounding of a beam
  std::optional<ScrollingPlan> m_mode;          ///< resolve_m_mode()
  std::optional<SpectrumPlan> spectrum;         ///< resolve_spectrum()
  BeamsSection section;
  FilterOptions line_filter;  ///< of lines, for adaptive weights whose values lie about twice the centre frequency; else none
  Grid display_grid;

  /// Does what MethodPlan::take_display() does, and takes the display keys of [beams], [doppler], [m_mode] and [spectrum].
  void take_display(const ImagingSettings& settings);
};

/// Throws InputError, naming configuration and key.
[[nodiscard]] std::shared_ptr<const BeamsPlan> build_beams_plan(const ImagingTask& task);

/// The setup of a plan.
[[nodiscard]] std::shared_ptr<const ImagingSetup> make_beams_setup(const std::shared_ptr<const BeamsPlan>& plan);

/// The plan that a setup was made of by make_beams_setup().
[[nodiscard]] const BeamsPlan& beams_plan_of(const ImagingSetup& setup);

/// Factors of [beams] time_gain for each sample of the gate. They are linear in dB between its depths c t / 2 and constant
/// beyond them; null where there is no time gain.
[[nodiscard]] std::shared_ptr<const std::vector<float>> time_gain_of(const BeamsPlan& plan);

/// Factors of [beams] lateral_gain for each line of the image. They are linear in dB between its places, which lie evenly
/// over the lines (in a volume, over the azimuths); null where there is no lateral gain.
[[nodiscard]] std::shared_ptr<const std::vector<float>> lateral_gain_of(const BeamsPlan& plan);

/// The axes of the envelope: ranges by lines, for a volume by azimuths and elevations.
[[nodiscard]] Grid polar_grid(const BeamsPlan& plan);

}  // namespace echoform
