#include "methods/pulse_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

/// Distance from its middle, in bandwidths, at which a Gaussian is below a ten-thousandth.
constexpr double gaussian_reach = 2.0;
/// Amplitudes below this part of the greatest one are left out.
constexpr double weakest = 2e-3;
/// Number of parts in which the product is evaluated; edges of filters are hundreds of kilohertz wide.
constexpr std::size_t fine_parts = 4096;
/// Number of lines of a spectrum. Their distance is a 24th of the remaining band, so they repeat the pulse after 24 times the
/// inverse of that band. This is twenty times the pulse's -6 dB width for a flat band, and nine times for the whole Gaussian.
constexpr std::size_t line_count = 24;

}  // namespace

AmplitudeResponse response_of(const FilterOptions& filter) {
  if (filter.kind == FilterKind::none) return [](double) { return 1.0; };
  const auto factors = std::make_shared<const RowResponse>(filter_response(filter, response_samples));
  const double per_hertz = static_cast<double>(response_samples) / filter.sample_rate.value;
  return [factors, per_hertz](double frequency) {
    const double place = frequency * per_hertz;
    const auto last = static_cast<double>(factors->size() - 1);
    if (!(place >= 0.0 && place <= last)) return 0.0;
    const auto below = std::min(static_cast<std::size_t>(place), factors->size() - 2);
    const double part = place - static_cast<double>(below);
    return (1.0 - part) * std::abs((*factors)[below]) + part * std::abs((*factors)[below + 1]);
  };
}

std::vector<SpectralLine> pulse_spectrum(Hertz centre, Hertz bandwidth, const AmplitudeResponse& response) {
  if (!(bandwidth.value > 0.0)) return {{centre.value, 1.0}};
  const double low = std::max(0.0, centre.value - gaussian_reach * bandwidth.value);
  const double step = (centre.value + gaussian_reach * bandwidth.value - low) / static_cast<double>(fine_parts);
  std::vector<double> left(fine_parts);
  const auto frequency = [&](std::size_t part) { return low + (static_cast<double>(part) + 0.5) * step; };
  for (std::size_t k = 0; k < fine_parts; ++k) {
    const double off = (frequency(k) - centre.value) / bandwidth.value;
    left[k] = std::exp(-4.0 * std::numbers::ln2 * off * off) * response(frequency(k));
  }
  const double greatest = *std::ranges::max_element(left);
  if (!(greatest > 0.0)) return {};
  const auto counts = [&](double amplitude) { return amplitude >= weakest * greatest; };
  const auto begin = static_cast<std::size_t>(std::ranges::find_if(left, counts) - left.begin());
  const auto end = static_cast<std::size_t>(left.rend() - std::find_if(left.rbegin(), left.rend(), counts));
  std::vector<SpectralLine> lines;
  for (std::size_t line = 0; line < line_count; ++line) {
    SpectralLine found;
    const std::size_t last = begin + (end - begin) * (line + 1) / line_count;
    for (std::size_t k = begin + (end - begin) * line / line_count; k < last; ++k) {
      found.amplitude += left[k];
      found.frequency += left[k] * frequency(k);
    }
    if (!(found.amplitude > 0.0)) continue;
    found.frequency /= found.amplitude;
    lines.push_back(found);
  }
  return lines;
}

SpectralMoments moments_of(std::span<const SpectralLine> spectrum) {
  SpectralMoments moments;
  double all = 0.0;
  for (const SpectralLine& line : spectrum) {
    all += line.amplitude;
    moments.mean += line.amplitude * line.frequency;
  }
  moments.mean /= all;
  for (const SpectralLine& line : spectrum) {
    const double off = line.frequency - moments.mean;
    moments.variance += line.amplitude * off * off / all;
  }
  return moments;
}

}  // namespace echoform
