// The path of scan lines through baseband: which band is kept, at how many samples.
#pragma once

#include <memory>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "stages/demodulation/demodulation.hpp"

namespace echoform {

/// How A-scans go to baseband; `start_time` and what belongs to raw samples are not set. Nothing where [beams] path is "rf".
///
/// With G the distance from the demodulation frequency fd to the nearest image of the band, the lesser of 2 fd and rate - 2 fd:
/// the pass band reaches as far as [beams] iq_bandwidth / 2 from fd. Without that 1.4 times the probe's bandwidth (-6 dB),
/// beyond which a Gaussian spectrum's amplitude is below 0.5 % of its greatest, of a probe that states none 1.4 times 0.6 fd;
/// 0.45 G at most, so that the filter, which stops at G less the pass band, stays short. The decimation is the largest that
/// leaves 5 / 2 times the pass band, 0.4 of the sample rate, up to which delay filters are good.
///
/// Throws InputError, naming the key, where the band does not fit.
[[nodiscard]] std::optional<DemodulationOptions> resolve_baseband(const Configuration& configuration,
                                                                  const Acquisition& acquisition);

}  // namespace echoform
