// A detector's frame for the interpolated model.
#pragma once

#include "acquisition/detectors.hpp"
#include "base/grid.hpp"
#include "operators/interpolated_math.hpp"

namespace echoform::interpolated {

/// The frame of `detector` in units of voxels, as interpolated_math.hpp counts them.
[[nodiscard]] DetectorFrame frame_of(const Detector& detector, const Grid& grid);

}  // namespace echoform::interpolated
