// The complex image to its envelope.
//
// Input   complex64 [z, x], interleaved or planar, any row stride, with or without leading zeros: images, and lines as the
//         analytic signal leaves them on either backend.
// Output  float32 [z, x], rows without gaps: sqrt(re^2 + im^2) in single precision, the same bits on every backend.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// There is nothing to choose.
struct EnvelopeOptions {
  [[nodiscard]] friend constexpr bool operator==(const EnvelopeOptions&, const EnvelopeOptions&) = default;
};

/// "envelope", by EnvelopeOptions. It holds no memory.
extern const StageKind envelope_stage;

[[nodiscard]] std::unique_ptr<Stage> make_envelope_cpu(SimdLevel level = simd_level());

/// On the GPU; blocks start on 16 bytes. In builds with CUDA code.
[[nodiscard]] std::unique_ptr<Stage> make_envelope_cuda();

/// What every implementation asks of its input, and the output that comes of it. Throws InputError.
[[nodiscard]] BlockSpec envelope_output(const BlockSpec& input);

}  // namespace echoform
