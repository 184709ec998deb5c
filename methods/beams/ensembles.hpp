// Ensembles of scan lines: equal transmit events are soundings of the same lines, either for flow or to be added.
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
  std::shared_ptr<const LineBlendTable> sum;  ///< from the lines that are formed to the lines of the image
};

/// The plan without its table. Throws InputError, naming configuration and key.
[[nodiscard]] std::optional<PulsePlan> resolve_pulses(const ImagingSettings& settings, const Acquisition& acquisition);

/// The result of find_doppler() for scan lines; nothing where [doppler] does not ask for flow.
[[nodiscard]] std::optional<DopplerPlan> resolve_doppler(const ImagingSettings& settings, const Acquisition& acquisition,
                                                         MetresPerSecond velocity);
/// Repeats each of `lines`, which name the first event of their ensemble, once for every sample: [line, sample].
[[nodiscard]] std::vector<ImageLine> repeat_lines(const std::vector<ImageLine>& lines, const Ensembles& ensembles);
/// Adds the table for lines that are repeated by repeat_lines(). `blend` is the table of one sample; null: lines are not
/// blended, and flow needs no table.
void add_table(DopplerPlan& plan, const std::shared_ptr<const LineBlendTable>& blend);
/// Adds the table of the sum. Where lines are not blended, there are `lines` of them with `ranges` each.
void add_table(PulsePlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges);

}  // namespace echoform
