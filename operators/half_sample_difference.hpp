// The time derivative of rows, as a matrix: differences of values half a sample before and after each sample.
#pragma once

#include <cstddef>
#include <span>

namespace echoform {

/// samples[k] = edges[k + 1] - edges[k]; edges[k] lies half a sample before sample k, and there is one edge more than samples. Of
/// a wave of frequency f it is the derivative times the sampling interval times sin(x) / x, x = pi f / rate: 0.997 at a twentieth
/// of the rate, where the difference of the samples on both sides (Wang and others 2013, equation 13) has 0.984 and no values at
/// either end.
inline void half_sample_difference(std::span<const double> edges, std::span<float> samples) {
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = static_cast<float>(edges[k + 1] - edges[k]);
}

/// The transpose of the difference.
inline void half_sample_difference_adjoint(std::span<const float> samples, std::span<float> edges) {
  const std::size_t count = samples.size();
  edges[0] = -samples[0];
  for (std::size_t k = 1; k < count; ++k) edges[k] = samples[k - 1] - samples[k];
  edges[count] = samples[count - 1];
}

}  // namespace echoform
