// Which place of a probe the echoes of its wedge's face agree with.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"
#include "base/units.hpp"

namespace echoform::formats {

/// How alike A-scans are in the echo of the plane z = 0, above which the elements of `placed` stand in a medium of `velocity`:
/// the semblance (sum s)^2 / (K sum s^2) of K A-scans at the times sqrt(dx^2 + dy^2 + (h_i + h_j)^2) / c, h the elements'
/// heights, at the lag of up to a period of the centre frequency (8 samples where that is unknown) at which it is the greatest.
/// 1: all alike; noise has a few times 1 / K. Elements up to 20 apart that fire alone count, neither dead; means of A-scans are
/// taken off. `samples` are a frame of `acquisition`, [row, sample]. Nothing where fewer than 16 A-scans reach that far, or the
/// elements are less than a wavelength above the plane.
[[nodiscard]] std::optional<double> face_semblance(const Acquisition& acquisition, const Probe& placed, MetresPerSecond velocity,
                                                   std::span<const float> samples);

/// What the two say together: a part of a line. `by_wedge` and `by_placement` are the semblances with the probe as `seated` by
/// its wedge and as `stated` by its placement.
[[nodiscard]] std::string face_proposal(std::optional<double> by_wedge, std::optional<double> by_placement, const Probe& seated,
                                        const Probe& stated);

}  // namespace echoform::formats
