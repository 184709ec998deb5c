// The term of a detector's pressure that is projected back. It depends only on detector and time, so the sum over detectors
// needs one lookup for each voxel and detector.
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28: p at t = start_time + column / sample_rate.
// Output  float32 [rows, samples], rows padded with zeros to a multiple of 16 samples, no trailer:
//   filtered   2 p / (c t) + p' / c, in 1/m: the filtered back-projection of Finch, Patch and Rakesh (2004), for detectors on a
//              sphere, t standing for |r - r_s| / c
//   universal  2 p - 2 t p': Xu and Wang (2005)
// The term is 0 within half a sample of the pulse of light and before it, where nothing is received yet.
//
// p' is the central difference of order 24 (12 samples on either side): its gain differs from that of a derivative by less
// than 1e-12 up to a tenth of the sample rate, 8.1e-7 at a fifth, 7.5e-5 at a quarter and 2.1e-3 at three tenths. Beyond its
// ends a row continues with its first or last value, so that the derivative of a constant is 0 everywhere.
#pragma once

#include <cstdint>
#include <memory>

#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class ProjectedTerm : std::uint8_t { filtered, universal };

struct BackProjectionTermOptions {
  ProjectedTerm term = ProjectedTerm::filtered;
  MetresPerSecond velocity;  ///< > 0; ignored for `universal`
  Hertz sample_rate;         ///< > 0
  Seconds start_time;        ///< of column 0 after the pulse of light

  [[nodiscard]] friend bool operator==(const BackProjectionTermOptions&, const BackProjectionTermOptions&) = default;
};

/// Number of samples on either side of a sample that its derivative depends on.
inline constexpr std::size_t derivative_reach = 12;

/// The kind of the stage "back-projection-term", whose options are BackProjectionTermOptions.
extern const StageKind back_projection_term_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_back_projection_term_cpu(const BackProjectionTermOptions& options, std::size_t members,
                                                                   SimdLevel level = simd_level());

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_back_projection_term_cuda(const BackProjectionTermOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const BackProjectionTermOptions& options);
[[nodiscard]] BlockSpec back_projection_term_output(const BlockSpec& input);

}  // namespace echoform
