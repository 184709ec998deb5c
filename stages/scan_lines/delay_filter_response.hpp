// Response of a fractional delay to tones: its result for exp(j 2 pi frequency n) at the place n + fraction, divided by the
// exact value exp(j 2 pi frequency (n + fraction)). 1 is ideal. Frequencies are in cycles a sample, 0 to 0.5; fractions 0 to
// below 1.
#pragma once

#include <complex>
#include <optional>

#include "stages/scan_lines/delay_filter.hpp"

namespace echoform {

/// Response of the table, as evaluate() looks it up.
[[nodiscard]] std::complex<double> delay_response(const DelayFilter& filter, double frequency, double fraction);

/// Response of the filter by its definition, with coefficients in double precision. The options are valid.
[[nodiscard]] std::complex<double> exact_delay_response(const DelayFilterOptions& options, double frequency, double fraction);

/// Averages over all fractions with equal weight. The integrals of the table are computed in closed form.
struct MeanDelayResponse {
  /// Expected response of a sum over many elements. |mean| / |1 - mean| is its signal-to-noise ratio where there is no other
  /// noise.
  std::complex<double> mean;
  /// sqrt(mean of |1 - response|^2): the error of one element, including what cancels in the mean. Rounding leaves about 1e-8.
  double rms_error = 0.0;
};
[[nodiscard]] MeanDelayResponse mean_delay_response(const DelayFilter& filter, double frequency);

/// Factor of the power of white noise: the mean over all fractions of the sum of the coefficients' squares. Linear
/// interpolation has 2/3.
[[nodiscard]] double mean_noise_gain(const DelayFilter& filter);

/// The mean in closed form where there is one: sinc(f) for nearest, sinc^2(f) for linear, and sinc^2(f / 4) for upsampled,
/// assuming ideal upsampling.
[[nodiscard]] std::optional<double> ideal_mean_response(const DelayFilterOptions& options, double frequency);

}  // namespace echoform
