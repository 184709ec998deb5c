// What is left of a pulse's spectrum where an image is made of it.
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

/// By frequency in Hz, what a filter multiplies amplitudes by; at least 0.
using AmplitudeResponse = std::function<double(double frequency)>;

/// The absolute value of the response of A-scans' filter (stages/filter/filter_response.hpp): phases of a Wiener filter are those
/// that the pulse has, and cancel them. Throws as filter_response().
[[nodiscard]] AmplitudeResponse response_of(const FilterOptions& filter);

/// The pulse whose spectrum is a Gaussian about `centre`, above 0, that is `bandwidth` wide at one half (-6 dB), times
/// `response`. A bandwidth of 0 is one frequency alone. Empty where nothing of it is left.
[[nodiscard]] std::vector<SpectralLine> pulse_spectrum(Hertz centre, Hertz bandwidth, const AmplitudeResponse& response);

/// Mean and variance of the frequency, by amplitude.
struct SpectralMoments {
  double mean = 0.0;
  double variance = 0.0;
};
/// Of a spectrum that is not empty.
[[nodiscard]] SpectralMoments moments_of(std::span<const SpectralLine> spectrum);

}  // namespace echoform
