// Conversion of an image of beams by samples to the display grid, for sector and curvilinear probes and for parallel beams
// of linear probes.
//
// Input   uint8 or float32 [beams, samples], any row stride: beam b points at angle first + b * angle_pitch from the z axis,
//         towards positive x where positive; sample s lies at depth start_depth + s * sample_spacing below the probe's surface.
// Output  the same type [z, x] on the display grid, rows without gaps. uint8 is rounded to the nearest level and clamped.
//         Pixels outside of the sector that the beams' first and last samples span are 0.
//
// The probe's surface meets the z axis at z = 0, so beams meet at the apex (0, -probe_radius). A pixel lies at
//
//     r = sqrt(x^2 + (z + probe_radius)^2),   theta = atan2(x, z + probe_radius)
//     s = (r - probe_radius - start_depth) / sample_spacing,   b = (theta - first) / angle_pitch
//
// Of parallel beams, which begin at (b * line_pitch, 0) and all point at first_angle, a pixel lies at
//
//     s = (z / cos(first_angle) - start_depth) / sample_spacing,   b = (x - z tan(first_angle)) / line_pitch
//
// The value of a pixel comes from the samples around (b, s) with offsets v = b - floor(b), u = s - floor(s):
//   cubic     along the beam (1 - u) P[s] + u P[s + 1]; across beams weights h(1 + v), h(v), h(1 - v), h(2 - v) for beams
//             b - 1 ... b + 2, with Keys' kernel h (stages/scan_conversion/scan_conversion_math.hpp)
//   bilinear  linear along both
//   nearest   the nearest sample of the nearest beam, halves up
// Taps beyond the outermost beams and the last sample repeat them. (X. He and X. Zhang, J. Chongqing Normal University 30(3), 94,
// 2013, where the weights along the beam are exchanged, r - probe_radius is not divided by the spacing, and theta is divided by
// the angle of the outermost beam.)
//
// The geometry is worked out once, in double precision. Offsets u and v are kept to 2^-16 or finer (2^-21 for 1024 samples);
// all implementations, GPU included, give the same bits.
#pragma once

#include <memory>
#include <optional>

#include "base/grid.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

struct PolarScanConversionOptions {
  std::size_t beams = 0;     ///< 2 to 65535
  double angle_pitch = 0.0;  ///< radians from beam to beam, > 0; of parallel beams 0
  Metres line_pitch;         ///< of parallel beams: from one to the next along x, > 0; else 0
  /// Angle of beam 0 in radians; none: the beams lie symmetrically about the z axis. All beams lie within -pi .. pi, parallel
  /// ones within 80 degrees of the z axis.
  std::optional<double> first_angle;
  std::size_t samples = 0;  ///< along a beam, 2 to 65535
  Metres sample_spacing;    ///< > 0
  Metres start_depth;       ///< of sample 0, >= 0
  Metres probe_radius;      ///< of a curvilinear probe; 0: a sector, with its apex on the probe
  Grid display;             ///< two-dimensional
  ScanInterpolation interpolation = ScanInterpolation::cubic;
  double cubic_alpha = -0.5;  ///< within cubic_alphas; -0.5 alone keeps straight lines

  [[nodiscard]] friend bool operator==(const PolarScanConversionOptions&, const PolarScanConversionOptions&) = default;
};

/// The kind of the stage "polar-scan-conversion", whose options are PolarScanConversionOptions. It states the maximum size
/// of the tables, since the pixels inside of the sector are counted only when they are found.
extern const StageKind polar_scan_conversion_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_polar_scan_conversion_cpu(const PolarScanConversionOptions& options,
                                                                    SimdLevel level = simd_level());

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_polar_scan_conversion_cuda(const PolarScanConversionOptions& options, Backend& backend);

}  // namespace echoform
