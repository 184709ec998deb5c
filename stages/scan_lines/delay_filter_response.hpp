// What a fractional delay makes of tones: exp(j 2 pi frequency n) at the place n + fraction, over what it ought to be there,
// exp(j 2 pi frequency (n + fraction)). 1 is ideal. Frequencies are in cycles a sample, 0 to 0.5; fractions 0 to below 1.
#pragma once

#include <complex>
#include <optional>

#include "stages/scan_lines/delay_filter.hpp"

namespace echoform {

/// Of the table, as evaluate() looks it up.
[[nodiscard]] std::complex<double> delay_response(const DelayFilter& filter, double frequency, double fraction);

/// Of the filter as it is defined, its coefficients in double precision. The options are valid.
[[nodiscard]] std::complex<double> exact_delay_response(const DelayFilterOptions& options, double frequency, double fraction);

/// Over all fractions alike, the integrals of the table by their closed forms.
struct MeanDelayResponse {
  /// What a sum over many elements comes to; |mean| / |1 - mean| is its signal-to-noise ratio where there is no noise but this.
  std::complex<double> mean;
  /// sqrt(mean of |1 - response|^2): the error of one element, with what cancels in the mean. Rounding leaves some 1e-8.
  double rms_error = 0.0;
};
[[nodiscard]] MeanDelayResponse mean_delay_response(const DelayFilter& filter, double frequency);

/// What the power of white noise is multiplied by, the mean over all fractions: that of the sum of the coefficients' squares.
/// Linear: 2/3.
[[nodiscard]] double mean_noise_gain(const DelayFilter& filter);

/// The mean in closed form where there is one: sinc(f) of nearest, sinc^2(f) of linear, sinc^2(f / 4) of upsampled, as it would
/// be after ideal upsampling.
[[nodiscard]] std::optional<double> ideal_mean_response(const DelayFilterOptions& options, double frequency);

}  // namespace echoform
