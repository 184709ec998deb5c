#include "simulators/sound_synthesis.hpp"

#include <algorithm>
#include <cmath>

#include "base/directions.hpp"
#include "cpu/for_each_or_throw.hpp"
#include "simulators/ball_sound.hpp"

namespace echoform {

SoundSynthesis::SoundSynthesis(const Acquisition& acquisition, const SoundSources& sources, MetresPerSecond velocity,
                               std::size_t threads)
    : acquisition_(acquisition),
      velocity_(velocity.value),
      deviation_(deviation_of_width(sources.blur)),
      pulses_(pulses_of(sources).size()) {
  // Balls that are not blurred begin abruptly, within a part of a sample.
  const double quarter_sample = 0.25 * velocity_ / acquisition.sample_rate.value;
  feature_ = std::max(deviation_, quarter_sample);
  const std::vector<Detector> rows = detectors_of(acquisition);
  for (std::size_t place = 0; place < rows.size() / pulses_; ++place) detectors_.push_back(rows[row_of(place, 0)]);
  for (PulsedBall& ball : pulsed_balls(sources)) {
    (ball.motion.kind == MotionKind::still ? still_balls_ : moving_balls_).push_back(std::move(ball));
  }

  const std::size_t samples = acquisition.samples;
  still_.resize(rows.size() * samples);
  if (still_balls_.empty()) return;
  ThreadTeam team(threads, "echoform-sim");
  std::vector<Scratch> scratches(team.size(), scratch());
  for_each_or_throw(team, detectors_.size(), 8, [&](std::size_t first, std::size_t last, std::size_t member) {
    Scratch& own = scratches[member];
    for (std::size_t place = first; place < last; ++place) {
      hear(detectors_[place], still_balls_, 0.0, own);
      for (std::size_t pulse = 0; pulse < pulses_; ++pulse) {
        float* const row = &still_[row_of(place, pulse) * samples];
        for (std::size_t n = 0; n < samples; ++n) row[n] = static_cast<float>(own.sums[pulse * samples + n]);
      }
    }
  });
}

std::size_t SoundSynthesis::row_of(std::size_t place, std::size_t pulse) const {
  const std::size_t elements = acquisition_.elements();
  return (place / elements * pulses_ + pulse) * elements + place % elements;
}

SoundSynthesis::Scratch SoundSynthesis::scratch() const {
  Scratch scratch;
  scratch.one.resize(acquisition_.samples);
  scratch.sums.resize(pulses_ * acquisition_.samples);
  return scratch;
}

void SoundSynthesis::hear(const Detector& detector, std::span<const PulsedBall> balls, double phase, Scratch& scratch) const {
  std::ranges::fill(scratch.sums, 0.0);
  if (detector.dead) return;
  const std::size_t samples = acquisition_.samples;
  const double start = (acquisition_.start_time - acquisition_.time_offset).value;
  const double rate = acquisition_.sample_rate.value;
  const double step = velocity_ / rate;  // distance that sound travels in one sample
  const double first_way = velocity_ * start;
  const auto sample_at = [&](double way) { return (way - first_way) / step; };
  for (const PulsedBall& ball : balls) {
    const BallSound sound(ball.radius, deviation_);
    element_points(detector, ball.centre_at(phase), feature_, scratch.points);
    const auto [least, most] = std::ranges::minmax_element(scratch.points, {}, &ElementPoint::distance);
    // Each side has one sample more than rounding may leave out.
    const double end = std::floor(sample_at(most->distance + sound.reach())) + 2.0;
    const double begin = std::ceil(sample_at(least->distance - sound.reach())) - 1.0;
    if (!(end > 0.0 && begin < static_cast<double>(samples))) continue;
    const auto first = static_cast<std::size_t>(std::max(0.0, begin));
    const auto last = static_cast<std::size_t>(std::min(static_cast<double>(samples), end));
    std::fill(scratch.one.begin() + static_cast<std::ptrdiff_t>(first), scratch.one.begin() + static_cast<std::ptrdiff_t>(last),
              0.0);
    for (const ElementPoint& point : scratch.points) {
      for (std::size_t n = first; n < last; ++n) {
        const double way = velocity_ * (start + static_cast<double>(n) / rate);
        scratch.one[n] += point.weight * sound.pressure(point.distance, way);
      }
    }
    for (std::size_t pulse = 0; pulse < pulses_; ++pulse) {
      double* const sums = &scratch.sums[pulse * samples];
      for (std::size_t n = first; n < last; ++n) sums[n] += ball.amplitudes[pulse] * scratch.one[n];
    }
  }
}

void SoundSynthesis::write(double phase, AScanWriter& writer, std::span<std::byte> frame) const {
  const std::size_t samples = acquisition_.samples;
  const std::size_t elements = acquisition_.elements();
  const std::size_t bytes = acquisition_.bytes_per_a_scan();
  Scratch own = scratch();
  std::vector<float> signal(samples);
  for (std::size_t place = 0; place < detectors_.size(); ++place) {
    hear(detectors_[place], moving_balls_, phase, own);
    for (std::size_t pulse = 0; pulse < pulses_; ++pulse) {
      const std::size_t row = row_of(place, pulse);
      const std::span<std::byte> into = frame.subspan(row * bytes, bytes);
      if (detectors_[place].dead) {
        std::ranges::fill(into, std::byte{0});
        continue;
      }
      for (std::size_t n = 0; n < samples; ++n) signal[n] = static_cast<float>(own.sums[pulse * samples + n]);
      writer.write(signal, row / elements, row % elements, into);
    }
  }
}

}  // namespace echoform
