#include "methods/filter_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "methods/filter_words.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

std::string megahertz(Hertz low, Hertz high) {
  return fmt::format("{:.4g} to {:.4g} MHz", 1e-6 * low.value, 1e-6 * high.value);
}

std::string megahertz(Hertz frequency) {
  return fmt::format("{:.4g} MHz", 1e-6 * frequency.value);
}

struct Band {
  Hertz low;
  Hertz high;
  Hertz skirt;
  Hertz upper_skirt;
};

/// No probe's bandwidth lies below this part of the centre frequency: the value has another unit, or a digit is missing.
constexpr double least_bandwidth = 0.05;

constexpr double gates_begin_at = 8.0;  // samples

struct BandChoice {
  std::optional<Band> band;
  std::string reason;  ///< the source of the band, or the reason why there is none
};

/// If only one skirt is stated, it applies to both edges.
Hertz upper_skirt(const FilterSection& section, Hertz low, Hertz high) {
  return section.upper_skirt.value_or(section.skirt.value_or(usual_upper_skirt(low, high)));
}

/// The band as stated. Otherwise it is the whole -6 dB band of the probe, with edges outside of it, so that nearly all of it
/// passes. There is none where the probe's centre frequency is not known, and where its band does not lie between 0 and half the
/// sample rate.
BandChoice band_of(const FilterSection& section, const Acquisition& acquisition) {
  if (section.band) {
    const auto [low, high] = *section.band;
    return {Band{low, high, section.skirt.value_or(usual_skirt(low, high)), upper_skirt(section, low, high)}, "as stated"};
  }
  const Hertz centre = acquisition.probe.centre_frequency;
  const Hertz bandwidth = acquisition.probe.bandwidth;
  const Hertz half_rate = 0.5 * acquisition.sample_rate;
  if (!(centre.value > 0.0)) return {{}, "the probe's centre frequency is not known"};
  if (centre >= half_rate) {
    return {{},
            fmt::format("the probe's centre frequency of {} is not below half the sample rate, {}", megahertz(centre),
                        megahertz(half_rate))};
  }
  if (bandwidth >= 2.0 * centre) {
    return {{},
            fmt::format("the probe's bandwidth of {} reaches down to 0 around its centre frequency of {}", megahertz(bandwidth),
                        megahertz(centre))};
  }
  const bool usable = bandwidth >= least_bandwidth * centre;
  const Hertz half_band = 0.5 * (usable ? bandwidth : usual_bandwidth * centre);
  const Hertz low = centre - half_band;
  const Hertz high = centre + half_band;
  const Hertz skirt = section.skirt.value_or(usual_skirt(low, high));
  const Hertz upper = upper_skirt(section, low, high);
  std::string reason = "all of the probe's bandwidth";
  if (!usable) {
    reason = fmt::format("all of {:g} % of the probe's centre frequency, as ", 100.0 * usual_bandwidth);
    reason += bandwidth.value > 0.0 ? fmt::format("the {:.4g} Hz that are stated as its bandwidth are less than {:g} % of it",
                                                  bandwidth.value, 100.0 * least_bandwidth)
                                    : "no bandwidth is stated";
  }
  return {Band{std::max(low - 0.5 * skirt, 0.5 * low), std::min(high + 0.5 * upper, half_rate), skirt, upper}, std::move(reason)};
}

FilterKind kind_of(const FilterSection& section, bool band_known) {
  switch (section.kind) {
    case FilterWish::mean:
      return FilterKind::mean;
    case FilterWish::band:
      return FilterKind::band;
    case FilterWish::wiener:
      return FilterKind::wiener;
    case FilterWish::none:
      return FilterKind::none;
    case FilterWish::automatic:
      break;
  }
  return band_known ? FilterKind::band : FilterKind::mean;
}

std::shared_ptr<const MeasuredPulse> read_pulse(const ImagingSettings& settings) {
  const std::string key = settings.place("[filter] pulse_file");
  constexpr CsvFormat format{.file = "a CSV file with lines of time in s and amplitude",
                             .row = "time in s and amplitude",
                             .line = "time in s and amplitude",
                             .number = "a number",
                             .rows = "samples",
                             .least = 2,
                             .most = 2,
                             .most_rows = MeasuredPulse::most_samples};
  if (section<FilterSection>(settings).pulse_file.empty())
    throw InputError(key, "none", std::string(format.file) + ", for kind = \"wiener\"");
  const std::string& path = section<FilterSection>(settings).pulse_file;
  const auto rows = read_csv_numbers(path, key, format);
  MeasuredPulse pulse;
  for (const std::vector<double>& row : rows) pulse.samples.push_back(row[1]);
  if (rows.size() < 2) throw InputError(path, fmt::format("{} samples", rows.size()), "at least two");
  const double step = (rows.back()[0] - rows.front()[0]) / static_cast<double>(rows.size() - 1);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    // Times are written with few digits: an error of a hundredth of a sample has no visible effect.
    if (step > 0.0 && std::abs(rows[n][0] - rows.front()[0] - static_cast<double>(n) * step) <= 1e-2 * step) continue;
    throw InputError(path, fmt::format("sample {} at {:g} s", n, rows[n][0]), "times that grow in equal steps");
  }
  pulse.sample_rate = Hertz(1.0 / step);
  return std::make_shared<const MeasuredPulse>(std::move(pulse));
}

