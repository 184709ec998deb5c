// A source of sound for the tests, and plain references for its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "simulators/ball_sound.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform::test {

inline constexpr double pi = std::numbers::pi;

using Place = std::array<double, 3>;

inline double distance(const Place& a, const Place& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// One blurred ball in a ring of 8, as floats without noise.
inline SimulatorConfiguration small_source() {
  SimulatorConfiguration c;
  SoundScene sound;
  sound.detectors.kind = DetectorKind::ring;
  sound.detectors.count = 8;
  sound.detectors.radius = Metres(20e-3);
  sound.sources.balls = {{"ball 0", {Metres(2e-3), Metres(0.0), Metres(-3e-3)}, Metres(1e-3), 2.0, {}}};
  sound.sources.blur = Metres(0.5e-3);
  c.sound = sound;
  c.phantom = {};
  c.material = {MetresPerSecond(1500.0), MetresPerSecond(0.0)};
  c.samples = 900;
  c.sample_rate = Hertz(40e6);
  c.encoding = SampleEncoding::float32;
  c.quantised = false;
  c.noise_rms = 0.0;
  c.cycle_frames = 8;
  return c;
}

inline std::vector<std::byte> frame_of(const SimulatorConfiguration& c, std::uint64_t frame = 0) {
  const FmcSimulator simulator(c);
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(frame, bytes);
  return bytes;
}

/// A row of a frame of floats.
inline std::vector<float> row_of(const std::vector<std::byte>& frame, std::size_t row, std::size_t samples) {
  std::vector<float> values(samples);
  std::memcpy(values.data(), frame.data() + row * samples * sizeof(float), samples * sizeof(float));
  return values;
}

/// What a point hears of a ball of that amplitude.
inline std::vector<double> heard(const SimulatorConfiguration& c, const Place& detector, const Place& ball, double radius,
                                 double amplitude) {
  const BallSound sound(Metres(radius), deviation_of_width(c.sound->sources.blur));
  std::vector<double> values(c.samples);
  for (std::size_t n = 0; n < c.samples; ++n) {
    const double time = c.start_time.value - c.time_offset.value + static_cast<double>(n) / c.sample_rate.value;
    values[n] = amplitude * sound.pressure(distance(detector, ball), c.material.longitudinal_velocity.value * time);
  }
  return values;
}

/// Greatest difference over the greatest value of `expected`.
inline double difference(const std::vector<float>& found, const std::vector<double>& expected) {
  double most = 0.0;
  double peak = 0.0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    most = std::max(most, std::abs(static_cast<double>(found[n]) - expected[n]));
    peak = std::max(peak, std::abs(expected[n]));
  }
  return most / peak;
}

/// Samples are floats, and so is the sum of what moves and what does not.
inline constexpr double float_rounding = 3e-7;

}  // namespace echoform::test
