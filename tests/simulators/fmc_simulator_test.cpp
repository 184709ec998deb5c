// Whole frames: seeds and noise, matrices, encodings, saturation, motion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/errors.hpp"
#include "simulators/fmc_simulator.hpp"
#include "simulators/frame_cycle.hpp"
#include "simulators/noise.hpp"
#include "tests/simulators/reference.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

SimulatorConfiguration small(std::uint64_t seed = 1) {
  SimulatorConfiguration configuration = demo_simulator(seed);
  configuration.elements = 6;
  configuration.samples = 801;  // odd: A-scans packed in 12 bits end on half a byte
  configuration.cycle_frames = 8;
  configuration.noise_rms = 0.01;
  return configuration;
}

std::vector<std::byte> frame_of(const SimulatorConfiguration& configuration, std::uint64_t frame) {
  const FmcSimulator simulator(configuration);
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(frame, bytes);
  return bytes;
}

test::Signal a_scan_of(const SimulatorConfiguration& configuration, std::uint64_t frame, std::size_t i, std::size_t j) {
  return test::a_scan(acquisition_of(configuration), frame_of(configuration, frame), i, j);
}

TEST(FmcSimulator, SameSeedGivesTheSameBytesInAnyOrder) {
  const FmcSimulator one(small());
  const FmcSimulator other(small());
  std::vector<std::byte> a(one.acquisition().frame_bytes());
  std::vector<std::byte> b(a.size());
  std::vector<std::vector<std::byte>> frames;
  for (std::uint64_t k = 0; k < 4; ++k) {
    one.synthesise(k, a);
    frames.push_back(a);
  }
  for (std::uint64_t k = 4; k-- > 0;) {
    other.synthesise(k, b);
    EXPECT_EQ(b, frames[k]) << "frame " << k;
  }
}

TEST(FmcSimulator, SparseFiringsAreThoseRowsOfTheFullMatrix) {
  SimulatorConfiguration configuration = small();
  configuration.dead_elements = {2};
  const auto full = frame_of(configuration, 3);
  const std::size_t shot = configuration.elements * acquisition_of(configuration).bytes_per_a_scan();
  configuration.transmit.fire = {5, 0, 2};
  const auto sparse = frame_of(configuration, 3);
  ASSERT_EQ(sparse.size(), 3 * shot);
  for (std::size_t event = 0; event < 3; ++event) {
    EXPECT_EQ(std::memcmp(sparse.data() + event * shot, full.data() + configuration.transmit.fire[event] * shot, shot), 0)
        << event;
  }
}

TEST(FmcSimulator, RefusesFiringsThatContradict) {
  const auto refusal = [](const std::vector<std::size_t>& fire, MatrixKind matrix) -> std::string {
    SimulatorConfiguration configuration = small();
    configuration.transmit.fire = fire;
    configuration.matrix = matrix;
    return test::input_error([&] { const FmcSimulator simulator(configuration); });
  };
  EXPECT_THAT(refusal({0, 1, 0}, MatrixKind::full), testing::HasSubstr("[simulator] fire: found 0 again"));
  EXPECT_THAT(refusal({1000}, MatrixKind::full), testing::HasSubstr("[simulator] fire: found 1000; expected elements 0 to"));
  EXPECT_THAT(refusal({0}, MatrixKind::half), testing::HasSubstr("found events and a half matrix"));
}

TEST(FmcSimulator, FramesOfTheSamePhaseDifferInTheirNoiseAlone) {
  SimulatorConfiguration configuration = small();
  EXPECT_NE(frame_of(configuration, 1), frame_of(configuration, 9));  // 8 frames a cycle: the same place
  configuration.noise_rms = 0.0;
  EXPECT_EQ(frame_of(configuration, 1), frame_of(configuration, 9));
  EXPECT_NE(frame_of(configuration, 1), frame_of(configuration, 2));
}

TEST(FmcSimulator, SeedChangesTheNoiseAndThePhantom) {
  SimulatorConfiguration configuration = small(1);
  SimulatorConfiguration other_noise = configuration;
  other_noise.seed = 2;
  EXPECT_NE(frame_of(configuration, 0), frame_of(other_noise, 0));
  configuration.noise_rms = 0.0;
  SimulatorConfiguration other_phantom = configuration;
  other_phantom.phantom = default_phantom(2);
  EXPECT_NE(frame_of(configuration, 0), frame_of(other_phantom, 0));
}

