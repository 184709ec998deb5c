// Lines times a gain of their own: what one side of an image lacks is given back, as time gain does for depth.
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

/// Throws InputError, when it is prepared, unless there is a finite gain for each line.
[[nodiscard]] std::unique_ptr<Stage> make_line_gain_cpu(LineGainOptions options);

/// The same bits on the GPU; `backend` is a CUDA backend and outlives the stage. Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_line_gain_cuda(LineGainOptions options, Backend& backend);

/// What every implementation asks of its gains for so many lines, and of its input, and the output that comes of it. Throw
/// InputError.
void check_line_gain(const LineGainOptions& options, std::size_t lines);
[[nodiscard]] BlockSpec line_gain_output(const LineGainOptions& options, const BlockSpec& input);

}  // namespace echoform
