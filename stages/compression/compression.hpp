// Values as 8 bits: in decibels, or as numbers on a scale (base/value_scale.hpp).
//
// Input   float32 [z, x], any row stride.
// Output  uint8 [z, x], rows without gaps.
//
//   decibels        L = 20 log10(value / reference) + gain, 0 dB and above -> 255, -dynamic_range and below -> 0, linear in L
//                   between, rounded to the nearest (L to 1e-4 dB). Zeros, NaN, negative and subnormal values -> 0. With
//                   options.masked, level 0 is for NaN only, and all other values become at least 1.
//   power_decibels  the same with 10 log10. A fixed reference is an amplitude there, too: its square is 0 dB.
//   from_zero       0 and below -> 1, the end and above -> 255, linear between, rounded to the nearest. NaN -> 0.
//   symmetric       -end and below -> 1, 0 -> 128, the end and above -> 255, likewise.
//
// The end of a scale of numbers is options.end, or else reference * 10^(-gain / 20).
//
// The reference is fixed or running. A running reference takes a higher peak of a frame at once, and moves by
// running_fraction of the distance towards a lower one, before the frame is compressed. On a symmetric scale peaks are those
// of magnitudes. Until a frame has a finite peak above 0 there is no reference, and all levels in decibels are 0.
//
// Facts: the reference or, for numbers, the end of the scale. Where there is no reference yet, the fact shown follows from
// options.reference_value. A running reference continues from the value given to resume() if that is positive and finite.
// The stage can be retuned by other Compression options of the same scale, end and masked. A running reference then
// continues; one that was fixed begins anew.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/compression/compression_options.hpp"

namespace echoform {

/// The kind of the stage "compression", whose options are Compression.
extern const StageKind compression_stage;

/// Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_compression_cpu(const Compression& options, SimdLevel level = simd_level());

/// The stage runs on the GPU. `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA have this
/// function.
[[nodiscard]] std::unique_ptr<Stage> make_compression_cuda(const Compression& options, Backend& backend);

/// The checks of the input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec compression_output(const BlockSpec& input);

}  // namespace echoform
