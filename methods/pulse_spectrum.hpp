// The part of a pulse's spectrum that is left in an image.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// A part of a spectrum, as if it were all at one frequency.
struct SpectralLine {
  double frequency = 0.0;  ///< Hz, above 0
  double amplitude = 0.0;  ///< above 0, relative to the others'
};

/// The factor by which a filter multiplies amplitudes at a frequency in Hz; at least 0.
using AmplitudeResponse = std::function<double(double frequency)>;

/// The absolute value of the response of the filter of A-scans (stages/filter/filter_response.hpp). The phases of a Wiener
/// filter are the opposite of the pulse's phases and cancel them. Throws as filter_response().
[[nodiscard]] AmplitudeResponse response_of(const FilterOptions& filter);

/// The pulse whose spectrum is a Gaussian about `centre`, above 0, that is `bandwidth` wide at one half (-6 dB), times
/// `response`. A bandwidth of 0 stands for a single frequency. Empty where nothing of the pulse is left.
[[nodiscard]] std::vector<SpectralLine> pulse_spectrum(Hertz centre, Hertz bandwidth, const AmplitudeResponse& response);

/// Mean and variance of the frequency, by amplitude.
struct SpectralMoments {
  double mean = 0.0;
  double variance = 0.0;
};
/// The moments of a spectrum that is not empty.
[[nodiscard]] SpectralMoments moments_of(std::span<const SpectralLine> spectrum);

}  // namespace echoform