FilterWish wish_of(FilterKind kind) {
  switch (kind) {
    case FilterKind::none:
      return FilterWish::none;
    case FilterKind::mean:
      return FilterWish::mean;
    case FilterKind::band:
      return FilterWish::band;
    case FilterKind::wiener:
      break;
  }
  return FilterWish::wiener;
}

std::string_view word_of(FilterKind kind) {
  return words::filter_wish.of(wish_of(kind));
}

/// The band that the probe receives, as far as it is known and below half the sample rate.
std::optional<Band> probe_band(const Acquisition& acquisition) {
  const Hertz centre = acquisition.probe.centre_frequency;
  const Hertz half_rate = 0.5 * acquisition.sample_rate;
  if (!(centre.value > 0.0) || centre >= half_rate) return std::nullopt;
  const Hertz bandwidth = acquisition.probe.bandwidth;
  const Hertz half_band = 0.5 * (bandwidth >= least_bandwidth * centre ? bandwidth : usual_bandwidth * centre);
  return Band{std::max(centre - half_band, Hertz(0.0)), std::min(centre + half_band, half_rate), Hertz(), Hertz()};
}

/// Largest absolute value of the filter's response in a band.
double greatest_factor(const FilterOptions& options, const Band& band) {
  const RowResponse response = filter_response(options, response_samples);
  double most = 0.0;
  for (std::size_t k = 0; k < response.size(); ++k) {
    const Hertz frequency = static_cast<double>(k) / static_cast<double>(response_samples) * options.sample_rate;
    if (frequency >= band.low && frequency <= band.high) most = std::max(most, std::abs(response[k]));
  }
  return most;
}

}  // namespace

FilterOptions resolve_filter(const ImagingSettings& settings, const Acquisition& acquisition, std::vector<std::string>& notes) {
  const FilterSection& section = echoform::section<FilterSection>(settings);
  const BandChoice choice = band_of(section, acquisition);
  FilterOptions options;
  options.kind = kind_of(section, choice.band.has_value());
  if (options.kind == FilterKind::none) return options;
  options.sample_rate = acquisition.sample_rate;
  if (section.notch) options.notch = Notch{(*section.notch)[0], (*section.notch)[1]};
  if (options.kind == FilterKind::band) {
    if (!choice.band) {
      throw InputError(settings.place("[filter] band"), "none, and " + choice.reason,
                       "band = [low, high] in Hz, or a probe whose band lies between 0 and half the sample rate");
    }
    options.low = choice.band->low;
    options.high = choice.band->high;
    options.skirt = choice.band->skirt;
    options.upper_skirt = choice.band->upper_skirt;
  } else if (options.kind == FilterKind::wiener) {
    options.pulse = read_pulse(settings);
    options.noise = section.noise;
  }
  validate(options, settings.place("[filter]"));
  if (options.kind == FilterKind::band && (section.kind == FilterWish::automatic || !section.band)) {
    notes.push_back(fmt::format("{}: A-scans are filtered: a band of {}, {} ([filter] kind)", settings.name(),
                                megahertz(options.low, options.high), choice.reason));
  } else if (section.kind == FilterWish::automatic) {
    notes.push_back(
        fmt::format("{}: A-scans are filtered: their mean is taken away, as {} ([filter] kind)", settings.name(), choice.reason));
  }
  return options;
}

