// Images that scroll, of one line of the image: M-mode, its envelope over the frames, and the spectrum of velocities in a gate.
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

  /// Of the rows, in seconds, the newest at 0; seconds stand where metres do, as angles of lines do.
  [[nodiscard]] Axis time_axis() const;
};

struct SpectrumPlan {
  LineSpectrumOptions spectrum;
  ScrollingPlan scrolling;
  Axis velocities;  ///< m/s of the bins, from minus the Nyquist velocity on, as time_axis()
};

/// Nothing where [m_mode] states no line. Throws InputError, naming configuration and key.
[[nodiscard]] std::optional<ScrollingPlan> resolve_m_mode(const ImagingSettings& settings, const LineFan& fan);

/// Nothing where [spectrum] states no line; `doppler` is that of the frame, which it wants. Throws InputError, naming
/// configuration and key.
[[nodiscard]] std::optional<SpectrumPlan> resolve_spectrum(const ImagingSettings& settings, const LineFan& fan,
                                                           const LineRanges& ranges, const std::optional<DopplerPlan>& doppler);

}  // namespace echoform
