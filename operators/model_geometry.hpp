// What models of optoacoustic data share: which voxels, which detectors, which samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "acquisition/detectors.hpp"
#include "base/grid.hpp"
#include "base/units.hpp"

namespace echoform {

/// Images are p0 [z, y, x] on `grid`; data are pressures [detector, sample].
struct ModelGeometry {
  Grid grid;
  std::vector<Detector> detectors;  ///< a row each
  std::size_t samples = 0;          ///< a row
  Hertz sample_rate;
  Seconds start_time;        ///< of sample 0 after the pulse of light
  MetresPerSecond velocity;  ///< of sound
};

/// Throws InputError, naming `where`: no detectors, no samples, a rate or velocity that is not above 0 or not finite, a start
/// time that is not finite, a grid that validate() refuses, voxels that are not as far apart along each axis (to 1e-6; axes of
/// one voxel are taken to be), and a detector within the grid's box or without a finite place.
void validate(const ModelGeometry& geometry, const char* where);

/// Distance of neighbouring voxels, along every axis.
[[nodiscard]] Metres voxel_spacing(const Grid& grid);

/// Distance from the middle of the largest living element to its corners; 0 if there is none.
[[nodiscard]] Metres largest_half_diagonal(std::span<const Detector> detectors);

}  // namespace echoform
