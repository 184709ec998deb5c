// Adaptive weights that need the channels themselves.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channels_math.hpp"
#include "stages/adaptive_weights/packed_channels.hpp"

namespace echoform::adaptive {

float phase_coherence_factor(const AdaptiveOptions& options, const ChannelWindow& window) {
  return phase_coherence(PackedChannels<true>{window}, static_cast<unsigned>(window.channels),
                         static_cast<unsigned>(window.centre), options.sensitivity, Alone{});
}

/// The same as short_lag_coherence(), with neighbouring channels side by side.
float short_lag_spatial_coherence(const AdaptiveOptions& options, const ChannelWindow& window) {
  const std::size_t channels = window.channels;
  if (channels < 2) return 0.0F;
  const std::size_t lags = short_lags(options.short_lag, static_cast<unsigned>(channels));
  double* const roots = window.workspace;  // for the roots of 1 / energy
  double* const products = roots + channels;
  std::fill_n(roots, channels, 0.0);
  for (std::size_t k = 0; k < window.points; ++k) {
    const float* const s = window.real + k * channels;
    for (std::size_t n = 0; n < channels; ++n) roots[n] += static_cast<double>(s[n]) * s[n];
  }
  for (std::size_t n = 0; n < channels; ++n) roots[n] = roots[n] > 0.0 ? 1.0 / std::sqrt(roots[n]) : 0.0;
  double sum = 0.0;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    const std::size_t pairs = channels - lag;
    std::fill_n(products, pairs, 0.0);
    for (std::size_t k = 0; k < window.points; ++k) {
      const float* const s = window.real + k * channels;
      for (std::size_t n = 0; n < pairs; ++n) products[n] += static_cast<double>(s[n]) * s[n + lag];
    }
    double correlation = 0.0;
    for (std::size_t n = 0; n < pairs; ++n) correlation += products[n] * roots[n] * roots[n + lag];
    sum += correlation / static_cast<double>(pairs);
  }
  return static_cast<float>(std::max(0.0, sum / static_cast<double>(lags)));
}

}  // namespace echoform::adaptive
