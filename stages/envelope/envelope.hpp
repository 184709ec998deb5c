// The complex image to its envelope.
//
// Input   complex64 [z, x], interleaved, any row stride.
// Output  float32 [z, x], rows without gaps: sqrt(re^2 + im^2) in single precision.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "stages/stage.hpp"

namespace echoform {

[[nodiscard]] std::unique_ptr<Stage> make_envelope_cpu(SimdLevel level = simd_level());

/// For the registry; neither the plan nor `view` matters.
[[nodiscard]] std::unique_ptr<Stage> make_envelope_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend);

}  // namespace echoform
