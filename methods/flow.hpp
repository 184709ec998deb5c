// Images of flow, of whatever method: the keys that they have, the ensembles of a frame that they are found from, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/interval.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "config/configuration.hpp"
#include "pipeline/recipe.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {

/// The images of flow, with [doppler].
inline constexpr std::string_view velocity_image = "velocity";
inline constexpr std::string_view power_image = "power";
inline constexpr std::string_view variance_image = "variance";

/// Keys of [doppler].
struct DopplerSection {
  static constexpr Interval windows{0.0, 50.0};       // periods
  static constexpr Interval thresholds{-120.0, 0.0};  // dB
  static constexpr Interval frequencies{1e3, 1e9};    // Hz

  bool stated = false;                    ///< the file has the section: flow is looked for, unless pulse_repetition is 0
  std::optional<Hertz> pulse_repetition;  ///< of the transmit events; none: as the data state it
  WallFilterKind wall_filter = WallFilterKind::regression;
  std::size_t order = 1;           ///< of regression and of fir
  std::vector<double> taps;        ///< of fir; empty: by its order
  std::size_t components = 1;      ///< of svd
  double window = 2.0;             ///< periods of `frequency` along the line
  std::optional<Hertz> frequency;  ///< of the echoes; none: the probe's centre frequency
  double threshold_db = -30.0;     ///< of the power beside the frame's greatest
};

[[nodiscard]] inline const DopplerSection& doppler(const ImagingSettings& settings) {
  return section<DopplerSection>(settings);
}
[[nodiscard]] inline DopplerSection& doppler(ImagingSettings& settings) {
  return section<DopplerSection>(settings);
}

/// Whether [doppler] asks for images of flow.
[[nodiscard]] bool wants_flow(const ImagingSettings& settings);

/// From the pulse of an event until its last sample: the next event fires no earlier. Of a validated acquisition.
[[nodiscard]] Seconds duration_of_event(const Acquisition& acquisition);

/// Of a frame: transmit events that are alike are soundings of the same lines, or of the same pixels, one after the other.
struct Ensembles {
  std::vector<std::vector<std::uint32_t>> events;  ///< of each ensemble, in the order in which they fire
  std::size_t samples = 0;                         ///< of each ensemble
  std::size_t apart = 1;                           ///< events from a sample of an ensemble to its next
};

/// How many samples an ensemble may have.
struct EnsembleSizes {
  std::size_t least = WallFilterOptions::least_ensemble;
  std::size_t most = WallFilterOptions::most_ensemble;
  std::string_view what = "the samples of an ensemble for [doppler]";  ///< for messages
};

/// Events that are equal in all that they state are one ensemble. Throws InputError, naming `where`, unless all ensembles have as
/// many samples, as `sizes` has it, equally many events apart.
[[nodiscard]] Ensembles find_ensembles(const Acquisition& acquisition, std::string_view where, const EnsembleSizes& sizes = {});

/// How flow is found.
struct DopplerPlan {
  Ensembles ensembles;
  WallFilterOptions wall_filter;
  AutocorrelationOptions autocorrelation;
  Hertz pulse_repetition;   ///< of the transmit events
  bool of_data = false;     ///< pulse_repetition is what the data state
  Hertz repetition;         ///< of the samples of an ensemble
  Hertz frequency;          ///< of the echoes
  MetresPerSecond nyquist;  ///< c PRF / (4 f)
  double threshold = 0.0;   ///< of the power, as a part of the frame's greatest
  /// From lines that are formed to samples of ensembles, [line, sample], where lines are blended; null: they are as they are
  /// formed.
  std::shared_ptr<const LineBlendTable> samples;
};

/// All but the table and the window, for a configuration that wants_flow() and has replaced what the data state
/// (apply_overrides()). Throws InputError, naming configuration and key, also where neither [doppler] nor the data state
/// pulse_repetition, and where events last longer than it leaves time for.
[[nodiscard]] DopplerPlan find_doppler(const ImagingSettings& settings, const Acquisition& acquisition, MetresPerSecond velocity);
/// An image of flow, but for its grid: what it is, and how it is shown.
struct FlowImage {
  FlowKind kind = FlowKind::velocity;
  OutputDescription description;
};
/// Velocities from minus to plus the Nyquist velocity, powers in decibels, and variances from 0 to the largest that there can be.
[[nodiscard]] std::vector<FlowImage> flow_images(const DopplerPlan& plan);
/// The half window of [doppler] window in ranges that are `spacing` apart.
[[nodiscard]] std::size_t half_window_of(const DopplerSection& section, const DopplerPlan& plan, MetresPerSecond velocity,
                                         Metres spacing);
/// As a part of the greatest power.
[[nodiscard]] double threshold_of(const DopplerSection& section);

}  // namespace echoform

namespace echoform::words {

inline constexpr auto wall_filter =
    make_words(Word<WallFilterKind>{WallFilterKind::none, "none"}, Word<WallFilterKind>{WallFilterKind::regression, "regression"},
               Word<WallFilterKind>{WallFilterKind::fir, "fir"}, Word<WallFilterKind>{WallFilterKind::svd, "svd"});

}  // namespace echoform::words
