#include "simulators/sound_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "acquisition/detectors.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "simulators/encode.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {
namespace {

/// Number of places on a circle at which a ball that moves around it is checked.
constexpr std::size_t places_of_motion = 64;
constexpr std::size_t most_sound_frames = 1'000'000;

void sound_within(std::string_view where, std::string_view key, double value, double low, double high, std::string_view unit) {
  if (value >= low && value <= high) return;
  throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value), fmt::format("{:g} to {:g}{}", low, high, unit));
}

/// Returns "scan.toml: [detectors]" if the simulator's place is "scan.toml: [simulator]".
std::string place_beside(std::string_view where, std::string_view section) {
  const std::size_t own = where.rfind('[');
  return fmt::format("{}{}", where.substr(0, own == std::string_view::npos ? 0 : own), section);
}

/// Refuses keys that have no effect, since no element transmits, or none of the probe's elements receives.
void check_unused(const SimulatorConfiguration& c, std::string_view where) {
  const SimulatorConfiguration plain;
  const auto unused = [&](std::string_view key, bool is_as_ever, std::string_view instead) {
    if (is_as_ever) return;
    throw InputError(fmt::format("{} {}", where, key), "a value beside sound of light", fmt::format("no such key: {}", instead));
  };
  constexpr std::string_view detectors = "[detectors] says what hears it";
  unused("elements", c.elements == plain.elements, detectors);
  unused("pitch", c.pitch == plain.pitch, detectors);
  unused("element_width", c.element_width == plain.element_width, detectors);
  unused("radius", c.radius == plain.radius, detectors);
  unused("rows", c.rows == plain.rows, detectors);
  unused("row_pitch", c.row_pitch == plain.row_pitch, detectors);
  unused("element_length", c.element_length == plain.element_length, detectors);
  constexpr std::string_view nobody = "nobody transmits";
  unused("centre_frequency", c.centre_frequency == plain.centre_frequency, nobody);
  unused("fractional_bandwidth", c.fractional_bandwidth == plain.fractional_bandwidth, nobody);
  unused("transmit", c.transmit.kind == plain.transmit.kind && c.events.empty(), nobody);
  unused("fire", c.transmit.fire.empty(), nobody);
  unused("events", !c.transmit.events, nobody);
  unused("angles", !c.transmit.angles, nobody);
  unused("focus", !c.transmit.focus, nobody);
  unused("beams", c.transmit.beams.list.empty(), nobody);
  unused("wave_medium", !c.transmit.medium, nobody);
  unused("aperture", !c.transmit.aperture, nobody);
  unused("delays", c.transmit.delays.empty(), nobody);
  unused("weights", c.transmit.weights.empty(), nobody);
  unused("repeats", c.transmit.repeats == plain.transmit.repeats, nobody);
  unused("repeats_in_turn", c.transmit.repeats_in_turn == plain.transmit.repeats_in_turn, nobody);
  unused("receive", c.transmit.receive.empty(), "all detectors record");
  unused("receive_aperture", !c.transmit.receive_aperture, "all detectors record");
  unused("spreading", c.spreading == plain.spreading, "sound of a ball spreads as it must");
  unused("directivity", c.directivity == plain.directivity, "detectors are as directional as their size makes them");
  unused("scatterers", c.tissue.empty(), "nothing echoes");
  unused("encoder_step", c.encoder.step == plain.encoder.step, "detectors stay, or have positions within a frame");
}

/// Distance from a place to the nearest place of a detector's rectangle, in metres.
double distance_to_detector(const Detector& detector, const Point& place) {
  const Direction way = between(detector.centre, place);
  const Direction along = cross(detector.normal, detector.across);
  const double a = std::max(0.0, std::abs(dot(way, detector.across)) - 0.5 * detector.width.value);
  const double b = std::max(0.0, std::abs(dot(way, along)) - 0.5 * detector.length.value);
  return std::hypot(a, b, dot(way, detector.normal));
}

