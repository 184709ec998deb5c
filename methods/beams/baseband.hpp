// The path of scan lines through baseband: which band is kept, at how many samples.
#pragma once

#include <cstddef>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "stages/demodulation/demodulation.hpp"

namespace echoform {

/// How A-scans are converted to baseband; `start_time` and what belongs to raw samples are not set. Nothing where [beams]
/// path is "rf".
///
/// G is the distance from the demodulation frequency fd to the nearest image of the band, the smaller of 2 fd and
/// rate - 2 fd. P is the distance by which the pass band reaches from fd to either side: half of [beams] iq_bandwidth, or
/// without that key 1.4 times the probe's bandwidth (-6 dB). Beyond that the amplitude of a Gaussian spectrum is below 0.5 %
/// of its maximum. A probe that states no bandwidth counts with 0.6 fd. P is at most 0.45 G, so that the filter, which stops
/// at G - P from fd, stays short. The decimation is the largest that leaves a rate of 5 / 2 P, since delay filters are good
/// up to 0.4 of the sample rate.
///
/// If the band of a probe, of this width, came nearer to 0 Hz than fd / 4, it is kept from 0 Hz on (with `sidebands`, if the
/// sample rate can hold it). Pass and stop band of the filter then end fd / 5 on either side of 0 Hz, so that what it
/// leaves of both sidebands there adds up to the whole (vestigial sideband). Above the other edge, beyond 1.4 times the
/// bandwidth, the transition is as wide. The decimation is the largest that leaves the filter's band, up to where it stops.
///
/// Throws InputError, naming the key, where the band does not fit.
[[nodiscard]] std::optional<DemodulationOptions> resolve_baseband(const ImagingSettings& settings, const Acquisition& acquisition,
                                                                  bool sidebands = true);

/// The number of bins about 0 Hz, in the DFT of a line of `ranges` samples, in which lines of such a band hold parts of
/// both sidebands. It includes a margin for what sums along lines spread. The stage that combines both sidebands uses it. 0
/// where the band does not begin at 0 Hz, or the rate of the line, c / 2 over the distance of its ranges, does not hold the
/// band.
[[nodiscard]] std::size_t vestige_bins(const DemodulationOptions& options, Hertz line_rate, std::size_t ranges);
/// Whether vestige_bins() is 0 only because of the rate of the line.
[[nodiscard]] bool wants_more_ranges(const DemodulationOptions& options, Hertz line_rate);

}  // namespace echoform
