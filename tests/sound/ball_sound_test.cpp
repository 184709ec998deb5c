// The closed forms against integrals over shells, over space and over time, in double precision and without anything of them.
#include "simulators/ball_sound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/sound/scene.hpp"

namespace echoform::test {
namespace {

/// Simpson's rule over an even number of parts.
double integral(const std::function<double(double)>& f, double from, double to, int parts) {
  const double step = (to - from) / parts;
  double sum = f(from) + f(to);
  for (int k = 1; k < parts; ++k) sum += (k % 2 == 1 ? 4.0 : 2.0) * f(from + k * step);
  return sum * step / 3.0;
}

/// Mean of a source over the shell of radius `way` about a detector at `distance` from the source's middle, by very many rings of
/// equal area. The rest of the shell, beyond `reach` of the source, holds nothing.
double mean_over_shell(const std::function<double(double)>& source, double distance, double way, double reach, int rings) {
  // Law of cosines: where the shell is `reach` from the middle.
  const double edge = (distance * distance + way * way - reach * reach) / (2.0 * distance * way);
  const double least = std::max(-1.0, edge);
  const double part = (1.0 - least) / rings;
  double sum = 0.0;
  for (int k = 0; k < rings; ++k) {
    const double cosine = least + (k + 0.5) * part;
    sum += source(std::sqrt(distance * distance + way * way - 2.0 * distance * way * cosine));
  }
  return 0.5 * part * sum;
}

/// p = d/dt (t M): the spherical mean M of the initial pressure (Poisson), by a central difference over `step` metres of way.
double poisson(const std::function<double(double)>& source, double distance, double way, double reach, double step, int rings) {
  const double after = (way + step) * mean_over_shell(source, distance, way + step, reach, rings);
  const double before = (way - step) * mean_over_shell(source, distance, way - step, reach, rings);
  return (after - before) / (2.0 * step);
}

TEST(BallSound, IsThatOfShellsThroughASharpBall) {
  constexpr double radius = 3e-3;
  const BallSound sound(Metres(radius), 0.0);
  const auto inside = [](double r) { return r < radius ? 1.0 : 0.0; };
  for (const double distance : {7e-3, 25e-3, 65e-3}) {
    const double peak = radius / (2.0 * distance);
    for (const double behind : {-0.9, -0.35, 0.0, 0.2, 0.77}) {
      const double way = distance - behind * radius;
      // t M is a parabola there, so that its difference is exact but for a ring that counts as within or without: two millionths
      // of the rings that are within, over a step of a hundredth of the radius.
      EXPECT_NEAR(sound.pressure(distance, way), poisson(inside, distance, way, 1.02 * radius, 0.01 * radius, 1'000'000),
                  1e-3 * peak)
          << distance << ' ' << behind;
    }
    EXPECT_EQ(sound.pressure(distance, distance - 1.01 * radius), 0.0);
    EXPECT_EQ(sound.pressure(distance, distance + 1.01 * radius), 0.0);
    EXPECT_NEAR(sound.pressure(distance, distance - 0.999999 * radius), peak, 1e-5 * peak) << "half of it goes out, by R / d";
  }
}

TEST(BallSound, IsThatOfShellsThroughABlurredBall) {
  constexpr double radius = 1.5e-3;
  constexpr double deviation = 0.326988e-3;
  const BallSound sound(Metres(radius), deviation);
  const double reach = sound.reach();
  const auto profile = [&](double r) { return sound.profile(r); };
  for (const double distance : {6e-3, 65e-3}) {
    for (const double behind : {-1.4, -0.8, 0.0, 0.5, 1.0, 1.3}) {
      const double way = distance - behind * radius;
      // A difference over h is off by h^2 / 6 of the third derivative, a part of 1 / deviation^2: 3e-6 for a hundredth of it;
      // rings are far finer than the profile.
      EXPECT_NEAR(sound.pressure(distance, way), poisson(profile, distance, way, reach, 0.01 * deviation, 20'000),
                  2e-4 * radius / (2.0 * distance))
          << distance << ' ' << behind;
    }
  }
}

TEST(BallSound, IsSilentBeforeTheLightAndThenTheInitialPressure) {
  // A detector within the blur of a ball: both terms of the formula count.
  const BallSound sound(Metres(1e-3), 1e-3);
  EXPECT_EQ(sound.pressure(2e-3, -1e-9), 0.0);
  EXPECT_NEAR(sound.pressure(2e-3, 0.0), sound.profile(2e-3), 1e-15);
  const auto profile = [&](double r) { return sound.profile(r); };
  // As above; whole shells, since all of them are within reach.
  EXPECT_NEAR(sound.pressure(2e-3, 1.1e-3), poisson(profile, 2e-3, 1.1e-3, sound.reach(), 0.01e-3, 20'000), 1e-5);
}

/// A ball convolved with a Gaussian, at r from its middle: over its inside by radius and by the cosine from the way to r.
double blurred_at(double radius, double deviation, double r) {
  const double scale = std::pow(2.0 * pi * deviation * deviation, -1.5);
  return integral(
      [&](double rho) {
        return 2.0 * pi * rho * rho *
               integral(
                   [&](double cosine) {
                     const double square = rho * rho + r * r - 2.0 * rho * r * cosine;
                     return scale * std::exp(-0.5 * square / (deviation * deviation));
                   },
                   -1.0, 1.0, 800);
      },
      0.0, radius, 400);
}

TEST(BallSound, OfABlurredBallHasTheProfileOfItsConvolution) {
  for (const double deviation : {0.2e-3, 1e-3, 4e-3}) {
    const BallSound sound(Metres(1e-3), deviation);
    for (const double r : {0.0, 1e-9, 1e-5, 0.3e-3, 1e-3, 1.7e-3}) {
      // Simpson's rule on a Gaussian as narrow as 16 of its steps: their fourth power over 180.
      EXPECT_NEAR(sound.profile(r), blurred_at(1e-3, deviation, r), 1e-7) << deviation << ' ' << r;
    }
  }
}

TEST(BallSound, HasASmoothProfileWhereItsFormulasMeet) {
  const double radius = 2e-3;
  const double deviation = 0.7e-3;
  const BallSound sound(Metres(radius), deviation);
  // r R / s^2 = 1/2, where the other form of the difference begins.
  const double meet = 0.5 * deviation * deviation / radius;
  EXPECT_NEAR(sound.profile(meet * (1.0 - 1e-12)), sound.profile(meet * (1.0 + 1e-12)), 1e-14);
  // By the limit of the formula for r -> 0.
  const double middle = std::erf(radius / (std::sqrt(2.0) * deviation)) -
                        std::sqrt(2.0 / pi) * radius / deviation * std::exp(-0.5 * radius * radius / (deviation * deviation));
  EXPECT_NEAR(sound.profile(0.0), middle, 1e-15);
  EXPECT_NEAR(sound.profile(1e-12), middle, 1e-14);
  EXPECT_LT(sound.profile(sound.reach() * (1.0 - 1e-9)), 1e-15);
}

TEST(BallSound, OfABlurredBallIsThatOfASharpOneBlurredInTime) {
  constexpr double radius = 1.1e-3;
  constexpr double distance = 30e-3;
  constexpr double speed = 1540.0;
  // 0.5 us of full width at half height in time are 0.77 mm in space.
  const double deviation = deviation_of_width(Metres(0.77e-3));
  EXPECT_NEAR(deviation, 0.326988e-3, 1e-9);
  const double in_time = 0.5e-6 / (2.0 * std::sqrt(2.0 * std::log(2.0)));
  EXPECT_NEAR(deviation / speed, in_time, 1e-15);
  const BallSound sharp(Metres(radius), 0.0);
  const BallSound blurred(Metres(radius), deviation);
  for (const double behind : {-1.5, -1.0, -0.3, 0.0, 0.6, 1.1, 1.9}) {
    const double time = (distance - behind * radius) / speed;
    // Within the sharp sound alone; at its ends, which jump, just inside.
    const double first = (distance - radius * (1.0 - 1e-12)) / speed;
    const double last = (distance + radius * (1.0 - 1e-12)) / speed;
    const double sum = integral(
        [&](double t) {
          return sharp.pressure(distance, speed * t) * std::exp(-0.5 * (time - t) * (time - t) / (in_time * in_time)) /
                 (std::sqrt(2.0 * pi) * in_time);
        },
        first, last, 2000);
    EXPECT_NEAR(blurred.pressure(distance, speed * time), sum, 1e-11) << behind;
  }
}

}  // namespace
}  // namespace echoform::test