/// Checks that each ball lies in front of the detectors, and that its sound is received.
void check_balls(const SimulatorConfiguration& c, const Acquisition& acquisition, std::string_view where) {
  const SoundSources& sources = c.sound->sources;
  const std::vector<Detector> rows = detectors_of(acquisition);
  const double velocity = c.material.longitudinal_velocity.value;
  const double start = velocity * (acquisition.start_time - acquisition.time_offset).value;
  const double end = start + velocity * static_cast<double>(acquisition.samples - 1) / acquisition.sample_rate.value;
  const std::size_t pulses = pulses_of(sources).size();
  const std::size_t elements = acquisition.elements();
  for (const PulsedBall& ball : pulsed_balls(sources)) {
    const double reach = ball.radius.value + sources.blur.value;
    const std::size_t places = ball.motion.kind == MotionKind::still ? 1 : places_of_motion;
    double nearest = 1e9;
    double farthest = 0.0;
    bool heard = false;
    for (std::size_t k = 0; k < places; ++k) {
      const double turn = static_cast<double>(k) / static_cast<double>(places * ball.motion.turns);
      const Point centre = ball.centre_at(turn);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        if (row / elements % pulses != 0) continue;  // the same detectors again
        if (distance_to_detector(rows[row], centre) <= reach) {
          throw InputError(fmt::format("{} {}", where, ball.name),
                           fmt::format("detector {} within the ball and its blur", row % elements),
                           "balls that hold no part of a detector");
        }
        const double distance = length(between(rows[row].centre, centre));
        nearest = std::min(nearest, distance - reach);
        farthest = std::max(farthest, distance + reach);
        heard = heard || (distance + reach >= std::max(0.0, start) && distance - reach <= end);
      }
    }
    if (heard) continue;
    throw InputError(
        fmt::format("{} {}", where, ball.name),
        fmt::format("sound that comes after {:.4g} to {:.4g} us", 1e6 * nearest / velocity, 1e6 * farthest / velocity),
        fmt::format("sound within the record, {:.4g} to {:.4g} us", 1e6 * start / velocity, 1e6 * end / velocity));
  }
}

}  // namespace

Acquisition acquisition_of_sound(const SimulatorConfiguration& c) {
  const SoundScene& sound = *c.sound;
  const std::vector<PassiveEvent> pulses = pulses_of(sound.sources);
  Acquisition acquisition = acquisition_of_detectors(sound.detectors, pulses, c.positions);
  for (const std::size_t element : c.dead_elements) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = c.matrix;  // there are no pairs: any setting but the default is refused
  acquisition.encoding = c.encoding;
  acquisition.samples = c.samples;
  acquisition.sample_rate = c.sample_rate;
  acquisition.start_time = c.start_time;
  acquisition.time_offset = c.time_offset;
  acquisition.sample_scale = c.full_scale / static_cast<double>(converter_maximum);
  return acquisition;
}

void check_sound(const SimulatorConfiguration& c, std::string_view where) {
  const SoundScene& sound = *c.sound;
  validate(sound.detectors, c.limits, place_beside(where, "[detectors]"));
  check_unused(c, where);
  validate(sound.sources, where);
  const DetectorPlaces places = places_of(sound.detectors);
  if (!places.positions.empty() && !c.positions.empty()) {
    throw InputError(place_beside(where, "[acquisition] positions"),
                     fmt::format("{} beside the azimuths of an arc", c.positions.size()), "one of both");
  }
  if (c.positions.size() > c.limits.positions) {
    throw InputError(place_beside(where, "[acquisition] positions"), fmt::format("{}", c.positions.size()),
                     fmt::format("at most {} a frame", c.limits.positions));
  }
  sound_within(where, "longitudinal_velocity", c.material.longitudinal_velocity.value, 100.0, 2e4, " m/s");
  sound_within(where, "full_scale", c.full_scale, 1e-12, 1e12, "");
  sound_within(where, "noise_rms", c.noise_rms, 0.0, 1e12, "");
  sound_within(where, "cycle_frames", static_cast<double>(c.cycle_frames), 1.0, static_cast<double>(most_sound_frames), "");
  for (const std::size_t element : c.dead_elements) {
    sound_within(where, "dead_elements", static_cast<double>(element), 0.0, static_cast<double>(places.probe.elements.size() - 1),
                 "");
  }
  if (!c.quantised && c.encoding != SampleEncoding::float32) {
    throw InputError(fmt::format("{} quantised", where), "false with an integer encoding", "true, or encoding float32");
  }
  const Acquisition acquisition = acquisition_of_sound(c);
  validate(acquisition, c.limits, where);
  check_balls(c, acquisition, where);
}

}  // namespace echoform
