// Objects in which light makes sound, for the simulated source: balls and vessels, and the light's wavelengths.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/transmit_event.hpp"
#include "simulators/detector_array.hpp"
#include "simulators/haemoglobin.hpp"
#include "simulators/phantom.hpp"

namespace echoform {

/// Under pressure all over once light has come, still or going round.
struct SoundBall {
  std::string name;
  Point centre;
  Metres radius;
  double amplitude = 1.0;  ///< initial pressure (Grueneisen parameter times energy taken up to a volume), in units of amplitude
  Motion motion{};
};

/// A straight row of equal balls, each as strong as lets the mean along the axis be the amplitude: rows that follow each other
/// make a bent one.
struct SoundVessel {
  std::string name;
  Point first;
  Point last;
  Metres radius;
  double amplitude = 1.0;
  std::optional<Metres> spacing;  ///< of balls, at most; absent: half the radius
};

struct SoundSources {
  std::vector<SoundBall> balls;
  std::vector<SoundVessel> vessels;
  Metres blur;  ///< full width at half height of a Gaussian that blurs all of them in space; 0: not at all

  /// Wavelengths of the light, one event for each; empty: one event whose light is unknown.
  std::vector<Metres> wavelengths;
  /// Joules, one for each wavelength or one for all; amplitudes are those at the first, and others in proportion. Empty: unknown,
  /// and all the same.
  std::vector<double> pulse_energies;
  /// Factors of the amplitude at each wavelength: a row for each ball, or one for all. Empty: 1, or by saturation.
  std::vector<std::vector<double>> ball_spectra;
  std::vector<std::vector<double>> vessel_spectra;
  /// Share of haemoglobin that carries oxygen, 0 .. 1: one for each ball, or one for all. The amplitude is then that of fully
  /// oxygenated blood at 800 nm. Empty: no blood.
  std::vector<double> ball_saturations;
  std::vector<double> vessel_saturations;
  HaemoglobinSpectra haemoglobin = haemoglobin_spectra();

  [[nodiscard]] bool empty() const { return balls.empty() && vessels.empty(); }
};

/// All that a source of sound is made of.
struct SoundScene {
  DetectorArray detectors;
  SoundSources sources;
};

/// Throws InputError (naming `where` and the key) unless there is a source, numbers are finite and in range (radii above 0, up to
/// 1 m), no more than most_sound_balls are made, lists are as long as they have to be, and wavelengths within the table of
/// haemoglobin where that is asked.
void validate(const SoundSources& sources, std::string_view where);

inline constexpr std::size_t most_sound_balls = 10'000;  ///< those of vessels counted in
inline constexpr std::size_t most_wavelengths = 64;

/// The light of each event; one at least. Of valid sources, as below.
[[nodiscard]] std::vector<PassiveEvent> pulses_of(const SoundSources& sources);

/// A ball, by itself or of a vessel, with its amplitude at each pulse.
struct PulsedBall {
  std::string name;
  Point centre;
  Metres radius;
  Motion motion;
  std::vector<double> amplitudes;

  [[nodiscard]] Point centre_at(double phase) const;
};
[[nodiscard]] std::vector<PulsedBall> pulsed_balls(const SoundSources& sources);

/// The truth: initial pressure at a place, when pulse `pulse` of pulses_of() comes, at `phase` of the cycle.
[[nodiscard]] double initial_pressure(const SoundSources& sources, const Point& place, std::size_t pulse = 0, double phase = 0.0);
/// The same for many places: of pulsed_balls(), blurred by `blur`.
[[nodiscard]] double initial_pressure(std::span<const PulsedBall> balls, Metres blur, const Point& place, std::size_t pulse = 0,
                                      double phase = 0.0);

/// Balls and the middles of vessels. Names live as long as the sources.
[[nodiscard]] std::vector<TruePosition> true_positions(const SoundSources& sources, double phase);

}  // namespace echoform
