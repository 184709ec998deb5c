// The samples of an A-scan that an image can need. A live run uploads, transforms and looks up only these.
#pragma once

#include <cstddef>
#include <optional>

#include "methods/tfm/plan.hpp"

namespace echoform {

/// The first and the last sample, as whole numbers, that pairs of living elements that fire and that record look up. They
/// lie beyond 0 .. samples - 1 where the A-scan does not hold what an image needs.
struct SampleReach {
  double first = 0.0;
  double last = 0.0;
};
/// The reach over all views of a plan. Nothing where no pixel is reached at all.
[[nodiscard]] std::optional<SampleReach> samples_reached(const ImagingPlan& plan);

/// The gate of a plan (its own gate does not matter): from the first sample that any such pair looks up in any view, less
/// `guard`, to the last one, plus `guard`, and then
/// - `first` is a multiple of 8, so that rows of every encoding begin on whole bytes, and on 16 bytes for int16 and float32,
/// - `count` is an FFT-friendly length: 2^a 3^b 5^c and a multiple of 16. From 256 to 8192 it is 1, 3 or 5 times a power of
///   two where that takes at most 12 % more than is needed, since the GPU has a transform of its own for these.
/// So the gate is at most an eighth and 24 samples longer than from `first` to the guard's last sample. The surplus is
/// behind, or before where the A-scan ends too early. Nothing where the gate is the whole A-scan, or where the image lies
/// outside of it altogether.
///
/// The guard is needed because the transform takes the gate for one period: its ends meet in a step, to which the
/// quadrature responds with 1/n on either side. 64 samples are eight periods of a pulse that is sampled eight times a
/// period, so no echo that is imaged is close to the step. A filter responds to the step too, as far as its response
/// reaches; the given guard includes that length (response_size()).
///
/// The first `muted` samples, a multiple of 8, are not in the gate. If it would begin before them, it begins behind them,
/// and ends with the A-scan if no length of that kind fits.
[[nodiscard]] std::optional<SampleGate> choose_gate(const ImagingPlan& plan, std::size_t guard, std::size_t muted = 0);

/// The shortest length of the kind described above that is at least `needed`.
[[nodiscard]] std::size_t gate_length(std::size_t needed);

}  // namespace echoform
