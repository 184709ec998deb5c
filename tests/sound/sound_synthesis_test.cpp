// Rows of the simulated source against sums that are worked out here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "proto/acquisition.pb.h"
#include "simulators/frame_cycle.hpp"
#include "tests/sound/scene.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::test {
namespace {

/// Of a ring of 8 with a radius of 20 mm.
Place of_ring(std::size_t k) {
  const double angle = static_cast<double>(k) * pi / 4.0;
  return {20e-3 * std::sin(angle), 0.0, 20e-3 * std::cos(angle)};
}

TEST(SoundSynthesis, HearsABallAtEveryDetector) {
  SimulatorConfiguration c = small_source();
  c.start_time = Seconds(2e-6);
  c.time_offset = Seconds(0.3e-6);
  const std::vector<std::byte> frame = frame_of(c);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_LT(difference(row_of(frame, k, c.samples), heard(c, of_ring(k), {2e-3, 0.0, -3e-3}, 1e-3, 2.0)), float_rounding) << k;
  }
}

TEST(SoundSynthesis, AddsBallsUpWhetherTheyMoveOrNot) {
  SimulatorConfiguration c = small_source();
  const Motion round{MotionKind::circular, {Metres(4e-3), Metres(0.0), Metres(4e-3)}, 2, 0.25};
  c.sound->sources.balls.push_back({"ball 1", {Metres(-1e-3), Metres(1e-3), Metres(2e-3)}, Metres(0.7e-3), -1.5, round});
  const FmcSimulator simulator(c);
  EXPECT_EQ(simulator.sounding_balls(), 2U);
  for (const std::uint64_t frame : {0U, 1U, 5U, 9U}) {
    // Twice round in the cycle of 8 frames, a quarter ahead, from +x towards +z.
    const double angle = 2.0 * pi * (2.0 * static_cast<double>(frame % 8) / 8.0 + 0.25);
    const Place moved{-1e-3 + 4e-3 * std::cos(angle), 1e-3, 2e-3 + 4e-3 * std::sin(angle)};
    const std::vector<std::byte> bytes = frame_of(c, frame);
    for (std::size_t k = 0; k < 8; ++k) {
      std::vector<double> expected = heard(c, of_ring(k), {2e-3, 0.0, -3e-3}, 1e-3, 2.0);
      const std::vector<double> other = heard(c, of_ring(k), moved, 0.7e-3, -1.5);
      for (std::size_t n = 0; n < c.samples; ++n) expected[n] += other[n];
      EXPECT_LT(difference(row_of(bytes, k, c.samples), expected), float_rounding) << frame << ' ' << k;
    }
    const std::vector<TruePosition> truth = simulator.true_positions(frame);
    ASSERT_EQ(truth.size(), 2U);
    EXPECT_FALSE(truth[0].moving);
    EXPECT_TRUE(truth[1].moving);
    EXPECT_NEAR(truth[1].centre.x.value, moved[0], 1e-15);
    EXPECT_NEAR(initial_pressure(c.sound->sources, truth[1].centre, 0, simulator.phase(frame)),
                initial_pressure(c.sound->sources, {Metres(moved[0]), Metres(moved[1]), Metres(moved[2])}, 0,
                                 static_cast<double>(frame % 8) / 8.0),
                1e-12);
  }
}

/// The mean over a rectangle at `centre`, whose sides lie along `u` and `v`, by very many equal parts.
std::vector<double> heard_by_rectangle(const SimulatorConfiguration& c, const Place& centre, const Place& u, const Place& v,
                                       std::array<double, 2> size, int parts) {
  std::vector<double> mean(c.samples);
  for (int i = 0; i < parts; ++i) {
    const int parts_across = size[1] > 0.0 ? parts : 1;
    for (int j = 0; j < parts_across; ++j) {
      const double a = size[0] * ((i + 0.5) / parts - 0.5);
      const double b = size[1] * ((j + 0.5) / parts_across - 0.5);
      Place at{};
      for (std::size_t k = 0; k < 3; ++k) at[k] = centre[k] + a * u[k] + b * v[k];
      const std::vector<double> here = heard(c, at, {2e-3, 0.0, -3e-3}, 1e-3, 2.0);
      for (std::size_t n = 0; n < c.samples; ++n) mean[n] += here[n] / (parts * parts_across);
    }
  }
  return mean;
}

