// How many lookups an image costs. A lookup is a delay, an interpolation of a complex sample and an addition, for one pair and
// pixel.
#pragma once

#include <cstddef>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform::benchmarks {

struct LookupCount {
  double all = 0.0;      ///< pairs times pixels, whether there is anything to look up or not
  double reached = 0.0;  ///< those whose rays reach the pixel and whose delay lies within the samples that are imaged
};

/// The lookups of a frame over all views, with pairs as pairs_of() (benchmarks/array_case.hpp) counts them. Ignores weights.
/// Works on `threads` threads.
[[nodiscard]] LookupCount count_lookups(const ImagingPlan& plan, std::size_t threads);

/// Delays of one side in samples, [source, pixel], NaN where no ray goes; half of the start time is taken off, so that the sum
/// of both sides is a sample of the A-scan.
[[nodiscard]] std::vector<float> sample_delays(const ImagingPlan& plan, const Leg& leg);

/// Weights of the plan's apodization on one side, [element, pixel].
[[nodiscard]] std::vector<float> weights_of(const ImagingPlan& plan, const Leg& leg);

/// Lookups of one view whose sum of delays lies within [0, samples - 1), given both sides' [source, pixel] in samples. `once`:
/// pairs i <= j alone.
[[nodiscard]] double count_within(const std::vector<float>& transmit, const std::vector<float>& receive, std::size_t pixels,
                                  std::size_t samples, bool once, std::size_t threads);

}  // namespace echoform::benchmarks
