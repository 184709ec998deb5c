#include "simulators/sound_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "simulators/ball_sound.hpp"

namespace echoform {
namespace {

constexpr double farthest_source = 10.0;  // metres
constexpr double widest_source = 1.0;     // metres

class SourceCheck {
 public:
  explicit SourceCheck(std::string_view where) : where_(where) {}

  [[noreturn]] void refuse(std::string_view key, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{} {}", where_, key), found, expected);
  }
  void place(const std::string& key, const Point& place) const {
    for (const Metres value : {place.x, place.y, place.z}) {
      if (!(std::abs(value.value) <= farthest_source)) refuse(key, fmt::format("{:g} m", value.value), "places within 10 m");
    }
  }
  void size(const std::string& key, Metres value, std::string_view what) const {
    if (value.value > 0.0 && value.value <= widest_source) return;
    refuse(key, fmt::format("a {} of {:g} m", what, value.value), "more than 0, up to 1 m");
  }
  void amplitude(const std::string& key, double value) const {
    if (!(std::abs(value) <= 1e6)) refuse(key, fmt::format("an amplitude of {:g}", value), "-1e6 to 1e6");
  }
  void motion(const std::string& key, const Motion& motion) const {
    place(key, motion.extent);
    if (motion.kind != MotionKind::still && (motion.turns == 0 || motion.turns > 1000)) {
      refuse(key, fmt::format("{} turns", motion.turns), "1 to 1000 turns a cycle");
    }
    if (!std::isfinite(motion.offset)) refuse(key, "a phase that is not finite", "a part of a turn");
  }
  void spectra(std::string_view key, const std::vector<std::vector<double>>& rows, std::size_t sources,
               std::size_t pulses) const {
    if (rows.empty()) return;
    if (rows.size() != 1 && rows.size() != sources) {
      refuse(key, fmt::format("{} rows for {} of them", rows.size(), sources), "a row for each, or one for all");
    }
    for (const std::vector<double>& row : rows) {
      if (row.size() != pulses) {
        refuse(key, fmt::format("a row of {} factors", row.size()), fmt::format("{}, one a wavelength", pulses));
      }
      for (const double factor : row) amplitude(std::string(key), factor);
    }
  }
  void saturations(std::string_view key, const std::vector<double>& values, std::size_t sources) const {
    if (values.empty()) return;
    if (values.size() != 1 && values.size() != sources) {
      refuse(key, fmt::format("{} for {} of them", values.size(), sources), "one for each, or one for all");
    }
    for (const double value : values) {
      if (!(value >= 0.0 && value <= 1.0)) refuse(key, fmt::format("{:g}", value), "0 to 1");
    }
  }

 private:
  std::string_view where_;
};

double span_of(const SoundVessel& vessel) {
  return length(between(vessel.first, vessel.last));
}

/// The number of balls, as a floating-point number, since it may be too large to count.
double chain_count(const SoundVessel& vessel) {
  const double spacing = vessel.spacing.value_or(0.5 * vessel.radius).value;
  return std::max(1.0, std::ceil(span_of(vessel) / spacing * (1.0 - 1e-12)));
}

/// Makes amplitudes: at each pulse, for source k.
class PulseFactors {
 public:
  PulseFactors(const SoundSources& sources, const std::vector<std::vector<double>>& spectra,
               const std::vector<double>& saturations)
      : sources_(sources), spectra_(spectra), saturations_(saturations), pulses_(pulses_of(sources)) {}

  [[nodiscard]] std::vector<double> of(std::size_t k, double amplitude) const {
    std::vector<double> factors(pulses_.size(), amplitude);
    for (std::size_t pulse = 0; pulse < pulses_.size(); ++pulse) {
      if (!sources_.pulse_energies.empty()) factors[pulse] *= pulses_[pulse].pulse_energy / pulses_[0].pulse_energy;
      if (!spectra_.empty()) factors[pulse] *= spectra_[spectra_.size() == 1 ? 0 : k][pulse];
      if (!saturations_.empty()) {
        factors[pulse] *= blood_absorption(sources_.haemoglobin, saturations_[saturations_.size() == 1 ? 0 : k],
                                           pulses_[pulse].wavelength, "wavelengths");
      }
    }
    return factors;
  }

