// Conversion of a volume of beams in two directions by samples to the display grid, for matrix arrays.
//
// Input   uint8 or float32 [elevations * azimuths, samples], any row stride: the beam at azimuth a and elevation b points along
//         (sin a cos b, sin b, cos a cos b); sample s lies at depth start_depth + s * sample_spacing below the probe's surface.
// Output  the same type [z, y, x] on the display grid, rows without gaps. uint8 is rounded to the nearest level and clamped.
//         Voxels outside of what the outermost beams and samples span are 0.
//
// Beams meet at the apex (0, 0, -probe_radius). A voxel lies, with down = z + probe_radius, at
//
//     r = sqrt(x^2 + y^2 + down^2),   a = atan2(x, down),   b = atan2(y, sqrt(x^2 + down^2))
//
// of which sample and beams follow by the first ones and the distances of neighbours, and its value comes from the samples around
// it as in stages/polar_scan_conversion/polar_scan_conversion.hpp: linear along the beam; across beams, first in azimuth, then in
// elevation, cubic by Keys' kernel or linear; or the nearest sample of the nearest beam, halves up. Taps beyond the outermost
// beams and the last sample repeat them.
//
// The geometry is worked out once, in double precision; all implementations, GPU included, give the same bits.
#pragma once

#include <memory>

#include "base/grid.hpp"
#include "pipeline/stage.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

/// Angles first + k * pitch, 0 <= k < count, in radians.
struct BeamAngles {
  std::size_t count = 0;  ///< 2 to 4096
  double first = 0.0;
  double pitch = 0.0;  ///< > 0

  [[nodiscard]] friend bool operator==(const BeamAngles&, const BeamAngles&) = default;
};

struct PolarVolumeConversionOptions {
  BeamAngles azimuths;      ///< from +z towards +x, within -pi .. pi
  BeamAngles elevations;    ///< towards +y, within -pi / 2 .. pi / 2
  std::size_t samples = 0;  ///< along a beam, 2 to 65535
  Metres sample_spacing;    ///< > 0
  Metres start_depth;       ///< of sample 0, >= 0
  Metres probe_radius;      ///< of an array on a ball; 0: beams meet on the probe
  Grid display;
  ScanInterpolation interpolation = ScanInterpolation::cubic;
  double cubic_alpha = -0.5;  ///< within cubic_alphas; -0.5 alone keeps straight lines

  [[nodiscard]] friend bool operator==(const PolarVolumeConversionOptions&, const PolarVolumeConversionOptions&) = default;
};

/// The kind of the stage "polar-volume-conversion", whose options are PolarVolumeConversionOptions. It states the maximum
/// size of its tables, since the voxels inside are counted only when they are found.
extern const StageKind polar_volume_conversion_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_polar_volume_conversion_cpu(const PolarVolumeConversionOptions& options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_polar_volume_conversion_cuda(const PolarVolumeConversionOptions& options,
                                                                       Backend& backend);

}  // namespace echoform
