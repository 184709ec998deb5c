#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/reconstructed_volumes.hpp"
#include "methods/tomography/raw_data.hpp"
#include "methods/tomography/section.hpp"
#include "stages/analytic_signal/row_response.hpp"

namespace echoform {
namespace {

/// The response in samples. A Gaussian one is sampled as far as it exceeds a millionth of its maximum.
DetectorResponse sampled_response(const DeconvolutionOptions& options) {
  if (options.response) return {*options.response, options.zero};
  // The spectrum has bins that are narrow against its width, so the response in time ends long before half of their period.
  constexpr double bins_of_width = 64.0;
  constexpr std::size_t most = DeconvolutionOptions::most_samples;
  const double wanted = bins_of_width * options.sample_rate.value / options.bandwidth.value;
  const auto period = static_cast<std::size_t>(std::min(std::ceil(0.5 * wanted), 0.5 * static_cast<double>(most))) * 2;
  const std::vector<double> response = impulse_response(detector_spectrum(options, period), period);
  const auto at = [&](std::size_t n) { return std::max(std::abs(response[n]), std::abs(response[(period - n) % period])); };
  double greatest = 0.0;
  for (const double value : response) greatest = std::max(greatest, std::abs(value));
  std::size_t reach = period / 2 - 1;
  while (reach > 0 && at(reach) <= 1e-6 * greatest) --reach;
  DetectorResponse sampled{{}, reach};
  for (std::size_t k = 0; k <= 2 * reach; ++k) sampled.samples.push_back(response[(k + period - reach) % period]);
  return sampled;
}

}  // namespace

VolumeSettings volume_settings(const ImagingSettings& settings, const Acquisition& acquisition) {
  VolumeSettings wanted;
  wanted.wavelengths = tomography(settings).wavelengths;
  wanted.wavelengths_place = "[tomography] wavelengths";
  wanted.event_gains = gains_of_events(settings, acquisition);
  if (const auto response = stated_detector_response(settings, acquisition.sample_rate)) {
    if (!response->response) refuse_coarse_response(settings, *response);
    wanted.response = sampled_response(*response);
  }
  wanted.shown = tomography(settings).shown;
  return wanted;
}

}  // namespace echoform
