#include "methods/beams/baseband.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "methods/beams/section.hpp"

namespace echoform {
namespace {

constexpr double of_bandwidth = 1.4;
constexpr double unknown_bandwidth = 0.6;  // part of fd
constexpr double widest_pass = 0.45;       // part of the distance between images
constexpr double usual_rate = 2.5;         // multiple of the pass band
constexpr double least_rate = 2.1;
constexpr double clear_of_zero = 0.75;  // part of fd: a pass band up to this ends before 0 Hz
constexpr double vestige = 0.2;         // part of fd that a filter from 0 Hz on takes on either side of it

std::string megahertz(double hertz) {
  return fmt::format("{:.4g} MHz", 1e-6 * hertz);
}

/// A filter, and the sample rates that it needs in baseband.
struct Band {
  double offset = 0.0;  // from fd to the filter's middle
  double pass = 0.0;
  double stop = 0.0;  // 0: follows from the decimation
  double usual = 0.0;
  double least = 0.0;
};

/// The band from 0 Hz to fd + wanted, if the sample rate can hold it.
std::optional<Band> band_from_zero(double frequency, double wanted, double rate) {
  const double half = vestige * frequency;
  const double most = 0.5 * (0.5 * rate - half);
  if (most < frequency) return std::nullopt;
  const double middle = std::clamp(0.5 * (frequency + wanted + half), frequency, most);
  return Band{middle - frequency, middle - half, middle + half, 2.0 * (middle + half), 2.0 * middle + half};
}

}  // namespace

std::optional<DemodulationOptions> resolve_baseband(const ImagingSettings& settings, const Acquisition& acquisition,
                                                    bool sidebands) {
  const BeamsSection& section = beams(settings);
  if (section.path == LinePath::rf) return std::nullopt;
  const double rate = acquisition.sample_rate.value;
  const double frequency = section.demodulation_frequency.value_or(acquisition.probe.centre_frequency).value;
  if (!(frequency > 0.0 && frequency < 0.5 * rate)) {
    throw InputError(settings.place("[beams] demodulation_frequency"), megahertz(frequency),
                     fmt::format("above 0, below half the sample rate ({})", megahertz(0.5 * rate)));
  }
  const double images = std::min(2.0 * frequency, rate - 2.0 * frequency);
  const double stated = acquisition.probe.bandwidth.value;
  const double wanted = of_bandwidth * (stated > 0.0 ? stated : unknown_bandwidth * frequency);
  double pass = std::min(wanted, widest_pass * images);
  if (section.iq_bandwidth) {
    pass = 0.5 * section.iq_bandwidth->value;
    if (!(pass > 0.0 && pass <= widest_pass * images)) {
      throw InputError(settings.place("[beams] iq_bandwidth"), megahertz(2.0 * pass),
                       fmt::format("above 0, at most {} about {} at {}", megahertz(2.0 * widest_pass * images),
                                   megahertz(frequency), megahertz(rate)));
    }
  }
  Band band{0.0, pass, 0.0, usual_rate * pass, least_rate * pass};
  if (sidebands && !section.iq_bandwidth && wanted > clear_of_zero * frequency) {
    band = band_from_zero(frequency, wanted, rate).value_or(band);
  }
  const auto decimation_for = [&](double least) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(rate / least + 1e-9), 1, DemodulationOptions::most_decimation);
  };
  const std::size_t decimation = section.decimation.value_or(decimation_for(band.usual));
  if (decimation > decimation_for(band.least)) {
    const double wide = band.stop > 0.0 ? band.pass + band.stop : 2.0 * band.pass;
    throw InputError(settings.place("[beams] decimation"), fmt::format("{}", decimation),
                     fmt::format("at most {} for a band of {}", decimation_for(band.least), megahertz(wide)));
  }
  if (!(band.stop > 0.0)) {
    band.stop = std::min(std::min(rate / static_cast<double>(decimation), images) - band.pass, 0.5 * rate);
  }
  DemodulationOptions options;
  options.frequency = Hertz(frequency);
  options.sample_rate = acquisition.sample_rate;
  options.decimation = decimation;
  options.filter_offset = Hertz(band.offset);
  options.pass = Hertz(band.pass);
  options.stop = Hertz(band.stop);
  return options;
}

std::size_t vestige_bins(const DemodulationOptions& options, Hertz line_rate, std::size_t ranges) {
  const Hertz middle = options.frequency + options.filter_offset;
  const Hertz edge = 0.5 * (options.pass + options.stop);
  const bool from_zero = std::abs((middle - edge).value) < 1e-9 * middle.value;
  if (!from_zero || options.pass <= clear_of_zero * options.frequency) return 0;
  const Hertz highest = middle + options.stop;
  if (line_rate < highest) return 0;
  // Half way between the end of the vestige and the place where, because of aliases, the other end of the band begins.
  const double share = 0.5 * ((line_rate - highest + (options.stop - middle)) / line_rate);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(ranges)), (ranges - 1) / 2);
}

bool wants_more_ranges(const DemodulationOptions& options, Hertz line_rate) {
  constexpr std::size_t many = std::size_t{1} << 20;
  const Hertz enough = options.sample_rate;
  return vestige_bins(options, line_rate, many) == 0 && vestige_bins(options, enough, many) != 0;
}

}  // namespace echoform
