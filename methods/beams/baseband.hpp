// The path of scan lines through baseband: which band is kept, at how many samples.
#pragma once

#include <cstddef>
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
/// A probe's band of which that would come nearer to 0 Hz than fd / 4 is kept from 0 Hz on (with `sidebands`, where the sample
/// rate has room for it): pass and stop band of the filter end fd / 5 on either side of 0 Hz, so that what it leaves of both
/// sidebands there is together the whole (vestigial sideband), and as far above the other edge, behind 1.4 times the bandwidth.
/// The decimation is the largest that leaves the filter's band, up to where it stops.
///
/// Throws InputError, naming the key, where the band does not fit.
[[nodiscard]] std::optional<DemodulationOptions> resolve_baseband(const ImagingSettings& settings, const Acquisition& acquisition,
                                                                  bool sidebands = true);

/// Bins about 0 Hz, of the DFT of a line of `ranges` samples, in which lines of such a band hold parts of both sidebands, with
/// room for what sums along them spread: for the stage that makes one of both. 0 where the band does not begin at 0 Hz, or the
/// rate of the line, c / 2 over the distance of its ranges, does not hold it.
[[nodiscard]] std::size_t vestige_bins(const DemodulationOptions& options, Hertz line_rate, std::size_t ranges);
/// Whether it is 0 for the rate of the line alone.
[[nodiscard]] bool wants_more_ranges(const DemodulationOptions& options, Hertz line_rate);

}  // namespace echoform
