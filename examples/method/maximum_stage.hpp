// The greater of two envelopes, pixel by pixel, the second times a weight: a stage of one's own.
//
// Input   two blocks float32 [z, x] of one shape, any row strides.
// Output  float32 [z, x], rows without gaps: max(first, weight * second) in single precision.
//
// Retuned by other MaximumOptions. It holds no memory, and runs on the CPU.
#pragma once

#include "base/interval.hpp"
#include "pipeline/stage.hpp"

struct MaximumOptions {
  static constexpr echoform::Interval weights{0.0, 1000.0};

  double weight = 1.0;  ///< rounded to single precision

  [[nodiscard]] friend bool operator==(const MaximumOptions&, const MaximumOptions&) = default;
};

/// "maximum", by MaximumOptions.
extern const echoform::StageKind maximum_stage;