 private:
  const SoundSources& sources_;
  const std::vector<std::vector<double>>& spectra_;
  const std::vector<double>& saturations_;
  std::vector<PassiveEvent> pulses_;
};

/// Places balls in the middles of equal parts, so that consecutive rows share no ball.
void add_chain(const SoundVessel& vessel, const std::vector<double>& amplitudes, std::vector<PulsedBall>& balls) {
  const auto count = static_cast<std::size_t>(chain_count(vessel));
  const double part = span_of(vessel) / static_cast<double>(count);
  // The mean number of balls that lie over a place of the axis at once.
  const double overlap = part > 0.0 ? 2.0 * vessel.radius.value / part : 1.0;
  const Direction way = between(vessel.first, vessel.last);
  for (std::size_t k = 0; k < count; ++k) {
    const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    PulsedBall ball{vessel.name, {}, vessel.radius, {}, amplitudes};
    ball.centre = {vessel.first.x + Metres(share * way.x), vessel.first.y + Metres(share * way.y),
                   vessel.first.z + Metres(share * way.z)};
    for (double& amplitude : ball.amplitudes) amplitude /= overlap;
    balls.push_back(std::move(ball));
  }
}

}  // namespace

void validate(const SoundSources& sources, std::string_view where) {
  const SourceCheck check(where);
  if (sources.empty()) check.refuse("balls", "none", "balls or blood_vessels in which light makes sound");
  double count = 0.0;
  for (std::size_t k = 0; k < sources.balls.size(); ++k) {
    const SoundBall& ball = sources.balls[k];
    const std::string key = fmt::format("balls, ball {}", k);
    check.place(key, ball.centre);
    check.size(key, ball.radius, "radius");
    check.amplitude(key, ball.amplitude);
    check.motion(key, ball.motion);
    count += 1.0;
  }
  for (std::size_t k = 0; k < sources.vessels.size(); ++k) {
    const SoundVessel& vessel = sources.vessels[k];
    const std::string key = fmt::format("blood_vessels, vessel {}", k);
    check.place(key, vessel.first);
    check.place(key, vessel.last);
    check.size(key, vessel.radius, "radius");
    check.amplitude(key, vessel.amplitude);
    if (vessel.spacing) check.size(key, *vessel.spacing, "spacing");
    if (!(span_of(vessel) > 0.0)) check.refuse(key, "both ends at one place", "two places");
    count += chain_count(vessel);
  }
  if (!(count <= static_cast<double>(most_sound_balls))) {
    check.refuse(sources.vessels.empty() ? "balls" : "blood_vessels", fmt::format("{:g} balls in all", count),
                 fmt::format("at most {}", most_sound_balls));
  }
  if (!(sources.blur.value >= 0.0 && sources.blur.value <= widest_source)) {
    check.refuse("blur", fmt::format("{:g} m", sources.blur.value), "0 to 1 m");
  }
  if (sources.wavelengths.size() > most_wavelengths) {
    check.refuse("wavelengths", fmt::format("{}", sources.wavelengths.size()), fmt::format("at most {}", most_wavelengths));
  }
  for (const Metres wavelength : sources.wavelengths) {
    if (!(wavelength.value >= 1e-8 && wavelength.value <= 1.0)) {
      check.refuse("wavelengths", fmt::format("{:g} m", wavelength.value), "1e-8 to 1 m");
    }
  }
  const std::size_t pulses = std::max<std::size_t>(1, sources.wavelengths.size());
  const std::vector<double>& energies = sources.pulse_energies;
  if (!energies.empty() && energies.size() != 1 && energies.size() != pulses) {
    check.refuse("pulse_energies", fmt::format("{} for {} wavelengths", energies.size(), pulses), "one for each, or one for all");
  }
  for (const double energy : energies) {
    if (!(energy >= 1e-12 && energy <= 1e3)) check.refuse("pulse_energies", fmt::format("{:g} J", energy), "1e-12 to 1000 J");
  }
  check.spectra("ball_spectra", sources.ball_spectra, sources.balls.size(), pulses);
  check.spectra("vessel_spectra", sources.vessel_spectra, sources.vessels.size(), pulses);
  check.saturations("ball_saturations", sources.ball_saturations, sources.balls.size());
  check.saturations("vessel_saturations", sources.vessel_saturations, sources.vessels.size());
  if (sources.ball_saturations.empty() && sources.vessel_saturations.empty()) return;
  if (sources.wavelengths.empty()) {
    check.refuse("wavelengths", "none, and the saturation of blood", "at which wavelengths light comes");
  }
  for (const Metres wavelength : sources.wavelengths) {
    static_cast<void>(blood_absorption(sources.haemoglobin, 1.0, wavelength, fmt::format("{} wavelengths", where)));
  }
}

std::vector<PassiveEvent> pulses_of(const SoundSources& sources) {
  std::vector<PassiveEvent> pulses(std::max<std::size_t>(1, sources.wavelengths.size()));
  for (std::size_t k = 0; k < pulses.size(); ++k) {
    if (!sources.wavelengths.empty()) pulses[k].wavelength = sources.wavelengths[k];
    if (!sources.pulse_energies.empty())
      pulses[k].pulse_energy = sources.pulse_energies[sources.pulse_energies.size() == 1 ? 0 : k];
  }
  return pulses;
}

Point PulsedBall::centre_at(double phase) const {
  const Point by = motion.displacement(phase);
  return {centre.x + by.x, centre.y + by.y, centre.z + by.z};
}

std::vector<PulsedBall> pulsed_balls(const SoundSources& sources) {
  std::vector<PulsedBall> balls;
  const PulseFactors of_balls(sources, sources.ball_spectra, sources.ball_saturations);
  for (std::size_t k = 0; k < sources.balls.size(); ++k) {
    const SoundBall& ball = sources.balls[k];
    balls.push_back({ball.name, ball.centre, ball.radius, ball.motion, of_balls.of(k, ball.amplitude)});
  }
  const PulseFactors of_vessels(sources, sources.vessel_spectra, sources.vessel_saturations);
  for (std::size_t k = 0; k < sources.vessels.size(); ++k) {
    add_chain(sources.vessels[k], of_vessels.of(k, sources.vessels[k].amplitude), balls);
  }
  return balls;
}

double initial_pressure(std::span<const PulsedBall> balls, Metres blur, const Point& place, std::size_t pulse, double phase) {
  const double deviation = deviation_of_width(blur);
  double pressure = 0.0;
  for (const PulsedBall& ball : balls) {
    pressure += ball.amplitudes[pulse] * BallSound(ball.radius, deviation).profile(length(between(ball.centre_at(phase), place)));
  }
  return pressure;
}

double initial_pressure(const SoundSources& sources, const Point& place, std::size_t pulse, double phase) {
  return initial_pressure(pulsed_balls(sources), sources.blur, place, pulse, phase);
}

std::vector<TruePosition> true_positions(const SoundSources& sources, double phase) {
  std::vector<TruePosition> places;
  for (const SoundBall& ball : sources.balls) {
    const Point by = ball.motion.displacement(phase);
    const Point centre{ball.centre.x + by.x, ball.centre.y + by.y, ball.centre.z + by.z};
    places.push_back({ball.name, ReflectorKind::body, centre, centre, ball.motion.kind != MotionKind::still});
  }
  for (const SoundVessel& vessel : sources.vessels) {
    const Point middle{0.5 * (vessel.first.x + vessel.last.x), 0.5 * (vessel.first.y + vessel.last.y),
                       0.5 * (vessel.first.z + vessel.last.z)};
    places.push_back({vessel.name, ReflectorKind::body, middle, middle, false});
  }
  return places;
}

}  // namespace echoform
