#include "methods/beams/baseband.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "methods/beams/section.hpp"

namespace echoform {
namespace {

constexpr double of_bandwidth = 1.4;
constexpr double unknown_bandwidth = 0.6;  // of fd
constexpr double widest_pass = 0.45;       // of the distance of images
constexpr double usual_rate = 2.5;         // of the pass band
constexpr double least_rate = 2.1;

std::string megahertz(double hertz) {
  return fmt::format("{:.4g} MHz", 1e-6 * hertz);
}

}  // namespace

std::optional<DemodulationOptions> resolve_baseband(const Configuration& configuration, const Acquisition& acquisition) {
  const BeamsSection& section = beams(configuration);
  if (section.path == LinePath::rf) return std::nullopt;
  const double rate = acquisition.sample_rate.value;
  const double frequency = section.demodulation_frequency.value_or(acquisition.probe.centre_frequency).value;
  if (!(frequency > 0.0 && frequency < 0.5 * rate)) {
    throw InputError(configuration.place("[beams] demodulation_frequency"), megahertz(frequency),
                     fmt::format("above 0, below half the sample rate ({})", megahertz(0.5 * rate)));
  }
  const double images = std::min(2.0 * frequency, rate - 2.0 * frequency);
  const double stated = acquisition.probe.bandwidth.value;
  double pass = std::min(of_bandwidth * (stated > 0.0 ? stated : unknown_bandwidth * frequency), widest_pass * images);
  if (section.iq_bandwidth) {
    pass = 0.5 * section.iq_bandwidth->value;
    if (!(pass > 0.0 && pass <= widest_pass * images)) {
      throw InputError(configuration.place("[beams] iq_bandwidth"), megahertz(2.0 * pass),
                       fmt::format("above 0, at most {} about {} at {}", megahertz(2.0 * widest_pass * images),
                                   megahertz(frequency), megahertz(rate)));
    }
  }
  const auto decimation_for = [&](double times) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(rate / (times * pass) + 1e-9), 1,
                                   DemodulationOptions::most_decimation);
  };
  const std::size_t decimation = section.decimation.value_or(decimation_for(usual_rate));
  if (decimation > decimation_for(least_rate)) {
    throw InputError(configuration.place("[beams] decimation"), fmt::format("{}", decimation),
                     fmt::format("at most {} for a band of {}", decimation_for(least_rate), megahertz(2.0 * pass)));
  }
  DemodulationOptions options;
  options.frequency = Hertz(frequency);
  options.sample_rate = acquisition.sample_rate;
  options.decimation = decimation;
  options.pass = Hertz(pass);
  options.stop = Hertz(std::min(rate / static_cast<double>(decimation), images) - pass);
  options.stop = std::min(options.stop, Hertz(0.5 * rate));
  return options;
}

}  // namespace echoform
