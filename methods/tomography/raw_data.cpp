#include "methods/tomography/raw_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "methods/tomography/section.hpp"

namespace echoform {
namespace {

// Limit of the impulse response at half the sample rate, relative to its greatest value.
constexpr double tolerated_alias = 0.1;

std::string response_place(const ImagingSettings& settings) {
  return settings.place(tomography(settings).impulse_response.empty() ? "[tomography] impulse_bandwidth"
                                                                      : "[tomography] impulse_response");
}

}  // namespace

std::vector<float> gains_of_events(const ImagingSettings& settings, const Acquisition& acquisition) {
  if (tomography(settings).pulse_energy != PulseEnergyUse::divided) return {};
  double sum = 0.0;
  for (const TransmitEvent& event : acquisition.events) {
    const double energy = std::get<PassiveEvent>(event.form).pulse_energy;
    if (!(energy > 0.0)) {
      throw InputError(settings.place("[tomography] pulse_energy"), "\"divided\", and events without a pulse energy",
                       "an energy of every event, or \"ignored\"");
    }
    sum += energy;
  }
  const double mean = sum / static_cast<double>(acquisition.events.size());
  std::vector<float> gains;
  for (const TransmitEvent& event : acquisition.events)
    gains.push_back(static_cast<float>(mean / std::get<PassiveEvent>(event.form).pulse_energy));
  return gains;
}

std::optional<DeconvolutionOptions> stated_detector_response(const ImagingSettings& settings, Hertz sample_rate) {
  const TomographySection& section = tomography(settings);
  if (!section.deconvolves()) return std::nullopt;
  DeconvolutionOptions options;
  options.sample_rate = sample_rate;
  options.noise = section.impulse_noise.value_or(options.noise);
  options.cutoff = section.impulse_cutoff.value_or(0.5 * sample_rate);
  const std::string place = response_place(settings);
  if (section.impulse_response.empty()) {
    options.centre = section.impulse_centre.value_or(Hertz(0.0));
    options.bandwidth = *section.impulse_bandwidth;
  } else {
    auto samples = read_csv_samples(section.impulse_response, place, DeconvolutionOptions::most_samples);
    const auto louder = [](double a, double b) { return std::abs(a) < std::abs(b); };
    options.zero =
        section.impulse_zero.value_or(static_cast<std::size_t>(std::ranges::max_element(samples, louder) - samples.begin()));
    if (options.zero >= samples.size()) {
      throw InputError(settings.place("[tomography] impulse_zero"), fmt::format("{}", options.zero),
                       fmt::format("0 to {}, as impulse_response has {} samples", samples.size() - 1, samples.size()));
    }
    options.response = std::make_shared<const std::vector<double>>(std::move(samples));
  }
  try {
    validate(options);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
  return options;
}

void refuse_coarse_response(const ImagingSettings& settings, const DeconvolutionOptions& options) {
  const double alias = response_at_half_rate(options);
  if (!(alias > tolerated_alias)) return;
  throw InputError(response_place(settings),
                   fmt::format("a response of {:.2g} of its greatest at half the sample rate, {:.4g} MHz", alias,
                               0.5e-6 * options.sample_rate.value),
                   fmt::format("at most {:g} there: it is sampled too coarsely", tolerated_alias));
}

}  // namespace echoform