TEST(FmcSimulator, NoiseIsWhiteGaussianOfTheStatedRms) {
  SimulatorConfiguration configuration = small();
  configuration.phantom = {};
  configuration.encoding = SampleEncoding::float32;
  configuration.quantised = false;
  configuration.elements = 16;
  configuration.samples = 4096;
  const auto bytes = frame_of(configuration, 0);
  const auto acquisition = acquisition_of(configuration);
  double sum = 0.0, square = 0.0, cube = 0.0, fourth = 0.0, neighbour = 0.0, across = 0.0;
  test::Signal previous;
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 16; ++j) {
      const auto s = test::a_scan(acquisition, bytes, i, j);
      for (std::size_t n = 0; n < s.size(); ++n) {
        const double g = s[n] / 0.01;
        sum += g;
        square += g * g;
        cube += g * g * g;
        fourth += g * g * g * g;
        if (n > 0) neighbour += g * s[n - 1] / 0.01;
        if (!previous.empty()) across += g * previous[n] / 0.01;
      }
      previous = s;
    }
  }
  // 2^20 independent draws: the standard error of each mean is sqrt(variance of the power) / 1024; five of them allowed.
  const double count = 16.0 * 16.0 * 4096.0;
  const double error = 5.0 / 1024.0;
  EXPECT_NEAR(sum / count, 0.0, error);
  EXPECT_NEAR(square / count, 1.0, error * std::sqrt(2.0));
  EXPECT_NEAR(cube / count, 0.0, error * std::sqrt(15.0));
  // The tails end at 4.3: E g^4 of the quantile table falls short of 3 by about 1e-3, within the error of 0.048.
  EXPECT_NEAR(fourth / count, 3.0, error * std::sqrt(96.0));
  EXPECT_NEAR(neighbour / count, 0.0, error);
  EXPECT_NEAR(across / count, 0.0, error);
}

TEST(FmcSimulator, NoiseOfDifferentFramesIsUncorrelated) {
  std::vector<float> a(1 << 18, 0.0F), b(a), c(a);
  add_noise({1, 0, 2, 3}, 1.0, a);
  add_noise({1, 1, 2, 3}, 1.0, b);
  add_noise({1, 0, 3, 2}, 1.0, c);
  double ab = 0.0, ac = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    ab += static_cast<double>(a[n]) * static_cast<double>(b[n]);
    ac += static_cast<double>(a[n]) * static_cast<double>(c[n]);
  }
  EXPECT_NEAR(ab / static_cast<double>(a.size()), 0.0, 5.0 / 512.0);  // standard error 1 / sqrt(2^18)
  EXPECT_NEAR(ac / static_cast<double>(a.size()), 0.0, 5.0 / 512.0);
}

TEST(FmcSimulator, PairsAreReciprocalApartFromTheirNoise) {
  SimulatorConfiguration configuration = small();
  EXPECT_NE(a_scan_of(configuration, 0, 1, 4), a_scan_of(configuration, 0, 4, 1));
  configuration.noise_rms = 0.0;
  EXPECT_EQ(a_scan_of(configuration, 0, 1, 4), a_scan_of(configuration, 0, 4, 1));
}

class Matrices : public testing::TestWithParam<SampleEncoding> {};

