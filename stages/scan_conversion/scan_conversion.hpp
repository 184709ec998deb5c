// Conversion of an image from the acoustic grid to the display grid.
//
// Input   uint8 or float32 [z, x] on the acoustic grid, any row stride.
// Output  the same type [z, x] on the display grid, rows without gaps. Nearest, bilinear or cubic convolution, separable;
//         taps beyond an edge repeat the edge. uint8 is rounded to the nearest level and clamped. Display pixels outside of the
//         acoustic grid's first and last centres are 0. All backends give the same bits.
//
// Cartesian grids are separable, so tables of taps for x and z are the whole geometry. A geometry that is not (a sector)
// is a stage of its own: stages/polar_scan_conversion/.
#pragma once

#include <memory>

#include "base/grid.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

struct ScanConversionOptions {
  Grid acoustic;  ///< two-dimensional: y.count == 1
  Grid display;   ///< two-dimensional
  ScanInterpolation interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;  ///< within cubic_alphas

  [[nodiscard]] friend bool operator==(const ScanConversionOptions&, const ScanConversionOptions&) = default;
};

/// The kind of the stage "scan-conversion", whose options are ScanConversionOptions.
extern const StageKind scan_conversion_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if grids or alpha are out of their ranges.
[[nodiscard]] std::unique_ptr<Stage> make_scan_conversion_cpu(const ScanConversionOptions& options, std::size_t members,
                                                              SimdLevel level = simd_level());

/// The stage runs on the GPU. `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA have this
/// function.
[[nodiscard]] std::unique_ptr<Stage> make_scan_conversion_cuda(const ScanConversionOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const ScanConversionOptions& options);
[[nodiscard]] BlockSpec scan_conversion_output(const ScanConversionOptions& options, const BlockSpec& input);

}  // namespace echoform
