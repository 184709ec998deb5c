// Ensembles of a frame for Doppler images: transmit events that are alike are soundings of the same lines, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "methods/beams/section.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/scan_lines/line_set.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {

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

/// Soundings of one beam that are added to one line with signs, such as pulses of opposite polarity. Nothing where
/// [beams] pulse_weights is empty.
struct PulsePlan {
  Ensembles ensembles;
  std::vector<double> weights;                ///< of the samples of an ensemble
  std::shared_ptr<const LineBlendTable> sum;  ///< from lines that are formed to those of the image
};

/// All but the table. Throws InputError, naming configuration and key.
[[nodiscard]] std::optional<PulsePlan> resolve_pulses(const Configuration& configuration, const Acquisition& acquisition);

/// How flow is found.
struct DopplerPlan {
  Ensembles ensembles;
  WallFilterOptions wall_filter;
  AutocorrelationOptions autocorrelation;
  Hertz repetition;         ///< of the samples of an ensemble
  Hertz frequency;          ///< of the echoes
  MetresPerSecond nyquist;  ///< c PRF / (4 f)
  double threshold = 0.0;   ///< of the power, as a part of the frame's greatest
  /// From lines that are formed to samples of ensembles, [line, sample], where lines are blended; null: they are as they are
  /// formed. And to the lines of the image, each the mean over its ensemble.
  std::shared_ptr<const LineBlendTable> samples;
  std::shared_ptr<const LineBlendTable> mean;
};

/// All but the tables and the window. Throws InputError, naming configuration and key.
[[nodiscard]] DopplerPlan find_doppler(const Configuration& configuration, const Acquisition& acquisition,
                                       MetresPerSecond velocity);
/// The same of scan lines, where [doppler] states a pulse_repetition.
[[nodiscard]] std::optional<DopplerPlan> resolve_doppler(const Configuration& configuration, const Acquisition& acquisition,
                                                         MetresPerSecond velocity);
/// The half window of [doppler] window in ranges that are `spacing` apart.
[[nodiscard]] std::size_t half_window_of(const DopplerSection& section, const DopplerPlan& plan, MetresPerSecond velocity,
                                         Metres spacing);
/// As a part of the greatest power.
[[nodiscard]] double threshold_of(const DopplerSection& section);

/// Each of `lines`, which name the first event of their ensemble, once for every sample: [line, sample].
[[nodiscard]] std::vector<ImageLine> repeat_lines(const std::vector<ImageLine>& lines, const Ensembles& ensembles);
/// The tables for lines repeated so: `blend` is that of one sample (null: lines are not blended, there are `lines` of them).
void add_tables(DopplerPlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges);
void add_tables(PulsePlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges);

}  // namespace echoform
