// The pulse: where its envelope peaks, how wide its spectrum is, which samples it touches.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "simulators/fmc_simulator.hpp"
#include "tests/simulators/reference.hpp"

namespace echoform {
namespace {

Acquisition make_acquisition(double start_time = 0.0, double time_offset = 0.0) {
  Acquisition acquisition;
  acquisition.probe.centre_frequency = Hertz(5e6);
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(40e6);
  acquisition.start_time = Seconds(start_time);
  acquisition.time_offset = Seconds(time_offset);
  return acquisition;
}

test::Signal pulse_at(const Acquisition& acquisition, double bandwidth, double time, double amplitude = 1.0) {
  std::vector<float> samples(acquisition.samples, 0.0F);
  add_pulse(acquisition, bandwidth, {time, amplitude}, samples);
  return {samples.begin(), samples.end()};
}

double deviation(double bandwidth) {
  return 40e6 * std::sqrt(2.0 * std::log(2.0)) / (std::numbers::pi * bandwidth * 5e6);
}

class EnvelopePeak : public testing::TestWithParam<std::tuple<double, double>> {};

// The samples are single precision, 6e-8 of the peak; that moves a peak of width s samples by far less than 1e-4 samples.
TEST_P(EnvelopePeak, LiesAtTheTravelTime) {
  const auto [bandwidth, place] = GetParam();
  for (const double sign : {1.0, -1.0}) {
    const auto signal = pulse_at(make_acquisition(), bandwidth, place / 40e6, 0.7 * sign);
    EXPECT_NEAR(test::envelope_peak(signal), place, 1e-4) << "bandwidth " << bandwidth;
  }
}

INSTANTIATE_TEST_SUITE_P(OnAndBetweenSamples, EnvelopePeak,
                         testing::Combine(testing::Values(0.2, 0.6, 1.0),
                                          testing::Values(400.0, 400.25, 400.5, 400.9137, 511.0001)));

TEST(Pulse, TimeOriginFollowsTheConvention) {
  // Sample n is at start_time + n / rate - time_offset.
  for (const double start : {-2.5e-6, 0.0, 3.3e-6}) {
    for (const double offset : {-0.4e-6, 0.0, 0.71e-6}) {
      const double time = 12.3456e-6;
      const double peak = test::envelope_peak(pulse_at(make_acquisition(start, offset), 0.6, time));
      EXPECT_NEAR(start + peak / 40e6 - offset, time, 1e-4 / 40e6);
    }
  }
}

TEST(Pulse, EqualsTheClosedFormAtEverySample) {
  for (const double bandwidth : {0.1, 0.6, 1.5}) {
    const double s = deviation(bandwidth);
    const double centre = 500.37;
    const auto signal = pulse_at(make_acquisition(), bandwidth, centre / 40e6, 2.0);
    for (std::size_t n = 0; n < signal.size(); ++n) {
      const double t = static_cast<double>(n) - centre;
      const double exact = std::abs(t) > 6.0 * s
                               ? 0.0
                               : 2.0 * std::exp(-0.5 * t * t / (s * s)) * std::cos(2.0 * std::numbers::pi * t * 5.0 / 40.0);
      // Rounding to single precision, half an ulp of 2 at most, and the recurrences' 1e-11.
      ASSERT_NEAR(signal[n], exact, 1.2e-7) << "sample " << n << " bandwidth " << bandwidth;
    }
  }
}

TEST(Pulse, SpectrumIsHalfAtHalfTheBandwidth) {
  const auto signal = pulse_at(make_acquisition(), 0.6, 500.0 / 40e6);
  const auto magnitude = [&](double frequency) {
    test::Complex sum = 0.0;
    for (std::size_t n = 0; n < signal.size(); ++n) {
      sum += signal[n] * std::polar(1.0, -2.0 * std::numbers::pi * frequency / 40e6 * static_cast<double>(n));
    }
    return std::abs(sum);
  };
  const double top = magnitude(5e6);
  // The mirrored spectrum at -5 MHz reaches exp(-ln 2 (8.5 / 1.5)^2) = 2e-10 of the top at 3.5 MHz: nothing.
  EXPECT_NEAR(magnitude(3.5e6) / top, 0.5, 1e-6);
  EXPECT_NEAR(magnitude(6.5e6) / top, 0.5, 1e-6);
}

TEST(Pulse, TouchesOnlyTheSamplesWithinReach) {
  const double s = deviation(0.6);
  for (const double centre : {-40.0, -3.0, 0.0, 12.25, 600.0, 1020.0, 1023.0, 1030.5, 5000.0}) {
    std::vector<float> samples(1024, 7.0F);
    add_pulse(make_acquisition(), 0.6, {centre / 40e6, 1.0}, samples);
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (std::abs(static_cast<double>(n) - centre) > 6.0 * s + 1e-6) {
        ASSERT_EQ(samples[n], 7.0F) << "sample " << n << ", pulse at " << centre;
      }
    }
    if (centre >= 0.0 && centre <= 1023.0) {
      EXPECT_NE(samples[static_cast<std::size_t>(centre)], 7.0F);
    }
  }
}

}  // namespace
}  // namespace echoform
