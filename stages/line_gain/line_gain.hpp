// Lines times a gain of their own: what one side of an image lacks is given back, as time gain does for depth.
//
// Input   float32 [lines, ranges], any row stride.
// Output  float32 [lines, ranges], rows without gaps: each line times its gain.
#pragma once

#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct LineGainOptions {
  std::shared_ptr<const std::vector<float>> gain;  ///< by line, finite

  /// By their contents.
  [[nodiscard]] friend bool operator==(const LineGainOptions& a, const LineGainOptions& b) {
    return a.gain == b.gain || (a.gain && b.gain && *a.gain == *b.gain);
  }
};

/// "line-gain", by LineGainOptions. It holds no memory.
extern const StageKind line_gain_stage;

/// Throws InputError, when it is prepared, unless there is a finite gain for each line.
[[nodiscard]] std::unique_ptr<Stage> make_line_gain_cpu(LineGainOptions options);

}  // namespace echoform
