// The strength of transmitted beams at points off their own lines, so that lines between two events need not be dimmer than
// lines at the places of the events.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "methods/beams/blending.hpp"
#include "methods/beams/line_fan.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// The times from each line's event to its points, [line, range] in seconds; NaN where the event does not reach a point.
using TransmitTimes = std::function<std::vector<double>(const LineSet&)>;

/// Gains of blended lines, [line, point], at points spaced evenly over their ranges. A gain states by how much the sum of
/// both events' lines is weaker at a place than the events' own lines are at the same range. A point at p appears in a line
/// of event e with
///
///     A_e(p) = | sum over firing elements n of w_n g(tau_e(p) - t_n - |p - e_n| / c) |
///
/// where g is the probe's pulse, a Gaussian of its centre frequency and bandwidth (usual_bandwidth where the probe states
/// none), and tau_e the time at which the line looks up the wave. The gain is sum(share A_own) / |sum(share A_e)|.
/// Receiving is in focus on every line and does not enter.
struct BeamGains {
  std::size_t points = 0;
  std::vector<double> values;  ///< within 1 / most_beam_gain ... most_beam_gain

  /// The gain at a range, linear between points; `ranges` ranges lie from the first to the last point.
  [[nodiscard]] double at(std::size_t line, std::size_t range, std::size_t ranges) const;
};

/// The maximum gain, 12 dB: where beams hardly overlap there is little but noise to amplify.
inline constexpr double most_beam_gain = 4.0;

/// `lines` are made of `fanned`, with `of_event` lines of each event along each axis. If the probe has no centre frequency,
/// all gains are 1.
[[nodiscard]] BeamGains beam_gains(const BlendedLines& lines, const FannedLines& fanned, const LinesOfEvent& of_event,
                                   const Acquisition& acquisition, MetresPerSecond velocity, const LineRanges& ranges,
                                   const TransmitTimes& transmit_times);

}  // namespace echoform
