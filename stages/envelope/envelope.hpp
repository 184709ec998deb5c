// The envelope of a complex image, or the mean envelope of several soundings of it.
//
// Input   complex64 [z * N, x], interleaved or planar, any row stride, with or without leading zeros: images, and lines as the
//         analytic signal leaves them on either backend. N is the number of soundings: row l N + n is row l of sounding n, as
//         beamform-ensemble and the lines of ensembles have them.
// Output  float32 [z, x], rows without gaps: (1 / N) times the sum over n, in its order, of sqrt(re^2 + im^2), in single
//         precision, the same bits on every backend. For one sounding it is the envelope.
//
// The mean of envelopes keeps what moves from sounding to sounding, which would cancel in the mean of the complex images.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct EnvelopeOptions {
  std::size_t soundings = 1;  ///< N, at least 1

  [[nodiscard]] friend constexpr bool operator==(const EnvelopeOptions&, const EnvelopeOptions&) = default;
};

/// The kind of the stage "envelope", whose options are EnvelopeOptions. It holds no memory.
extern const StageKind envelope_stage;

[[nodiscard]] std::unique_ptr<Stage> make_envelope_cpu(const EnvelopeOptions& options = {}, SimdLevel level = simd_level());

/// The stage runs on the GPU; blocks must be aligned to 16 bytes. Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_envelope_cuda(const EnvelopeOptions& options = {});

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec envelope_output(const EnvelopeOptions& options, const BlockSpec& input);

}  // namespace echoform
