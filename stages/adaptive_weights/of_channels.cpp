// Adaptive weights that want the channels themselves.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::adaptive {

float phase_coherence_factor(const AdaptiveOptions& options, const ChannelWindow& window) {
  constexpr double pi = std::numbers::pi;
  const float* const real = window.real + window.centre * window.channels;
  const float* const imaginary = window.imaginary + window.centre * window.channels;
  double all = 0.0;
  double weight = 0.0;
  double sum[2] = {};
  double squares[2] = {};
  for (std::size_t n = 0; n < window.channels; ++n) {
    const double w = window.weights[n];
    all += w;
    if (real[n] == 0.0F && imaginary[n] == 0.0F) continue;
    weight += w;
    const double phase = std::atan2(imaginary[n], real[n]);
    const double turned = phase > 0.0 ? phase - pi : phase + pi;
    sum[0] += w * phase;
    sum[1] += w * turned;
    squares[0] += w * phase * phase;
    squares[1] += w * turned * turned;
  }
  if (!(weight > 0.0)) return 0.0F;
  const auto variance = [&](std::size_t k) {
    const double mean = sum[k] / weight;
    return std::max(0.0, squares[k] / weight - mean * mean);
  };
  const double spread = std::sqrt(std::min(variance(0), variance(1)));
  const double factor = std::max(0.0, 1.0 - options.sensitivity * spread / (pi / std::numbers::sqrt3));
  return static_cast<float>(factor * weight / all);
}

float short_lag_spatial_coherence(const AdaptiveOptions& options, const ChannelWindow& window) {
  const std::size_t channels = window.channels;
  if (channels < 2) return 0.0F;
  const auto wanted = static_cast<std::size_t>(std::lround(options.short_lag * static_cast<double>(channels)));
  const std::size_t lags = std::clamp<std::size_t>(wanted, 1, channels - 1);
  double* const roots = window.workspace;  // of 1 / energy
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
