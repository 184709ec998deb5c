// The filter test against the responses of the filters, which tests/scan_lines proves, and against closed forms.
#include "benchmarks/delay_filters.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

namespace echoform::benchmarks {
namespace {

DelayFilterCase small_case() {
  DelayFilterCase test;
  test.filters = compared_delay_filters();
  test.frequencies = {0.05, 0.125, 0.25, 0.4};
  test.samples = 200;
  return test;
}

std::vector<DelayFilterReport> measure(const DelayFilterCase& test) {
  return measure_delay_filters(test, [](const std::string&) {});
}

double decibels(double ratio) {
  return 20.0 * std::log10(ratio);
}

TEST(DelayFilterBenchmark, MeasuresWhatResponsesPredict) {
  for (const DelayFilterReport& report : measure(small_case())) {
    for (const DelayFilterFigures& figures : report.figures) {
      const auto where = testing::Message() << report.name << " at " << figures.frequency;
      // Above 100 dB 100 delays no longer stand for all of them.
      if (figures.tone.predicted < 1e5) {
        EXPECT_NEAR(decibels(figures.tone.measured), decibels(figures.tone.predicted), 0.1) << where;
      }
      if (figures.train.predicted < 1e5) {
        EXPECT_NEAR(decibels(figures.train.measured), decibels(figures.train.predicted), 0.1) << where;
      }
      EXPECT_NEAR(decibels(figures.rms_error.measured), decibels(figures.rms_error.predicted), 0.1) << where;
    }
  }
}

TEST(DelayFilterBenchmark, LinearIsItsClosedForm) {
  DelayFilterCase test = small_case();
  test.filters = {DelayFilterOptions{}};
  const DelayFilterReport report = measure(test).front();
  EXPECT_EQ(report.name, "linear");
  EXPECT_NEAR(report.noise_gain, 2.0 / 3.0, 1e-12);
  for (const DelayFilterFigures& figures : report.figures) {
    const double x = std::numbers::pi * figures.frequency;
    const double mean = std::pow(std::sin(x) / x, 2);
    EXPECT_NEAR(decibels(figures.tone.measured), decibels(mean / (1.0 - mean)), 0.01);
    EXPECT_NEAR(decibels(*figures.ideal), decibels(mean / (1.0 - mean)), 1e-9);
  }
  EXPECT_NEAR(report.figures[1].tone.measured, 18.86, 0.03);
  EXPECT_NEAR(report.figures[2].tone.measured, 4.28, 0.01);
  EXPECT_NEAR(report.figures[2].rms_error.measured, 0.213, 1e-3);
}

TEST(DelayFilterBenchmark, NoiseIsAsManyDelaysAndTheFilterLeaveIt) {
  DelayFilterCase test = small_case();
  test.samples = 4000;
  test.frequencies = {0.05};
  test.filters.clear();
  for (const char* kind : {"nearest", "linear", "lagrange", "least_squares"}) {
    DelayFilterOptions options;
    options.kind = kind;
    test.filters.push_back(options);
  }
  for (const DelayFilterReport& report : measure(test)) {
    const DelayFilterFigures& figures = report.figures.front();
    // The power of 4000 values of noise, of which neighbours are alike, has a deviation of 3 %: four of them.
    EXPECT_NEAR(decibels(figures.noisy.measured), decibels(figures.noisy.predicted), 0.5) << report.name;
    EXPECT_LT(figures.noisy.measured, figures.tone.measured);
  }
}

TEST(DelayFilterBenchmark, TruncatedSincsAreBetterAtHighFrequenciesAlone) {
  // Published for a length that is not told: above 0.26. Both lengths turn close by.
  EXPECT_NEAR(truncated_sinc_passes_lagrange(4), 0.26, 0.02);
  EXPECT_NEAR(truncated_sinc_passes_lagrange(6), 0.26, 0.04);
}

TEST(DelayFilterBenchmark, IsTheSameFromRunToRunAndAnotherByItsSeed) {
  DelayFilterCase test = small_case();
  test.filters = {DelayFilterOptions{}};
  const double once = measure(test).front().figures[2].noisy.measured;
  EXPECT_EQ(measure(test).front().figures[2].noisy.measured, once);
  test.seed = 2;
  EXPECT_NE(measure(test).front().figures[2].noisy.measured, once);
}

TEST(DelayFilterBenchmark, SinglePrecisionDeviatesByItsRounding) {
  const DelayFilterDeviations deviations = measure_delay_filter_deviations();
  // A dozen products of single precision, each rounded, against a value near their sum.
  for (const double deviation : {deviations.linear, deviations.upsampled, deviations.upsampled_linear}) {
    EXPECT_GT(deviation, 0.0);
    EXPECT_LT(deviation, 1e-6);
  }
}

}  // namespace
}  // namespace echoform::benchmarks
