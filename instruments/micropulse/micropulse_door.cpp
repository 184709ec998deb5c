#include "instruments/micropulse/micropulse_door.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "instruments/micropulse/micropulse_section.hpp"

namespace echoform {
namespace {

using namespace micropulse;  // NOLINT(google-build-using-namespace): this file is about nothing else

/// Throws InputError unless `value` is a whole number of `unit`, which is returned.
unsigned whole(double value, double unit, const std::string& key, std::string_view expected) {
  const double count = std::round(value / unit);
  if (std::abs(value - count * unit) > 1e-6 * unit) throw InputError(key, fmt::format("{}", value), expected);
  return static_cast<unsigned>(count);
}

std::vector<TransmitEvent> plane_waves(const Configuration& configuration, const MicropulseSection& section) {
  const auto velocity =
      configuration.couplant.velocity ? configuration.couplant.velocity : configuration.material.longitudinal_velocity;
  if (!velocity) {
    throw InputError(configuration.place("[input.micropulse] transmit"), "plane waves without a velocity",
                     "[couplant] velocity or [material] longitudinal_velocity, by which angles become delays");
  }
  std::vector<TransmitEvent> events;
  for (std::size_t k = 0; k < section.events; ++k) {
    const double share = section.events == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(section.events - 1);
    const double degrees = std::lerp(section.angles[0], section.angles[1], share);
    events.push_back({.form = plane_wave(degrees * std::numbers::pi / 180.0, *velocity), .receivers = {}});
  }
  return events;
}

Acquisition wanted_acquisition(const Configuration& configuration, const MicropulseSection& section) {
  Acquisition wanted;
  wanted.probe = make_linear_probe(section.elements, section.pitch, section.element_width.value_or(Metres{}),
                                   section.centre_frequency, Hertz{});
  wanted.samples = section.samples;
  switch (section.transmit) {
    case MicropulseFirings::fmc:
      break;
    case MicropulseFirings::hmc:
      wanted.matrix = MatrixKind::half;
      break;
    case MicropulseFirings::elements: {
      std::vector<std::uint32_t> fire(section.fire.begin(), section.fire.end());
      if (fire.empty()) {
        fire.resize(section.elements);
        std::iota(fire.begin(), fire.end(), 0U);
      }
      wanted.events = element_events(fire);
      break;
    }
    case MicropulseFirings::plane:
      wanted.events = plane_waves(configuration, section);
      break;
  }
  return wanted;
}

InstrumentSettings settings_of(const Configuration& configuration, const MicropulseSection& section) {
  const auto key = [&](std::string_view name) { return configuration.place(fmt::format("[input.micropulse] {}", name)); };
  InstrumentSettings settings;
  settings.sample_rate_mhz = whole(section.sample_rate.value, 1e6, key("sample_rate"), "10, 25, 40, 50, 80 or 100 MHz");
  if (section.bits % 2 != 0 || section.bits == 14) {
    throw InputError(key("bits"), fmt::format("{}", section.bits), "8, 10, 12 or 16");
  }
  settings.bits = section.bits == 16 ? SampleBits::sixteen : static_cast<SampleBits>(section.bits / 2 - 3);
  settings.justified = section.justified == MicropulseJustified::high ? Justified::high : Justified::low;
  settings.cycling = static_cast<Cycling>(section.cycling);
  settings.pulse_repetition = static_cast<unsigned>(section.pulse_repetition);
  settings.gain_db = section.gain;
  settings.gate_start = section.gate_start;
  settings.pulse_voltage = static_cast<unsigned>(section.pulse_voltage);
  settings.pulse_width = whole(section.pulse_width.value, 1e-9, key("pulse_width"), "20 to 500 ns in steps of 2");
  settings.filter = static_cast<unsigned>(section.filter);
  settings.smoothing = static_cast<unsigned>(section.smoothing);
  if (!std::has_single_bit(section.averages))
    throw InputError(key("averages"), fmt::format("{}", section.averages), "a power of two");
  settings.averages_log2 = static_cast<unsigned>(std::countr_zero(section.averages));
  settings.first_channel = static_cast<unsigned>(section.first_channel);
  settings.commands = section.commands;
  return settings;
}

}  // namespace

SourceOptions micropulse_options(const Configuration& configuration) {
  const auto& wanted = section<MicropulseSection>(configuration);
  const std::string where = configuration.place("[input.micropulse]");
  SourceOptions options;
  options.settings = settings_of(configuration, wanted);
  options.acquisition = instrument_acquisition(wanted_acquisition(configuration, wanted), options.settings, where);
  options.channel_base = static_cast<unsigned>(wanted.channel_base);
  options.encoder_axis = static_cast<unsigned>(wanted.encoder_axis);
  options.reset_wait = in_milliseconds(wanted.reset_wait);
  options.answer_timeout = in_milliseconds(wanted.answer_timeout);
  options.silence_timeout = in_milliseconds(wanted.silence_timeout);
  const double frame_time = static_cast<double>(options.acquisition.event_count() * wanted.averages) /
                            static_cast<double>(options.settings.pulse_repetition);
  if (!(wanted.silence_timeout.value > frame_time)) {
    throw InputError(configuration.place("[input.micropulse] silence_timeout"), fmt::format("{} s", wanted.silence_timeout.value),
                     fmt::format("more than the {:.3g} s that a frame takes: events x averages / pulse_repetition", frame_time));
  }
  return options;
}

OpenSource make_micropulse_door(const Configuration& configuration, const Clock& clock) {
  const auto& wanted = section<MicropulseSection>(configuration);
  if (wanted.connect.empty()) return {};
  SourceOptions options = micropulse_options(configuration);
  const HostPort place = parse_host_port(wanted.connect, configuration.place("[input.micropulse] connect"));
  options.host = place.host;
  options.port = place.port;
  auto source = make_micropulse_source(std::move(options), clock);
  OpenSource open;
  open.follower = {.section = "input.micropulse", .follow = [instrument = source.get()](const Configuration& changed) {
                     const SourceOptions asked = micropulse_options(changed);
                     instrument->change(live_settings(asked.settings, asked.acquisition));
                   }};
  open.source = std::move(source);
  return open;
}

}  // namespace echoform
