// Exact optoacoustic data of balls, by the closed form, on an arc of detectors that turns about them.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/detectors.hpp"

namespace echoform::test {

struct Ball {
  Point centre;
  Metres radius;
  double pressure = 1.0;  ///< p0 within
};

inline constexpr MetresPerSecond ball_velocity{1500.0};

/// `elements` on a half circle of 20 mm about the origin from -z to +z, at `views` angles about z, a position each.
inline Acquisition turning_arc(std::size_t elements, std::size_t views) {
  constexpr double radius = 20e-3;
  Acquisition acquisition;
  for (std::size_t k = 0; k < elements; ++k) {
    const double angle = std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(elements);
    const double s = std::sin(angle);
    const double c = std::cos(angle);
    acquisition.probe.elements.push_back(
        {{Metres(radius * s), Metres(0.0), Metres(radius * c)}, {-s, 0.0, -c}, Metres(0.0), Metres(0.0)});
  }
  for (std::size_t view = 0; view < views; ++view) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(view) / static_cast<double>(views);
    const double s = std::sin(angle);
    const double c = std::cos(angle);
    acquisition.positions.push_back({{}, {c, s, 0.0}, {-s, c, 0.0}});
    acquisition.events.push_back({PassiveEvent{}, {}, static_cast<std::uint32_t>(view)});
  }
  acquisition.encoding = SampleEncoding::float32;
  acquisition.samples = 160;
  acquisition.sample_rate = Hertz(20e6);
  acquisition.start_time = Seconds(9.3e-6);
  return acquisition;
}

/// A frame [row, sample]: p = (p0 / 2) (1 - ct / d) where |ct - d| <= R, d the distance of the detector from the centre; and
/// noise of a normal distribution with this root mean square.
inline std::vector<float> frame_of_balls(const Acquisition& acquisition, const std::vector<Ball>& balls, double noise = 0.0,
                                         unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> drawn;
  std::vector<float> frame;
  for (const Detector& detector : detectors_of(acquisition)) {
    for (std::size_t sample = 0; sample < acquisition.samples; ++sample) {
      const double time = acquisition.start_time.value - acquisition.time_offset.value +
                          static_cast<double>(sample) / acquisition.sample_rate.value;
      double pressure = noise > 0.0 ? noise * drawn(generator) : 0.0;
      for (const Ball& ball : balls) {
        const double x = detector.centre.x.value - ball.centre.x.value;
        const double y = detector.centre.y.value - ball.centre.y.value;
        const double z = detector.centre.z.value - ball.centre.z.value;
        const double d = std::sqrt(x * x + y * y + z * z);
        const double way = ball_velocity.value * time;
        if (std::abs(way - d) <= ball.radius.value) pressure += 0.5 * ball.pressure * (1.0 - way / d);
      }
      frame.push_back(static_cast<float>(pressure));
    }
  }
  return frame;
}

}  // namespace echoform::test
