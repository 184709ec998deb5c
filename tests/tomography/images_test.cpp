// What tomography makes of exact pressures of balls.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/allocation_counter.hpp"
#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

Point at(double x, double y, double z) {
  return {Metres(x), Metres(y), Metres(z)};
}

/// Nine balls in a cuboid of 29.4 x 29.4 x 61.6 mm, as the phantom of Wang and others (2013) has them, whose places are not
/// stated.
std::vector<Ball> nine_balls() {
  return {{at(-6.5e-3, 0.0, 20e-3), 3e-3, 1.0},    {at(5e-3, 2e-3, 24e-3), 2e-3, 0.8},  {at(0.0, -6e-3, 12e-3), 2.5e-3, 0.5},
          {at(-4e-3, 5e-3, 4e-3), 2e-3, 1.0},      {at(6e-3, 0.0, 0.0), 3e-3, 0.7},     {at(0.0, 0.0, -8e-3), 2e-3, 1.0},
          {at(-6e-3, -4e-3, -14e-3), 2.5e-3, 0.9}, {at(5e-3, 4e-3, -20e-3), 2e-3, 0.6}, {at(0.0, -3e-3, -25e-3), 3e-3, 1.0}};
}

struct ImageErrors {
  double relative = 0.0;  ///< L2 over all balls and a little around each
  double plateau = 0.0;   ///< greatest relative one of middles
};

ImageErrors errors_of(const PassiveFrame& frame, const std::vector<Ball>& balls, const std::string& algorithm) {
  double difference = 0.0;
  double norm = 0.0;
  ImageErrors errors;
  for (const Ball& ball : balls) {
    const Tomogram image =
        tomogram_of(frame, tomography_text("algorithm = \"" + algorithm + "\"\n", cube(ball.centre, 1.2 * ball.radius, 5)));
    for (std::size_t k = 0; k < image.values.size(); ++k) {
      double want = 0.0;
      for (const Ball& other : balls) want += other.profile(distance(image.grid.at(k), other.centre));
      difference += std::pow(image.values[k] - want, 2.0);
      norm += want * want;
    }
    const double middle = image.values[image.values.size() / 2];
    errors.plateau = std::max(errors.plateau, std::abs(middle / ball.profile(0.0) - 1.0));
  }
  errors.relative = std::sqrt(difference / norm);
  return errors;
}

/// Of rings of a sphere the steps from ring to ring and from view to view are what is left of the error: it falls with them.
TEST(TomographyImages, OfBallsAreTheirInitialPressures) {
  const std::vector<Ball> balls = nine_balls();
  const PassiveFrame fine = heard(rotated_arc(128, 90, 65e-3), balls);
  for (const char* const algorithm : {"fbp", "ubp"}) {
    const ImageErrors errors = errors_of(fine, balls, algorithm);
    RecordProperty(std::string(algorithm) + "_128x90", std::to_string(errors.relative) + " " + std::to_string(errors.plateau));
    EXPECT_LE(errors.relative, 0.015) << algorithm;
    EXPECT_LE(errors.plateau, 0.01) << algorithm;
  }
  const double of_fine = errors_of(fine, balls, "fbp").relative;
  const double of_half = errors_of(heard(rotated_arc(64, 90, 65e-3), balls), balls, "fbp").relative;
  const double of_quarter = errors_of(heard(rotated_arc(32, 45, 65e-3), balls), balls, "fbp").relative;
  EXPECT_LT(2.0 * of_fine, of_half);
  EXPECT_LT(2.0 * of_half, of_quarter);
  EXPECT_LT(of_quarter, 0.5);
}

TEST(TomographyImages, OfDelayAndSumAreTheMeanOfWhatWasReceived) {
  const PassiveFrame frame = heard(ring(64, 30e-3), {{at(1e-3, 0.0, -2e-3), 1e-3}});
  const Tomogram image =
      tomogram_of(frame, tomography_text("algorithm = \"delay_and_sum\"\n", cube(at(0.0, 0.0, 0.0), 4e-3, 9, true)));
  const std::vector<Detector> detectors = detectors_of(frame.acquisition);
  for (std::size_t k = 0; k < image.values.size(); ++k) {
    double sum = 0.0;
    for (std::size_t row = 0; row < detectors.size(); ++row) {
      const double u = (distance(detectors[row].centre, image.grid.at(k)) / water - 10e-6) * 20e6;
      const auto n = static_cast<std::size_t>(u);
      const float* const samples = frame.samples.data() + row * frame.acquisition.samples + n;
      sum += samples[0] + (u - static_cast<double>(n)) * (samples[1] - samples[0]);
    }
    // Places are to 1e-4 of a sample, over which samples change by a few hundredths of their greatest.
    ASSERT_NEAR(image.values[k], sum / 64.0, 1e-6);
  }
}

