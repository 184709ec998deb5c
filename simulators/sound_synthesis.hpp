// Frames of sound that light makes: of each detector and pulse of light the sum over balls of their exact sound.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/detectors.hpp"
#include "simulators/a_scan_writer.hpp"
#include "simulators/element_points.hpp"
#include "simulators/sound_sources.hpp"

namespace echoform {

/// An A-scan is, at the times of its samples, the sum over balls of ball_sound.hpp in double precision; at a rectangular
/// detector its mean over the rectangle (element_points.hpp). Detectors are equally sensitive in all directions. What stands
/// still is summed once, when this is made.
class SoundSynthesis {
 public:
  /// `acquisition` is one of acquisition_of_detectors() for pulses_of() of valid sources, in a medium of `velocity`. Takes a
  /// float a sample of a frame, and `threads` (0: as many as the process may use) until it is made.
  SoundSynthesis(const Acquisition& acquisition, const SoundSources& sources, MetresPerSecond velocity, std::size_t threads = 0);

  /// Sound of the balls that stand still, [row, sample]. Pass it to the writer that write() gets.
  [[nodiscard]] std::span<const float> still() const noexcept { return still_; }
  /// Writes all rows of a frame at `phase` of the cycle. The writer adds what stands still. Safe from several threads at once.
  void write(double phase, AScanWriter& writer, std::span<std::byte> frame) const;

  /// Number of balls, still and moving.
  [[nodiscard]] std::size_t balls() const noexcept { return still_balls_.size() + moving_balls_.size(); }

 private:
  struct Scratch {
    std::vector<ElementPoint> points;
    std::vector<double> one;   // [sample], of one ball of amplitude 1
    std::vector<double> sums;  // [pulse, sample]
  };
  [[nodiscard]] Scratch scratch() const;
  /// Computes the sound that a detector receives from `balls` after each pulse, into scratch.sums.
  void hear(const Detector& detector, std::span<const PulsedBall> balls, double phase, Scratch& scratch) const;
  [[nodiscard]] std::size_t row_of(std::size_t place, std::size_t pulse) const;

  Acquisition acquisition_;
  double velocity_;
  double deviation_;
  double feature_;  // in metres, of the way, over which sound changes
  std::size_t pulses_;
  std::vector<Detector> detectors_;  // [position, element]
  std::vector<PulsedBall> still_balls_;
  std::vector<PulsedBall> moving_balls_;
  std::vector<float> still_;
};

}  // namespace echoform
