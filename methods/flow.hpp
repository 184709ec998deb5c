// Images of flow, for every method: their keys, the ensembles of a frame that they are computed from, and the plan of the
// computation.
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

  bool stated = false;                    ///< the file has the section: images of flow are made, unless pulse_repetition is 0
  std::optional<Hertz> pulse_repetition;  ///< rate of the transmit events, Hz; none: as the data state it
  WallFilterKind wall_filter = WallFilterKind::regression;
  std::size_t order = 1;           ///< order of regression and of fir
  std::vector<double> taps;        ///< taps of fir; empty: by its order
  std::size_t components = 1;      ///< of svd
  double window = 2.0;             ///< periods of `frequency` along the line
  std::optional<Hertz> frequency;  ///< of the echoes; none: the probe's centre frequency
  double threshold_db = -30.0;     ///< of the power relative to the frame's maximum
};

[[nodiscard]] inline const DopplerSection& doppler(const ImagingSettings& settings) {
  return section<DopplerSection>(settings);
}
[[nodiscard]] inline DopplerSection& doppler(ImagingSettings& settings) {
  return section<DopplerSection>(settings);
}

/// Whether [doppler] asks for images of flow.
[[nodiscard]] bool wants_flow(const ImagingSettings& settings);

/// The time from the pulse of an event until its last sample; the next event fires no earlier. Expects a validated
/// acquisition.
[[nodiscard]] Seconds duration_of_event(const Acquisition& acquisition);

/// The ensembles of a frame: equal transmit events are soundings of the same lines, or of the same pixels, one after the
/// other.
struct Ensembles {
  std::vector<std::vector<std::uint32_t>> events;  ///< events of each ensemble, in the order in which they fire
  std::size_t samples = 0;                         ///< of each ensemble
  std::size_t apart = 1;                           ///< number of events from a sample of an ensemble to the next
};

/// The numbers of samples that an ensemble may have.
struct EnsembleSizes {
  std::size_t least = WallFilterOptions::least_ensemble;
  std::size_t most = WallFilterOptions::most_ensemble;
  std::string_view what = "the samples of an ensemble for [doppler]";  ///< for messages
};

/// Events that are equal in all that they state form one ensemble. Throws InputError, naming `where`, unless all ensembles
/// have the same number of samples, within `sizes`, at the same distance in events.
[[nodiscard]] Ensembles find_ensembles(const Acquisition& acquisition, std::string_view where, const EnsembleSizes& sizes = {});

/// How flow is computed.
struct DopplerPlan {
  Ensembles ensembles;
  WallFilterOptions wall_filter;
  AutocorrelationOptions autocorrelation;
  Hertz pulse_repetition;   ///< of the transmit events
  bool of_data = false;     ///< pulse_repetition is what the data state
  Hertz repetition;         ///< of the samples of an ensemble
  Hertz frequency;          ///< of the echoes
  MetresPerSecond nyquist;  ///< c PRF / (4 f)
  double threshold = 0.0;   ///< of the power, as a part of the frame's maximum
  /// The table from lines that are formed to samples of ensembles, [line, sample], where lines are blended. Null: samples
  /// are the lines as they are formed.
  std::shared_ptr<const LineBlendTable> samples;
};

/// The plan without its table and window. The configuration wants_flow(), and has replaced what the data state
/// (apply_overrides()). Throws InputError, naming configuration and key. It also throws where neither [doppler] nor the
/// data state pulse_repetition, and where events last longer than that leaves time for.
[[nodiscard]] DopplerPlan find_doppler(const ImagingSettings& settings, const Acquisition& acquisition, MetresPerSecond velocity);
/// An image of flow without its grid: what it holds, and how it is shown.
struct FlowImage {
  FlowKind kind = FlowKind::velocity;
  OutputDescription description;
};
/// The images of flow: velocities from minus to plus the Nyquist velocity, powers in decibels, and variances from 0 to the
/// maximum that is possible.
[[nodiscard]] std::vector<FlowImage> flow_images(const DopplerPlan& plan);
/// The half window of [doppler] window in ranges that are `spacing` apart.
[[nodiscard]] std::size_t half_window_of(const DopplerSection& section, const DopplerPlan& plan, MetresPerSecond velocity,
                                         Metres spacing);
/// The threshold as a part of the maximum power.
[[nodiscard]] double threshold_of(const DopplerSection& section);

}  // namespace echoform

namespace echoform::words {

inline constexpr auto wall_filter =
    make_words(Word<WallFilterKind>{WallFilterKind::none, "none"}, Word<WallFilterKind>{WallFilterKind::regression, "regression"},
               Word<WallFilterKind>{WallFilterKind::fir, "fir"}, Word<WallFilterKind>{WallFilterKind::svd, "svd"});

}  // namespace echoform::words
