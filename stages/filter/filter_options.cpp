#include "stages/filter/filter_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"

namespace echoform {
namespace {

std::string megahertz(Hertz frequency) {
  return fmt::format("{:g} MHz", 1e-6 * frequency.value);
}

void validate_pulse(const std::shared_ptr<const MeasuredPulse>& pulse, std::string_view where) {
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    throw InputError(fmt::format("{} pulse", where), std::string(found), std::string(expected));
  };
  if (!pulse || pulse->samples.empty()) refuse("no samples", "a measured pulse, which the kind \"wiener\" needs");
  if (pulse->samples.size() < 2 || pulse->samples.size() > MeasuredPulse::most_samples) {
    refuse(fmt::format("{} sample{}", pulse->samples.size(), pulse->samples.size() == 1 ? "" : "s"),
           fmt::format("2 to {}", MeasuredPulse::most_samples));
  }
  if (!(pulse->sample_rate.value > 0.0) || !std::isfinite(pulse->sample_rate.value)) {
    refuse(fmt::format("a sample rate of {:g} Hz", pulse->sample_rate.value), "one above 0");
  }
  const auto& samples = pulse->samples;
  if (!std::all_of(samples.begin(), samples.end(), [](double s) { return std::isfinite(s); })) {
    refuse("samples that are no numbers", "finite ones");
  }
  // All samples are compared with the first one: a constant has no echo in it either.
  if (std::all_of(samples.begin(), samples.end(), [&](double s) { return s == samples.front(); })) {
    refuse(samples.front() == 0.0 ? "zeros alone" : "a constant", "an echo");
  }
}

}  // namespace

Hertz usual_skirt(Hertz low, Hertz high) {
  const Hertz half = 0.5 * (high - low);
  return low.value > 0.0 ? std::min(half, low) : half;
}

Hertz usual_upper_skirt(Hertz low, Hertz high) {
  return 0.5 * (high - low);
}

void validate(const FilterOptions& options, std::string_view where) {
  if (options.kind == FilterKind::none) return;
  const auto place = [&](std::string_view option) { return fmt::format("{} {}", where, option); };
  const double rate = options.sample_rate.value;
  if (!(rate > 0.0) || !std::isfinite(rate)) {
    throw InputError(place("sample rate"), fmt::format("{:g} Hz", rate), "one above 0");
  }
  const Hertz half_rate = 0.5 * options.sample_rate;
  if (options.kind == FilterKind::band) {
    const std::string found = fmt::format("{:g} to {:g} MHz", 1e-6 * options.low.value, 1e-6 * options.high.value);
    if (!(options.low.value >= 0.0 && options.low < options.high)) {
      throw InputError(place("band"), found, "the lower edge first, 0 or more, and a higher one behind it");
    }
    if (!(options.high <= half_rate)) {
      throw InputError(place("band"), found, fmt::format("edges of at most half the sample rate, {}", megahertz(half_rate)));
    }
    if (!(options.skirt.value > 0.0) || !std::isfinite(options.skirt.value)) {
      throw InputError(place("skirt"), megahertz(options.skirt), "a width above 0");
    }
    if (!(options.upper_skirt.value >= 0.0) || !std::isfinite(options.upper_skirt.value)) {
      throw InputError(place("upper_skirt"), megahertz(options.upper_skirt), "a width above 0");
    }
  }
  if (options.notch) {
    if (!(options.notch->centre.value > 0.0 && options.notch->centre < half_rate)) {
      throw InputError(place("notch"), fmt::format("a centre of {}", megahertz(options.notch->centre)),
                       fmt::format("one above 0 and below half the sample rate, {}", megahertz(half_rate)));
    }
    if (!(options.notch->width.value > 0.0) || !std::isfinite(options.notch->width.value)) {
      throw InputError(place("notch"), fmt::format("a width of {}", megahertz(options.notch->width)), "a width above 0");
    }
  }
  if (options.kind != FilterKind::wiener) return;
  validate_pulse(options.pulse, where);
  if (!FilterOptions::noises.holds(options.noise)) {
    throw InputError(place("noise"), fmt::format("{:g}", options.noise),
                     fmt::format("{:g} to {:g}", FilterOptions::noises.least, FilterOptions::noises.most));
  }
}

}  // namespace echoform