std::size_t muted_samples(const ImagingSettings& settings, const Acquisition& acquisition, std::vector<std::string>& notes) {
  const auto& mute = section<FilterSection>(settings).mute;
  if (!mute) return 0;
  const Seconds opens = acquisition.start_time - acquisition.time_offset;
  const double rate = acquisition.sample_rate.value;
  // A time that equals a sample's own time must not become later by rounding.
  const double wanted = std::ceil((*mute - opens).value * rate - 1e-6);
  if (!(wanted > 0.0)) return 0;
  const double muted = gates_begin_at * std::ceil(wanted / gates_begin_at);
  if (!(muted + 2.0 <= static_cast<double>(acquisition.samples))) {
    throw InputError(settings.place("[filter] mute"), fmt::format("{:.6g} us", 1e6 * mute->value),
                     fmt::format("a time at which A-scans go on: they last from {:.6g} to {:.6g} us", 1e6 * opens.value,
                                 1e6 * opens.value + 1e6 * static_cast<double>(acquisition.samples - 1) / rate));
  }
  notes.push_back(fmt::format("{}: the first {:g} of {} samples, up to {:.6g} us, are left out ([filter] mute)", settings.name(),
                              muted, acquisition.samples, 1e6 * opens.value + 1e6 * muted / rate));
  return static_cast<std::size_t>(muted);
}

std::vector<std::string> filter_warnings(const ImagingSettings& settings, const FilterOptions& options,
                                         const Acquisition& acquisition) {
  const FilterSection& section = echoform::section<FilterSection>(settings);
  std::vector<std::string> lines;
  const auto unheeded = [&](bool stated, bool used, std::string_view key, std::string_view kinds) {
    if (!stated || used) return;
    lines.push_back(fmt::format("{} is not used: A-scans are filtered by the kind \"{}\", and it counts with {}",
                                settings.place(fmt::format("[filter] {}", key)), word_of(options.kind), kinds));
  };
  const bool band = options.kind == FilterKind::band;
  const bool wiener = options.kind == FilterKind::wiener;
  unheeded(section.band.has_value(), band, "band", "\"band\"");
  unheeded(section.skirt.has_value(), band, "skirt", "\"band\"");
  unheeded(section.upper_skirt.has_value(), band, "upper_skirt", "\"band\"");
  unheeded(section.notch.has_value(), options.kind != FilterKind::none, "notch", "every kind but \"none\"");
  unheeded(!section.pulse_file.empty(), wiener, "pulse_file", "\"wiener\"");
  unheeded(section.noise != FilterSection().noise, wiener, "noise", "\"wiener\"");
  if (options.kind == FilterKind::none) return lines;
  if (const auto heard = probe_band(acquisition)) {
    const double most = greatest_factor(options, *heard);
    if (most < 0.1) {
      lines.push_back(
          fmt::format("{}: the filter leaves next to nothing of the probe's band of {}, at most {:.2g} of the "
                      "amplitude: {}",
                      settings.place("[filter]"), megahertz(heard->low, heard->high), most,
                      wiener ? "are the times of pulse_file in s, and is it of this probe?"
                             : "are its frequencies in Hz, and those of this probe?"));
    }
  }
  return lines;
}

FilterSection filter_in_use(const FilterSection& asked, const FilterOptions& options) {
  FilterSection section = asked;
  section.kind = wish_of(options.kind);
  if (options.kind == FilterKind::band) {
    section.band = {options.low, options.high};
    section.skirt = options.skirt;
    section.upper_skirt = options.upper_skirt;
  }
  if (options.notch) section.notch = {options.notch->centre, options.notch->width};
  if (options.kind == FilterKind::wiener) section.noise = options.noise;
  return section;
}

void report_filter(SetupReport& report, const FilterOptions& options) {
  nlohmann::json& values = report.values["filter"];
  values["kind"] = word_of(options.kind);
  std::string text;
  switch (options.kind) {
    case FilterKind::none:
      report.row("filter", "none");
      return;
    case FilterKind::mean:
      text = "the mean of each A-scan is taken away";
      break;
    case FilterKind::band:
      values["band"] = {options.low.value, options.high.value};
      values["skirt"] = options.skirt.value;
      values["upper_skirt"] = options.upper_skirt.value;
      text = fmt::format("a band of {} passes, edges {:.4g}", megahertz(options.low, options.high), 1e-6 * options.skirt.value);
      if (options.upper_skirt != options.skirt) text += fmt::format(" and {:.4g}", 1e-6 * options.upper_skirt.value);
      text += " MHz wide";
      break;
    case FilterKind::wiener:
      values["noise"] = options.noise;
      text = fmt::format("the measured pulse is taken back, noise {:g}", options.noise);
      break;
  }
  if (options.notch) {
    values["notch"] = {options.notch->centre.value, options.notch->width.value};
    text += fmt::format("; without {:.4g} MHz, {:.4g} MHz wide", 1e-6 * options.notch->centre.value,
                        1e-6 * options.notch->width.value);
  }
  const ResponseSize size = response_size(options);
  values["response"] = size.length;
  if (size.length != 0) text += fmt::format("; the response is over after {} samples", size.length);
  report.row("filter", text);
}

}  // namespace echoform