TEST(TomographyImages, OfARingHaveAPointAtItsPlace) {
  const Point place = at(3e-3, 0.0, -2e-3);
  const PassiveFrame whole = heard(ring(256, 40e-3), {{place, 0.3e-3, 1.0, 0.15e-3}});
  const std::string grid = cube(at(0.0, 0.0, 0.0), 5e-3, 51, true);
  for (const char* const algorithm : {"fbp", "ubp", "delay_and_sum"}) {
    for (const char* const shown : {"signed", "envelope", "non_negative"}) {
      const Tomogram image = tomogram_of(
          whole, tomography_text(std::string("algorithm = \"") + algorithm + "\"\nshown = \"" + shown + "\"\n", grid));
      if (std::string(shown) != "signed") {
        EXPECT_GE(*std::min_element(image.values.begin(), image.values.end()), 0.0F);
      }
      // The mean of pressures crosses zero in the middle of a point: it is no measure of where one is.
      if (std::string(algorithm) == "delay_and_sum") continue;
      EXPECT_LE(distance(image.peak(), place), 0.15e-3) << algorithm;
    }
  }
}

/// Three quarters of a ring, as scanners of mice have: what they see of a voxel evens it out.
TEST(TomographyImages, DividedByTheActualAngleAreEvener) {
  const std::vector<Ball> balls{{at(8e-3, 0.0, 8e-3), 1.5e-3}, {at(-8e-3, 0.0, -8e-3), 1.5e-3}};
  const PassiveFrame frame = heard(ring(256, 40e-3, 0.75), balls);
  const auto ratio = [&](const std::string& keys) {
    const auto value = [&](const Ball& ball) {
      const Tomogram image = tomogram_of(frame, tomography_text(keys, cube(ball.centre, 0.2e-3, 3, true)));
      return static_cast<double>(image.values[4]);
    };
    return value(balls[0]) / value(balls[1]);
  };
  const double ideal = ratio("algorithm = \"ubp\"\n");
  const double actual = ratio("algorithm = \"ubp\"\nnormalise = \"actual\"\n");
  EXPECT_LT(std::abs(actual - 1.0), std::abs(ideal - 1.0));
}

/// Sound is quicker in the object, along straight rays.
TEST(TomographyImages, OfTwoSpeedsHaveABallAtItsPlace) {
  constexpr double inside = 1620.0;
  constexpr double radius = 12e-3;
  const Ball ball{at(6e-3, 0.0, 3e-3), 0.6e-3, 1.0, 0.2e-3};
  // The way in the object by walking along it, as so much less of the way around.
  const auto travelled = [&](const Point& from, const Point& to) {
    constexpr int steps = 2000;
    const Direction way = between(from, to);
    int within = 0;
    for (int n = 0; n < steps; ++n) {
      const double t = (n + 0.5) / steps;
      if (std::hypot(from.x.value + t * way.x, from.y.value + t * way.y, from.z.value + t * way.z) <= radius) ++within;
    }
    const double part = static_cast<double>(within) / steps;
    return length(way) * (1.0 + part * (water / inside - 1.0));
  };
  const PassiveFrame frame = heard(ring(200, 40e-3), {ball}, travelled);
  const std::string grid = cube(ball.centre, 1.5e-3, 31, true);
  const Tomogram right = tomogram_of(frame, tomography_text("object_velocity = 1620.0\nobject_radii = [0.012]\n", grid));
  const Tomogram wrong = tomogram_of(frame, tomography_text("", grid));
  EXPECT_LE(distance(right.peak(), ball.centre), 0.15e-3);
  EXPECT_GT(right.greatest(), 1.3 * wrong.greatest());
}

