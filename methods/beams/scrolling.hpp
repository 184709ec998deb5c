// Images that scroll, made of one line of the image: M-mode, the line's envelope over the frames, and the spectrum of
// velocities in a gate.
#pragma once

#include <cstddef>
#include <optional>

#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "methods/beams/ensembles.hpp"
#include "methods/beams/line_fan.hpp"
#include "methods/beams/section.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/scan_lines/line_set.hpp"
#include "stages/scroll/scroll.hpp"

namespace echoform {

/// An image whose rows are moments, the newest last.
struct ScrollingPlan {
  ScrollOptions scroll;
  Seconds row;  ///< from a row to the next

  /// The axis of the rows, in seconds, with the newest at 0. Seconds are stored where metres are, as angles of lines are.
  [[nodiscard]] Axis time_axis() const;
};

struct SpectrumPlan {
  LineSpectrumOptions spectrum;
  ScrollingPlan scrolling;
  Axis velocities;  ///< m/s of the bins, from minus the Nyquist velocity on, stored as in time_axis()
};

/// Nothing where [m_mode] states no line. Throws InputError, naming configuration and key.
[[nodiscard]] std::optional<ScrollingPlan> resolve_m_mode(const ImagingSettings& settings, const LineFan& fan);

/// Nothing where [spectrum] states no line. `doppler` is the plan of the frame's flow, which the spectrum needs. Throws
/// InputError, naming configuration and key.
[[nodiscard]] std::optional<SpectrumPlan> resolve_spectrum(const ImagingSettings& settings, const LineFan& fan,
                                                           const LineRanges& ranges, const std::optional<DopplerPlan>& doppler);

}  // namespace echoform
