#include "instruments/micropulse/instrument_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"

namespace echoform::micropulse {
namespace {

constexpr double longest_delay = 25e-6;

std::string key(std::string_view where, std::string_view name) {
  return fmt::format("{} {}", where, name);
}

void require(bool holds, std::string_view where, std::string_view name, const std::string& found, std::string_view expected) {
  if (!holds) throw InputError(key(where, name), found, expected);
}

void check_firings(const Acquisition& acquisition, std::string_view where) {
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    for (const Firing& firing : firings_of(acquisition, event)) {
      if (firing.weight != 1.0) {
        throw InputError(fmt::format("{}: event {}", where, event), fmt::format("a weight of {}", firing.weight),
                         "elements that fire as strongly as each other: a MicroPulse has no weights");
      }
      if (!(firing.delay >= 0.0 && firing.delay <= longest_delay)) {
        throw InputError(fmt::format("{}: event {}", where, event), fmt::format("a delay of {:.4g} us", 1e6 * firing.delay),
                         "delays of 0 to 25 us");
      }
    }
  }
}

}  // namespace

double sample_scale(SampleBits bits, Justified justified) {
  const bool whole = bytes_per_sample(bits) == 2 && justified == Justified::high;
  return std::ldexp(1.0, whole ? -15 : 1 - static_cast<int>(bit_count(bits)));
}

void validate(const InstrumentSettings& s, std::string_view where) {
  constexpr std::array<unsigned, 6> rates{10, 25, 40, 50, 80, 100};
  require(std::find(rates.begin(), rates.end(), s.sample_rate_mhz) != rates.end(), where, "sample_rate",
          fmt::format("{} MHz", s.sample_rate_mhz), "10, 25, 40, 50, 80 or 100 MHz");
  require(s.pulse_repetition >= 1 && s.pulse_repetition <= 55000, where, "pulse_repetition",
          fmt::format("{}", s.pulse_repetition), "1 to 55000 Hz");
  require(s.gain_db >= 0.0 && s.gain_db <= 70.0 && std::round(4.0 * s.gain_db) == 4.0 * s.gain_db, where, "gain",
          fmt::format("{}", s.gain_db), "0 to 70 dB in steps of 0.25");
  require(s.pulse_voltage >= 50 && s.pulse_voltage <= 200 && s.pulse_voltage % 25 == 0, where, "pulse_voltage",
          fmt::format("{}", s.pulse_voltage), "50 to 200 V in steps of 25");
  require(s.pulse_width >= 20 && s.pulse_width <= 500 && s.pulse_width % 2 == 0, where, "pulse_width",
          fmt::format("{}", s.pulse_width), "20 to 500 ns in steps of 2");
  require(s.filter >= 1 && s.filter <= 4, where, "filter", fmt::format("{}", s.filter), "1 to 4");
  require(s.smoothing <= 1, where, "smoothing", fmt::format("{}", s.smoothing), "0 or 1");
  require(s.averages_log2 <= 6, where, "averages", fmt::format("2^{}", s.averages_log2), "a power of two up to 64");
  require(s.first_channel >= 1 && s.first_channel <= 2048, where, "first_channel", fmt::format("{}", s.first_channel),
          "1 to 2048");
  for (const std::string& line : s.commands) {
    const bool plain = std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
    require(plain && !line.empty() && line.size() < longest_line, where, "commands", fmt::format("\"{}\"", line),
            "lines of 1 to 1023 printable characters");
  }
}

Acquisition instrument_acquisition(Acquisition wanted, const InstrumentSettings& settings, std::string_view where) {
  validate(settings, where);
  wanted.encoding = SampleEncoding::int16;
  wanted.sample_rate = Hertz(1e6 * settings.sample_rate_mhz);
  wanted.start_time = Seconds(static_cast<double>(settings.gate_start) / wanted.sample_rate.value);
  wanted.sample_scale = sample_scale(settings.bits, settings.justified);
  require(wanted.samples >= 2 && wanted.samples <= most_samples, where, "samples", fmt::format("{}", wanted.samples),
          fmt::format("2 to {}", most_samples));
  validate(wanted, AcquisitionLimits{}, where);
  if (wanted.event_count() > most_events) {
    throw InputError(where, fmt::format("{} events", wanted.event_count()),
                     fmt::format("at most {}, which is as many as tests have numbers", most_events));
  }
  if (settings.first_channel - 1 + wanted.elements() > 2048) {
    throw InputError(key(where, "first_channel"), fmt::format("{} with {} elements", settings.first_channel, wanted.elements()),
                     "channels of 1 to 2048");
  }
  if (!tells_directions(wanted) || !wanted.positions.empty() || (!wanted.events.empty() && all_passive(wanted.events))) {
    throw InputError(where, pairs_text(wanted), "a full or half matrix, or events that transmit, at one position of the probe");
  }
  check_firings(wanted, where);
  return wanted;
}

LiveSettings live_settings(const InstrumentSettings& settings, const Acquisition& acquisition) {
  return {.pulse_repetition = settings.pulse_repetition,
          .gain_db = settings.gain_db,
          .gate_start = settings.gate_start,
          .samples = acquisition.samples};
}

void put_live(const LiveSettings& live, InstrumentSettings& settings, Acquisition& acquisition, std::string_view where) {
  InstrumentSettings changed = settings;
  changed.pulse_repetition = live.pulse_repetition;
  changed.gain_db = live.gain_db;
  changed.gate_start = live.gate_start;
  Acquisition wanted = acquisition;
  wanted.samples = live.samples;
  acquisition = instrument_acquisition(std::move(wanted), changed, where);
  settings = std::move(changed);
}

}  // namespace echoform::micropulse