/// A speed of sound that is changed makes another image, as if it had been stated first.
TEST(TomographyImages, AreSharpestAtTheirOwnSpeed) {
  const PassiveFrame frame = heard(ring(128, 40e-3), {{at(4e-3, 0.0, 1e-3), 0.4e-3, 1.0, 0.2e-3}});
  const std::string grid = cube(at(4e-3, 0.0, 1e-3), 2e-3, 41, true);
  const double right = tomogram_of(frame, tomography_text("", grid, water)).greatest();
  for (const double velocity : {1500.0, 1580.0}) {
    EXPECT_LT(tomogram_of(frame, tomography_text("", grid, velocity)).greatest(), 0.9 * right) << velocity;
  }
}

TEST(TomographyImages, OfWavelengthsAreStreamsOfTheirOwn) {
  Acquisition acquisition = ring(48, 30e-3);
  acquisition.events = {{PassiveEvent{Metres(850e-9), 0.0}, {}, 0}, {PassiveEvent{Metres(750e-9), 0.0}, {}, 0}};
  const std::vector<Ball> balls{{at(1e-3, 0.0, 2e-3), 1e-3}};
  PassiveFrame frame = heard(acquisition, balls);
  // Thrice as much is absorbed at 850 nm.
  for (std::size_t n = 0; n < frame.samples.size() / 2; ++n) frame.samples[n] *= 3.0F;
  const std::string grid = cube(at(0.0, 0.0, 0.0), 4e-3, 9, true);
  const auto setup = tomography_setup(acquisition, tomography_text("", grid));
  EXPECT_THAT(setup->recipe.views(), testing::ElementsAre("image", "750nm", "850nm"));
  const Tomogram low = tomogram_of(frame, tomography_text("", grid), "750nm");
  const Tomogram high = tomogram_of(frame, tomography_text("", grid), "850nm");
  const Tomogram mean = tomogram_of(frame, tomography_text("", grid), "image");
  const Tomogram chosen = tomogram_of(frame, tomography_text("wavelengths = [850e-9]\n", grid), "850nm");
  for (std::size_t k = 0; k < low.values.size(); ++k) {
    const double scale = low.greatest();
    EXPECT_NEAR(high.values[k], 3.0 * low.values[k], 1e-5 * scale);
    EXPECT_NEAR(mean.values[k], 2.0 * low.values[k], 1e-5 * scale);
    EXPECT_EQ(chosen.values[k], high.values[k]);
  }
  const auto alone = tomography_setup(acquisition, tomography_text("wavelengths = [850e-9]\n", grid));
  EXPECT_THAT(alone->recipe.views(), testing::ElementsAre("850nm"));
}

TEST(TomographyImages, OfWavelengthsThatAreNoWholeNanometresHaveNamesOfTheirOwn) {
  Acquisition acquisition = ring(48, 30e-3);
  acquisition.events = {{PassiveEvent{Metres(730.5e-9), 0.0}, {}, 0},
                        {PassiveEvent{Metres(850e-9), 0.0}, {}, 0},
                        {PassiveEvent{Metres(730.4e-9), 0.0}, {}, 0},
                        {PassiveEvent{Metres(1e-3), 0.0}, {}, 0}};
  PassiveFrame frame = heard(acquisition, {{at(1e-3, 0.0, 2e-3), 1e-3}});
  const std::size_t of_event = frame.samples.size() / 4;
  for (std::size_t n = 0; n < frame.samples.size(); ++n) frame.samples[n] *= static_cast<float>(1 + n / of_event);
  const std::string grid = cube(at(0.0, 0.0, 0.0), 4e-3, 9, true);
  const auto setup = tomography_setup(acquisition, tomography_text("", grid), true);
  EXPECT_THAT(setup->recipe.views(), testing::ElementsAre("image", "730.4nm", "730.5nm", "850nm", "1000000nm"));
  // Each with as much as its event has.
  const Tomogram one = tomogram_of(frame, tomography_text("", grid), "730.5nm");
  for (const auto& [name, times] : {std::pair{"730.4nm", 3.0}, std::pair{"850nm", 2.0}, std::pair{"1000000nm", 4.0}}) {
    const Tomogram other = tomogram_of(frame, tomography_text("", grid), name);
    for (std::size_t k = 0; k < one.values.size(); ++k) {
      EXPECT_NEAR(other.values[k], times * one.values[k], 1e-5 * one.greatest()) << name;
    }
  }
  const std::string two = "wavelengths = [730.5e-9, 730.4e-9]\n";
  EXPECT_THAT(tomography_setup(acquisition, tomography_text(two, grid))->recipe.views(),
              testing::ElementsAre("730.5nm", "730.4nm"));
  const std::string unmixed = grid + "[unmixing]\ncomponents = [\"HbO2\", \"Hb\"]\n";
  EXPECT_THAT(tomography_setup(acquisition, tomography_text("wavelengths = [730.5e-9, 850e-9]\n", unmixed))->recipe.views(),
              testing::ElementsAre("730.5nm", "850nm", "HbO2", "Hb", "saturation"));
}