TEST(SoundSynthesis, TakesTheMeanOverRectangularDetectors) {
  SimulatorConfiguration c = small_source();
  c.samples = 400;
  c.start_time = Seconds(8e-6);
  c.sound->detectors.element_width = Metres(2e-3);
  c.sound->detectors.element_length = Metres(6e-3);
  const std::vector<std::byte> frame = frame_of(c);
  for (const std::size_t k : {1U, 2U}) {
    const double angle = static_cast<double>(k) * pi / 4.0;
    const auto expected =
        heard_by_rectangle(c, of_ring(k), {std::cos(angle), 0.0, -std::sin(angle)}, {0.0, 1.0, 0.0}, {2e-3, 6e-3}, 60);
    // Of the 60 parts a side: their ways differ by a 20th of the blur at most, of which the square over 24 counts.
    EXPECT_LT(difference(row_of(frame, k, c.samples), expected), 2e-4) << k;
    const auto point = heard(c, of_ring(k), {2e-3, 0.0, -3e-3}, 1e-3, 2.0);
    EXPECT_GT(difference(row_of(frame, k, c.samples), point), 5e-3) << "size matters";
  }
}

TEST(SoundSynthesis, TellsApartWaysFarBelowWhatChangesOverARectangle) {
  SimulatorConfiguration c = small_source();
  c.sound->detectors.kind = DetectorKind::line;
  c.sound->detectors.radius.reset();
  c.sound->detectors.count = 2;
  c.sound->detectors.pitch = Metres(6e-3);
  c.sound->detectors.element_width = Metres(3e-3);
  // Off to the side: the way differs by more than the blur along the element.
  c.sound->sources.balls[0].centre = {Metres(12e-3), Metres(3e-3), Metres(8e-3)};
  c.sound->sources.blur = Metres(0.3e-3);
  const std::vector<std::byte> frame = frame_of(c);
  for (const double sign : {-1.0, 1.0}) {
    std::vector<double> expected(c.samples);
    constexpr int parts = 4000;
    for (int k = 0; k < parts; ++k) {
      const double x = sign * 3e-3 + 3e-3 * ((k + 0.5) / parts - 0.5);
      const auto here = heard(c, {x, 0.0, 0.0}, {12e-3, 3e-3, 8e-3}, 1e-3, 2.0);
      for (std::size_t n = 0; n < c.samples; ++n) expected[n] += here[n] / parts;
    }
    EXPECT_LT(difference(row_of(frame, sign < 0.0 ? 0 : 1, c.samples), expected), 1e-5);
  }
}

TEST(SoundSynthesis, OfSharpBallsOverARectangleIsWithinAPartOfTheJump) {
  SimulatorConfiguration c = small_source();
  c.sound->sources.blur = Metres(0.0);
  c.samples = 400;
  c.start_time = Seconds(8e-6);
  c.sound->detectors.element_width = Metres(2e-3);
  const std::vector<std::byte> frame = frame_of(c);
  const auto expected =
      heard_by_rectangle(c, of_ring(1), {std::cos(pi / 4), 0.0, -std::sin(pi / 4)}, {0.0, 1.0, 0.0}, {2e-3, 0.0}, 300);
  // A jump is found between places that are an eighth of a sample's way apart: one place more or less of the 22.
  EXPECT_LT(difference(row_of(frame, 1, c.samples), expected), 0.1);
}

