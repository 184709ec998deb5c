// Ensembles of scan lines: transmit events that are alike are soundings of the same lines, for flow or to be added.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "methods/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// Soundings of one beam that are added to one line with signs, such as pulses of opposite polarity. Nothing where
/// [beams] pulse_weights is empty.
struct PulsePlan {
  Ensembles ensembles;
  std::vector<double> weights;                ///< of the samples of an ensemble
  std::shared_ptr<const LineBlendTable> sum;  ///< from lines that are formed to those of the image
};

/// All but the table. Throws InputError, naming configuration and key.
[[nodiscard]] std::optional<PulsePlan> resolve_pulses(const ImagingSettings& settings, const Acquisition& acquisition);

/// As find_doppler(), of scan lines, where [doppler] asks for flow.
[[nodiscard]] std::optional<DopplerPlan> resolve_doppler(const ImagingSettings& settings, const Acquisition& acquisition,
                                                         MetresPerSecond velocity);
/// Each of `lines`, which name the first event of their ensemble, once for every sample: [line, sample].
[[nodiscard]] std::vector<ImageLine> repeat_lines(const std::vector<ImageLine>& lines, const Ensembles& ensembles);
/// The table for lines repeated so: `blend` is that of one sample (null: lines are not blended). Flow needs none without it.
void add_table(DopplerPlan& plan, const std::shared_ptr<const LineBlendTable>& blend);
/// There are `lines` of them, of `ranges` each, where they are not blended.
void add_table(PulsePlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges);

}  // namespace echoform