/// Detectors that smear pressures, and the key that takes it back.
TEST(TomographyImages, OfGaussianDetectorsAreDeconvolved) {
  const Ball ball{at(2e-3, 0.0, 1e-3), 0.8e-3, 1.0, 0.25e-3};
  const PassiveFrame exact = heard(ring(128, 40e-3), {ball});
  PassiveFrame smeared = exact;
  // Of half amplitude at 1.5 MHz: a Gaussian in time of this standard deviation, in samples, whose sum is 1.
  const double sigma = std::sqrt(2.0 * std::numbers::ln2) / (2.0 * std::numbers::pi * 1.5e6) * 20e6;
  std::vector<double> kernel;
  double sum = 0.0;
  for (int k = -20; k <= 20; ++k) sum += kernel.emplace_back(std::exp(-0.5 * std::pow(k / sigma, 2.0)));
  const std::size_t samples = exact.acquisition.samples;
  for (std::size_t row = 0; row < 128; ++row) {
    for (std::size_t n = 20; n + 20 < samples; ++n) {
      double value = 0.0;
      for (std::size_t k = 0; k <= 40; ++k) value += kernel[k] / sum * exact.samples[row * samples + n + k - 20];
      smeared.samples[row * samples + n] = static_cast<float>(value);
    }
  }
  const std::string grid = cube(ball.centre, 1.6e-3, 33, true);
  const auto error = [&](const std::string& keys, const Tomogram& want) {
    const Tomogram image = tomogram_of(smeared, tomography_text(keys, grid));
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t k = 0; k < image.values.size(); ++k) {
      difference += std::pow(image.values[k] - want.values[k], 2.0);
      norm += std::pow(want.values[k], 2.0);
    }
    return std::sqrt(difference / norm);
  };
  const Tomogram want = tomogram_of(exact, tomography_text("", grid));
  const double without = error("", want);
  const double with = error("impulse_bandwidth = 3e6\nimpulse_noise = 1e-4\n", want);
  EXPECT_LT(with, 0.5 * without);
}

TEST(TomographyImages, TakeNothingFromTheHeap) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  Acquisition acquisition = ring(32, 30e-3);
  acquisition.events = {{PassiveEvent{Metres(750e-9), 0.0}, {}, 0}, {PassiveEvent{Metres(850e-9), 0.0}, {}, 0}};
  const PassiveFrame frame = heard(acquisition, {{at(1e-3, 0.0, 2e-3), 1e-3}});
  for (const std::string keys :
       {"", "algorithm = \"fbp\"\nshown = \"envelope\"\n", "normalise = \"actual\"\nimpulse_bandwidth = 4e6\n"}) {
    const std::string more = cube(at(0.0, 0.0, 0.0), 4e-3, 20, true) + "[filter]\nkind = \"band\"\nband = [0.1e6, 6e6]\n";
    const auto engine = make_engine(tomography_setup(acquisition, tomography_text(keys, more), true),
                                    {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
    FrameSlot slot;
    engine->equip(slot);
    std::memcpy(slot.samples.data(), frame.samples.data(), frame.samples.size() * sizeof(float));
    for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE(image_now(*engine, slot));
    const std::uint64_t before = allocations();
    for (int counted = 0; counted < 5; ++counted) static_cast<void>(image_now(*engine, slot));
    EXPECT_EQ(allocations() - before, 0U) << keys;
  }
}

}  // namespace
}  // namespace echoform::test