TEST(SoundSynthesis, KeepsTheRowsOfTheLayoutOverPositionsAndWavelengths) {
  SimulatorConfiguration c = small_source();
  c.sound->detectors.kind = DetectorKind::arc;
  c.sound->detectors.count = 5;
  c.sound->detectors.angles = {20.0, 160.0};
  c.sound->detectors.positions = 6;
  c.sound->sources.wavelengths = {Metres(700e-9), Metres(800e-9)};
  c.sound->sources.pulse_energies = {0.01, 0.02};
  c.sound->sources.ball_spectra = {{1.0, 0.25}};
  c.dead_elements = {3};
  const FmcSimulator simulator(c);
  const Acquisition& a = simulator.acquisition();
  const FrameLayout layout(a);
  ASSERT_EQ(layout.rows(), 6U * 2U * 5U);
  const std::vector<std::byte> frame = frame_of(c);
  const std::vector<EventReceiver> pairs = layout.pairs();
  for (std::size_t row = 0; row < layout.rows(); ++row) {
    const std::vector<float> found = row_of(frame, row, c.samples);
    if (pairs[row].receiver == 3) {
      EXPECT_THAT(found, testing::Each(0.0F)) << "of a dead detector";
      continue;
    }
    const TransmitEvent& event = a.events[pairs[row].event];
    const double theta = (20.0 + 35.0 * pairs[row].receiver) * pi / 180.0;
    const double phi = 60.0 * event.position * pi / 180.0;
    const Place at{20e-3 * std::sin(theta) * std::cos(phi), 20e-3 * std::sin(theta) * std::sin(phi), 20e-3 * std::cos(theta)};
    // Twice the energy, a quarter of the absorption.
    const double amplitude = std::get<PassiveEvent>(event.form).wavelength.value > 750e-9 ? 2.0 * 2.0 * 0.25 : 2.0;
    EXPECT_LT(difference(found, heard(c, at, {2e-3, 0.0, -3e-3}, 1e-3, amplitude)), float_rounding) << row;
  }

  // What a server reads of the Hello has the same rows, by the same detectors, of the same light.
  wire::Hello hello;
  ASSERT_TRUE(hello.ParseFromString(encode_hello({}, a)));
  Acquisition received = read_hello(hello, {}).acquisition;
  EXPECT_EQ(FrameLayout(received), layout);
  EXPECT_EQ(received.events, a.events);
  EXPECT_EQ(detectors_of(received), detectors_of(a));
}

TEST(SoundSynthesis, GoesThroughTheConverter) {
  SimulatorConfiguration c = small_source();
  const std::vector<std::byte> floats = frame_of(c);
  c.encoding = SampleEncoding::int16;
  c.quantised = true;
  c.full_scale = 0.1;
  const FmcSimulator simulator(c);
  const std::vector<std::byte> counts = frame_of(c);
  EXPECT_NEAR(simulator.acquisition().sample_scale, 0.1 / 2047.0, 1e-18);
  for (std::size_t k = 0; k < 8; ++k) {
    const std::vector<float> exact = row_of(floats, k, c.samples);
    for (std::size_t n = 0; n < c.samples; ++n) {
      std::int16_t count = 0;
      std::memcpy(&count, counts.data() + 2 * (k * c.samples + n), 2);
      // Half a count, and its rounding as a float.
      ASSERT_NEAR(count * simulator.acquisition().sample_scale, static_cast<double>(exact[n]), 0.5001 * 0.1 / 2047.0);
    }
  }
}

TEST(SoundSynthesis, HasNoiseThatItsSeedRepeats) {
  SimulatorConfiguration c = small_source();
  const std::vector<std::byte> silent = frame_of(c);
  c.noise_rms = 0.01;
  EXPECT_EQ(frame_of(c, 3), frame_of(c, 3));
  EXPECT_NE(frame_of(c, 3), frame_of(c, 4)) << "nothing moves but the noise";
  double square = 0.0;
  const std::vector<std::byte> noisy = frame_of(c);
  for (std::size_t k = 0; k < 8; ++k) {
    const std::vector<float> with = row_of(noisy, k, c.samples);
    const std::vector<float> without = row_of(silent, k, c.samples);
    for (std::size_t n = 0; n < c.samples; ++n) square += std::pow(static_cast<double>(with[n] - without[n]), 2);
  }
  // Of 7200 numbers: to 0.8 %, five times of which is 4 %.
  EXPECT_NEAR(std::sqrt(square / (8.0 * static_cast<double>(c.samples))), 0.01, 0.0004);
  SimulatorConfiguration other = c;
  other.seed = 2;
  EXPECT_NE(frame_of(c), frame_of(other));
}

TEST(SoundSynthesis, MakesACycleOfFrames) {
  SimulatorConfiguration c = small_source();
  c.sound->sources.balls[0].motion = {MotionKind::circular, {Metres(1e-3), Metres(0.0), Metres(1e-3)}, 1, 0.0};
  c.noise_rms = 1e-4;
  FrameCycle cycle(c, {.threads = 2});
  EXPECT_EQ(cycle.frames(), 8U);
  for (const std::uint64_t frame : {0U, 3U, 11U}) {
    const std::vector<std::byte> expected = frame_of(c, frame % 8);
    EXPECT_TRUE(std::ranges::equal(cycle.frame(frame), expected)) << frame;
  }
  EXPECT_THAT(cycle.describe(), testing::HasSubstr("8 elements, 1 passive event"));
  EXPECT_THAT(cycle.describe(), testing::HasSubstr("sound of 1 balls; cycle of 8 frames"));
}

}  // namespace
}  // namespace echoform::test
