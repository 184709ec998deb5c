// Multiplies each line by its own gain. This corrects losses on one side of an image, as time gain does over depth.
//
// Input   float32 [lines, ranges], any row stride.
// Output  float32 [lines, ranges], rows without gaps: each line times its gain.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct LineGainOptions {
  std::shared_ptr<const std::vector<float>> gain;  ///< by line, finite

  /// Two shared pointers count as equal if what they point to is equal.
  [[nodiscard]] friend bool operator==(const LineGainOptions& a, const LineGainOptions& b) {
    return a.gain == b.gain || (a.gain && b.gain && *a.gain == *b.gain);
  }
};

/// The kind of the stage "line-gain", whose options are LineGainOptions. It holds the gains on CUDA, else nothing.
extern const StageKind line_gain_stage;

/// prepare() throws InputError unless there is a finite gain for each line.
[[nodiscard]] std::unique_ptr<Stage> make_line_gain_cpu(LineGainOptions options);

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_line_gain_cuda(LineGainOptions options, Backend& backend);

/// The checks that every implementation makes of its gains for `lines` lines and of its input, and the resulting output.
/// Both functions throw InputError.
void check_line_gain(const LineGainOptions& options, std::size_t lines);
[[nodiscard]] BlockSpec line_gain_output(const LineGainOptions& options, const BlockSpec& input);

}  // namespace echoform
