// Optoacoustic back-projection: each voxel is the weighted sum, over detectors, of the signal that each received from it.
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^24: a row a detector, at t = start_time + column /
//         sample_rate; pressures, or the back-projection term of pressures
//         (stages/back_projection_term/back_projection_term.hpp).
// Output  float32 [z, y, x] on the grid, rows without gaps (rows z * y, sub_blocks y):
//   sum over q of w_q g(v_q) row_q(|v_q| / c), v_q = voxel - detector, row_q between samples by linear interpolation and 0
//   outside of 0 <= u < samples - 1, and g by the law,
//     constant       1
//     inverse_cube   max(0, n . v) / |v|^3: with w an area in m^2, the solid angle that it takes up seen from the voxel
//     inverse_square max(0, n . v) / |v|^2: with w a length in m, the angle in a plane
//   n the detector's normal; times max(0, n . v / |v|)^cosine_power, and 0 where n . v / |v| is below least_cosine.
//   Divided by the sum of the weights, those of rows that end too early too, with `normalise`; 0 where none is.
//
// An inclusion is an ellipsoid of another speed of sound. Rays stay straight, and the part of a ray inside the ellipsoid has
// the speed c_inside.
//
// The law determines the unit of weights. Sums are not normalised by default. Single precision: places and times are to
// about 1e-4 of a sample over 1000 samples (on CUDA 2e-4), sums to about 1e-6 of the sum of magnitudes. On CUDA a sample is
// interpolated on a line that is given relative to the middle of the window of its brick of voxels, w samples away. This
// adds an error of 1e-7 w times the difference of the neighbours, where w is about 40 in volumes and below 512. Squares of
// distances are given relative to that of the middle of a thread's voxels, D < w samples away: for voxels at a small
// distance of d samples from a detector, times are exact to 1.3e-7 (d + D)^2 / d. Levels of SIMD and CUDA differ by such
// rounding; numbers of threads and runs do not.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/geometry.hpp"
#include "base/grid.hpp"
#include "base/interval.hpp"
#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class ProjectionLaw : std::uint8_t { constant, inverse_cube, inverse_square };

struct ProjectionDetector {
  std::size_t row = 0;              ///< of the input
  Point centre;                     ///< not on a voxel
  Direction normal{0.0, 0.0, 1.0};  ///< of length 1, towards the sources that the detector receives
  double weight = 1.0;              ///< w: finite; in m^2 with inverse_cube, in m with inverse_square

  [[nodiscard]] friend bool operator==(const ProjectionDetector&, const ProjectionDetector&) = default;
};

/// An ellipsoid along the axes.
struct SoundInclusion {
  Point centre;
  std::array<Metres, 3> radii{};  ///< along x, y and z, > 0
  MetresPerSecond velocity;       ///< > 0

  [[nodiscard]] friend bool operator==(const SoundInclusion&, const SoundInclusion&) = default;
};

struct BackProjectionOptions {
  static constexpr unsigned most_cosine_power = 8;

  Grid grid;
  std::shared_ptr<const std::vector<ProjectionDetector>> detectors;  ///< at least one
  ProjectionLaw law = ProjectionLaw::constant;
  MetresPerSecond velocity;  ///< > 0
  Hertz sample_rate;         ///< > 0
  Seconds start_time;        ///< of column 0 after the pulse of light
  std::optional<SoundInclusion> inclusion;
  unsigned cosine_power = 0;   ///< at most most_cosine_power
  double least_cosine = -1.0;  ///< -1 to 1; -1: detectors receive from all directions
  bool normalise = false;

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const BackProjectionOptions& a, const BackProjectionOptions& b) {
    return a.grid == b.grid && a.law == b.law && a.velocity == b.velocity && a.sample_rate == b.sample_rate &&
           a.start_time == b.start_time && a.inclusion == b.inclusion && a.cosine_power == b.cosine_power &&
           a.least_cosine == b.least_cosine && a.normalise == b.normalise &&
           (a.detectors == b.detectors || (a.detectors && b.detectors && *a.detectors == *b.detectors));
  }
};

/// The kind of the stage "back-projection", whose options are BackProjectionOptions.
extern const StageKind back_projection_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_back_projection_cpu(const BackProjectionOptions& options,
                                                              SimdLevel level = simd_level());

/// The stage runs on the GPU. `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA have this
/// function.
[[nodiscard]] std::unique_ptr<Stage> make_back_projection_cuda(const BackProjectionOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const BackProjectionOptions& options);
[[nodiscard]] BlockSpec back_projection_output(const BackProjectionOptions& options, const BlockSpec& input);

}  // namespace echoform