TEST_P(Matrices, HoldTheSameData) {
  SimulatorConfiguration configuration = small();
  configuration.encoding = GetParam();
  const auto bytes = [&](MatrixKind kind) {
    configuration.matrix = kind;
    return frame_of(configuration, 3);
  };
  const auto full = bytes(MatrixKind::full);
  const auto half = bytes(MatrixKind::half);
  const auto summed = bytes(MatrixKind::half_summed);
  const auto scan = [&](MatrixKind kind, const std::vector<std::byte>& frame, std::size_t i, std::size_t j) {
    configuration.matrix = kind;
    return test::a_scan(acquisition_of(configuration), frame, i, j);
  };
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = i; j < 6; ++j) {
      const auto there = scan(MatrixKind::full, full, i, j);
      const auto back = scan(MatrixKind::full, full, j, i);
      EXPECT_EQ(scan(MatrixKind::half, half, i, j), there);
      const auto sum = scan(MatrixKind::half_summed, summed, i, j);
      for (std::size_t n = 0; n < sum.size(); ++n) {
        const double expected = i == j ? there[n] : there[n] + back[n];
        if (GetParam() == SampleEncoding::float32) {
          ASSERT_NEAR(sum[n], expected, 1.2e-7);  // each is rounded to single precision below 2
        } else {
          ASSERT_EQ(sum[n], expected) << "pair " << i << ", " << j << " sample " << n;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, Matrices,
                         testing::Values(SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32));

TEST(FmcSimulator, EncodingsHoldTheSameCounts) {
  SimulatorConfiguration configuration = small();
  const auto counts = a_scan_of(configuration, 2, 1, 3);
  configuration.encoding = SampleEncoding::packed12;
  EXPECT_EQ(a_scan_of(configuration, 2, 1, 3), counts);
  configuration.encoding = SampleEncoding::float32;
  const auto amplitudes = a_scan_of(configuration, 2, 1, 3);
  const double scale = acquisition_of(configuration).sample_scale;
  for (std::size_t n = 0; n < counts.size(); ++n) EXPECT_EQ(amplitudes[n], static_cast<float>(counts[n] * scale));
}

TEST(FmcSimulator, QuantisationIsWithinHalfACount) {
  SimulatorConfiguration configuration = small();
  configuration.encoding = SampleEncoding::float32;
  const auto quantised = a_scan_of(configuration, 0, 0, 5);
  configuration.quantised = false;
  const auto exact = a_scan_of(configuration, 0, 0, 5);
  const double scale = acquisition_of(configuration).sample_scale;
  bool differs = false;
  for (std::size_t n = 0; n < exact.size(); ++n) {
    EXPECT_LE(std::abs(quantised[n] - exact[n]), scale * (0.5 + 1e-4));  // single precision at 2000 counts
    differs = differs || quantised[n] != exact[n];
  }
  EXPECT_TRUE(differs);
}

TEST(FmcSimulator, TooMuchGainSaturatesAtTheConvertersRange) {
  SimulatorConfiguration configuration = small();
  configuration.full_scale = 0.02;
  configuration.noise_rms = 0.0;
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12}) {
    configuration.encoding = encoding;
    const auto counts = a_scan_of(configuration, 0, 2, 2);
    EXPECT_EQ(*std::max_element(counts.begin(), counts.end()), 2047.0);
    EXPECT_EQ(*std::min_element(counts.begin(), counts.end()), -2048.0);
  }
  configuration.matrix = MatrixKind::half_summed;
  const auto packed = a_scan_of(configuration, 0, 2, 3);  // the sum of two saturated ones does not fit in 12 bits
  EXPECT_EQ(*std::max_element(packed.begin(), packed.end()), 2047.0);
  EXPECT_EQ(*std::min_element(packed.begin(), packed.end()), -2048.0);
  configuration.encoding = SampleEncoding::int16;
  const auto wide = a_scan_of(configuration, 0, 2, 3);
  EXPECT_EQ(*std::max_element(wide.begin(), wide.end()), 4094.0);
  EXPECT_EQ(*std::min_element(wide.begin(), wide.end()), -4096.0);
}

TEST(FmcSimulator, DemoUsesTheConverterWellAndDoesNotSaturate) {
  double largest = 0.0;
  for (const std::uint64_t seed : {1U, 2U, 77U}) {
    const SimulatorConfiguration configuration = demo_simulator(seed);
    const Acquisition acquisition = acquisition_of(configuration);
    const auto bytes = frame_of(configuration, 5);
    for (std::size_t i = 0; i < acquisition.elements(); ++i) {
      for (std::size_t j = 0; j < acquisition.elements(); ++j) {
        for (const double count : test::a_scan(acquisition, bytes, i, j)) largest = std::max(largest, std::abs(count));
      }
    }
  }
  EXPECT_LT(largest, 0.75 * 2047.0);
  EXPECT_GT(largest, 0.25 * 2047.0);
}

TEST(FmcSimulator, DeadElementsHoldZeros) {
  SimulatorConfiguration configuration = small();
  configuration.dead_elements = {2};
  EXPECT_TRUE(acquisition_of(configuration).probe.elements[2].dead);
  const test::Signal zeros(configuration.samples, 0.0);
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_EQ(a_scan_of(configuration, 0, 2, j), zeros);
    EXPECT_EQ(a_scan_of(configuration, 0, j, 2), zeros);
  }
  EXPECT_NE(a_scan_of(configuration, 0, 1, 3), zeros);
}

TEST(FmcSimulator, MovingScattererIsHeardWhereItTrulyIs) {
  for (const MotionKind kind : {MotionKind::linear, MotionKind::oscillating, MotionKind::circular}) {
    SimulatorConfiguration configuration = small();
    configuration.samples = 1024;
    configuration.encoding = SampleEncoding::float32;
    configuration.quantised = false;
    configuration.noise_rms = 0.0;
    configuration.phantom = {};
    configuration.phantom.points = {
        {"p", {Metres(2e-3), Metres(0.0), Metres(20e-3)}, 1.0, {kind, {Metres(4e-3), Metres(0.0), Metres(3e-3)}, 1, 0.1}}};
    const FmcSimulator simulator(configuration);
    const auto& elements = simulator.acquisition().probe.elements;
    std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
    for (std::uint64_t k = 0; k < 11; ++k) {  // beyond the cycle of 8 too
      simulator.synthesise(k, bytes);
      const Point truth = simulator.true_positions(k).front().place;
      const auto leg = [&](std::size_t i) { return std::hypot((truth.x - elements[i].centre.x).value, truth.z.value); };
      // 1e-4 samples as for the pulse alone.
      EXPECT_NEAR(test::envelope_peak(test::a_scan(simulator.acquisition(), bytes, 1, 4)), (leg(1) + leg(4)) / 6320.0 * 40e6,
                  1e-4);
    }
  }
}

TEST(FrameCycle, HoldsTheSimulatorsFramesWhateverTheThreads) {
  const SimulatorConfiguration configuration = small();
  FrameCycle one(configuration, {.threads = 1});
  FrameCycle several(configuration, {.threads = 3});
  ASSERT_EQ(one.frames(), 8U);
  EXPECT_EQ(one.bytes(), 8 * one.acquisition().frame_bytes());
  for (std::uint64_t k = 0; k < 8; ++k) {
    const auto expected = frame_of(configuration, k);
    EXPECT_TRUE(std::ranges::equal(one.frame(k), expected));
    EXPECT_TRUE(std::ranges::equal(several.frame(k), expected));
    EXPECT_EQ(several.frame(k + 8).data(), several.frame(k).data());
  }
  EXPECT_TRUE(one.cyclic());
  EXPECT_NE(one.describe().find("6 elements x 801 samples, full, int16"), std::string::npos) << one.describe();
}

TEST(FrameCycle, StatesItsEncodersCountsBeyondTheCycle) {
  SimulatorConfiguration configuration = small();
  configuration.cycle_frames = 2;
  EXPECT_EQ(FrameCycle(configuration, {.threads = 1}).position(0), std::nullopt);
  configuration.encoder = {.first = 10, .last = 40, .step = 10, .pause = 1};
  const FrameCycle cycle(configuration, {.threads = 1});
  std::vector<std::optional<EncoderCount>> counts;
  for (std::uint64_t frame = 0; frame < 9; ++frame) counts.push_back(cycle.position(frame));
  EXPECT_THAT(counts, ::testing::ElementsAre(10, 20, 30, 40, 40, 30, 20, 10, 10));
  EXPECT_EQ(cycle.frames(), 2U);
}

TEST(FrameCycle, TakesLargerStepsWhereMemoryIsShort) {
  const SimulatorConfiguration configuration = small();
  const std::size_t frame_bytes = acquisition_of(configuration).frame_bytes();
  FrameCycle cycle(configuration, {.threads = 1, .memory_limit = 3 * frame_bytes + 1});
  EXPECT_EQ(cycle.frames(), 3U);
  EXPECT_EQ(cycle.bytes(), 3 * frame_bytes);
  EXPECT_DOUBLE_EQ(cycle.simulator().phase(2), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(cycle.simulator().phase(3), 0.0);
}

}  // namespace
}  // namespace echoform
