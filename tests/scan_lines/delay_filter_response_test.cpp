// What fractional delays make of tones: against tones themselves, quadrature, closed forms and published figures.
#include "stages/scan_lines/delay_filter_response.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/scan_lines/delay_filters.hpp"

namespace echoform::test {
namespace {

using Phasor = std::complex<double>;

constexpr double turn = 2.0 * std::numbers::pi;

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(0.5 * turn * x) / (0.5 * turn * x);
}

/// What a filter makes of a tone at `u`, over what it ought to be, by evaluate() of its cosine and its sine.
Phasor measured(const DelayFilter& filter, double frequency, double u) {
  std::vector<double> cosine;
  std::vector<double> sine;
  for (int n = 0; n < 40; ++n) {
    cosine.push_back(std::cos(turn * frequency * n));
    sine.push_back(std::sin(turn * frequency * n));
  }
  return Phasor(evaluate<double>(filter, cosine, u), evaluate<double>(filter, sine, u)) * std::polar(1.0, -turn * frequency * u);
}

class EachDelayResponse : public testing::TestWithParam<DelayFilterOptions> {};

TEST_P(EachDelayResponse, IsWhatTonesBecome) {
  const DelayFilter filter = make_delay_filter(GetParam());
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int n = 0; n < 300; ++n) {
    const double frequency = 0.5 * uniform(random);
    const double fraction = n < 5 ? 0.25 * (n % 4) : uniform(random);
    const Phasor expected = measured(filter, frequency, 20.0 + fraction);
    EXPECT_LT(std::abs(delay_response(filter, frequency, fraction) - expected), 1e-12) << frequency << " " << fraction;
  }
}

TEST_P(EachDelayResponse, TheTableIsWithinItsBoundOfTheFilter) {
  const DelayFilterOptions& options = GetParam();
  const DelayFilter filter = make_delay_filter(options);
  const double low = options.kind == "least_squares" ? options.centre - 0.5 * options.bandwidth : 0.0;
  const double high = options.kind == "least_squares" ? options.centre + 0.5 * options.bandwidth : 0.4;
  double most = 0.0;
  for (int f = 0; f <= 8; ++f) {
    for (int i = 0; i < 31; ++i) {
      // Half way between two phases, where it is worst, and elsewhere.
      const double fraction = (16.5 * i + (i % 3) * 0.13) / 512.0;
      if (fraction >= 1.0) continue;
      const double frequency = low + (high - low) * f / 8.0;
      most = std::max(most,
                      std::abs(delay_response(filter, frequency, fraction) - exact_delay_response(options, frequency, fraction)));
    }
  }
  // Where nothing is tabulated, floats are all.
  EXPECT_LT(most, filter.phases == tabulated_phases ? 1e-5 : 3e-7);
}

TEST_P(EachDelayResponse, MeansAreThoseOfManyFractions) {
  const DelayFilter filter = make_delay_filter(GetParam());
  for (const double frequency : {0.0, 1e-6, 0.05, 0.125, 0.25, 0.4, 0.5}) {
    Phasor mean;
    double power = 0.0;
    constexpr int fractions = 4096;
    for (int i = 0; i < fractions; ++i) {
      const Phasor response = delay_response(filter, frequency, (i + 0.5) / fractions);
      mean += response / static_cast<double>(fractions);
      power += std::norm(1.0 - response) / fractions;
    }
    const MeanDelayResponse closed = mean_delay_response(filter, frequency);
    // The midpoint rule leaves 1 / 24 / 4096^2 of the second derivative, up to (2 pi f)^2 = 10.
    EXPECT_LT(std::abs(closed.mean - mean), 3e-8) << frequency;
    EXPECT_NEAR(closed.rms_error, std::sqrt(power), 1e-6) << frequency;
  }
}

INSTANTIATE_TEST_SUITE_P(DelayFilters, EachDelayResponse, testing::ValuesIn(all_delay_filters()), DelayFilterName());

double ratio(const DelayFilterOptions& options, double frequency) {
  const Phasor mean = mean_delay_response(make_delay_filter(options), frequency).mean;
  return std::abs(mean) / std::abs(1.0 - mean);
}

double decibels(double value) {
  return 20.0 * std::log10(value);
}

TEST(DelayResponse, ClosedFormsOfTheMean) {
  const DelayFilterOptions linear = delay_filter("linear");
  for (double f = 0.0; f <= 0.5; f += 0.05) {
    EXPECT_NEAR(std::abs(mean_delay_response(make_delay_filter(linear), f).mean - sinc(f) * sinc(f)), 0.0, 1e-9);
    EXPECT_NEAR(std::abs(mean_delay_response(make_delay_filter(delay_filter("nearest")), f).mean - sinc(f)), 0.0, 1e-9);
    EXPECT_NEAR(*ideal_mean_response(linear, f), sinc(f) * sinc(f), 1e-14);
    EXPECT_NEAR(*ideal_mean_response(delay_filter("nearest"), f), sinc(f), 1e-14);
    EXPECT_NEAR(*ideal_mean_response(delay_filter("upsampled"), f), std::pow(sinc(0.25 * f), 2), 1e-14);
  }
  EXPECT_FALSE(ideal_mean_response(delay_filter("lagrange"), 0.1));
  // Figures of sinc^2: amplitude ratios, and decibels.
  EXPECT_NEAR(ratio(linear, 0.125), 18.86, 0.005);
  EXPECT_NEAR(ratio(linear, 0.25), 4.28, 0.005);
  EXPECT_NEAR(decibels(ratio(linear, 0.4)), 2.5, 0.05);
  const auto upsampled_ideally = [](double f) {
    const double mean = *ideal_mean_response(delay_filter("upsampled"), f);
    return decibels(mean / (1.0 - mean));
  };
  EXPECT_NEAR(upsampled_ideally(0.125), 49.8, 0.05);
  EXPECT_NEAR(upsampled_ideally(0.25), 37.8, 0.05);
  EXPECT_NEAR(upsampled_ideally(0.4), 29.5, 0.05);
}

TEST(DelayResponse, UpsamplingComesCloseToItsClosedForm) {
  // 15 taps are so near to ideal ones that the straight lines between the quarters are nearly all that is left.
  const DelayFilter filter = make_delay_filter(delay_filter("upsampled", 15, 6.0));
  for (const double f : {0.125, 0.25}) {
    const double ideal = *ideal_mean_response(delay_filter("upsampled"), f);
    EXPECT_LT(std::abs(mean_delay_response(filter, f).mean - ideal), 5e-4);
    // The mean of |1 - t - t exp(j w / 4)|^2 is (2 + cos(w / 4)) / 3.
    const double rms = std::sqrt(1.0 - 2.0 * ideal + (2.0 + std::cos(turn * f / 4.0)) / 3.0);
    EXPECT_NEAR(mean_delay_response(filter, f).rms_error, rms, 5e-4);
    if (f == 0.25) {
      EXPECT_NEAR(rms, 1.40e-2, 5e-5);
    }
  }
}

TEST(DelayResponse, ErrorsOfSingleDelaysHideInTheMean) {
  EXPECT_NEAR(mean_delay_response(make_delay_filter(delay_filter("linear")), 0.25).rms_error, 0.213, 5e-4);
  // Of even orders the mean has no error of phase, which single delays do have: they look better than they are.
  const double even = std::abs(1.0 - mean_delay_response(make_delay_filter(delay_filter("lagrange", 2)), 0.2).mean);
  const double odd = std::abs(1.0 - mean_delay_response(make_delay_filter(delay_filter("lagrange", 3)), 0.2).mean);
  EXPECT_LT(even, 1.5 * odd);
  EXPECT_GT(mean_delay_response(make_delay_filter(delay_filter("lagrange", 2)), 0.2).rms_error,
            mean_delay_response(make_delay_filter(delay_filter("lagrange", 3)), 0.2).rms_error);
}

TEST(DelayResponse, NoiseGainIsTheMeanOfSquares) {
  EXPECT_NEAR(mean_noise_gain(make_delay_filter(delay_filter("nearest"))), 1.0, 1e-12);
  EXPECT_NEAR(mean_noise_gain(make_delay_filter(delay_filter("linear"))), 2.0 / 3.0, 1e-12);
  for (const DelayFilterOptions& options : all_delay_filters()) {
    const DelayFilter filter = make_delay_filter(options);
    // The power of an impulse's response over all places, which is the noise's by Parseval.
    std::vector<double> impulse(61, 0.0);
    impulse[30] = 1.0;
    double power = 0.0;
    constexpr double step = 1.0 / 1024.0;
    for (double u = 21.0 + 0.5 * step; u < 39.0; u += step) power += step * std::pow(evaluate<double>(filter, impulse, u), 2);
    EXPECT_NEAR(mean_noise_gain(filter), power, 2e-6) << name_of(options);
  }
}

/// The greatest error of the three phases up to `frequency`.
double worst_phase(double beta, double frequency) {
  double most = 0.0;
  for (const double fraction : {0.25, 0.5, 0.75}) {
    for (double f = 0.0; f <= frequency + 1e-9; f += 0.005) {
      most = std::max(most, std::abs(1.0 - exact_delay_response(delay_filter("upsampled", 11, beta), f, fraction)));
    }
  }
  return most;
}

TEST(DelayResponse, ElevenTaps) {
  // The thesis's phases, tap by tap: eleven about the sample before, whatever the phase, and a window 12 wide. Half way, at the
  // frequencies that were looked at.
  const auto of_thesis = [](double beta, double f) {
    Phasor sum;
    for (int k = -5; k <= 5; ++k) {
      const double distance = k - 0.5;
      const double window =
          std::cyl_bessel_i(0.0, beta * std::sqrt(1.0 - distance * distance / 36.0)) / std::cyl_bessel_i(0.0, beta);
      sum += sinc(distance) * window * std::polar(1.0, turn * f * distance);
    }
    return std::abs(1.0 - sum);
  };
  EXPECT_NEAR(of_thesis(0.0, 0.125), 5.9e-2, 5e-4);
  EXPECT_NEAR(of_thesis(5.0, 0.125), 5.2e-3, 5e-5);
  EXPECT_NEAR(of_thesis(5.0, 0.35), 7.8e-3, 5e-5);
  EXPECT_NEAR(of_thesis(6.0, 0.05), 2.6e-3, 5e-5);
  EXPECT_NEAR(of_thesis(6.0, 0.35), 4.2e-3, 5e-5);
  // Ours keep those bounds with a window that fits the taps and a twelfth tap half way; beta 6 trades the edge of the band for
  // it.
  EXPECT_GT(worst_phase(0.0, 0.25), 2e-2);
  EXPECT_LT(worst_phase(5.0, 0.25), 2.0e-3);
  EXPECT_LT(worst_phase(5.0, 0.35), 4.2e-3);
  EXPECT_LT(worst_phase(6.0, 0.25), 1.2e-3);
  EXPECT_GT(worst_phase(6.0, 0.35), 4.2e-3);
}

TEST(DelayResponse, LongerIsBetterInItsBand) {
  double before = 1.0;
  for (std::size_t order = 1; order <= 5; order += 2) {
    const double error = mean_delay_response(make_delay_filter(delay_filter("lagrange", order)), 0.15).rms_error;
    EXPECT_LT(error, 0.5 * before) << order;
    before = error;
  }
  before = 1.0;
  for (std::size_t taps = 4; taps <= 16; taps += 4) {
    const double error = mean_delay_response(make_delay_filter(delay_filter("windowed_sinc", taps)), 0.4).rms_error;
    EXPECT_LT(error, 0.8 * before) << taps;
    before = error;
  }
}

/// The mean over the Gaussian spectrum of |1 - H|^2, and the noise that is assumed with it, of any coefficients.
double weighted_error(const DelayFilterOptions& options, const std::vector<double>& coefficients, double place) {
  const auto left = static_cast<double>((coefficients.size() - 1) / 2);
  double error = 0.0;
  double weights = 0.0;
  constexpr int steps = 4000;
  for (int n = 0; n < steps; ++n) {
    const double f = 0.5 * (n + 0.5) / steps;
    const double amplitude = std::pow(0.5, std::pow((f - options.centre) / (0.5 * options.bandwidth), 2));
    Phasor sum;
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
      sum += coefficients[k] * std::polar(1.0, turn * f * (static_cast<double>(k) - left - place));
    }
    error += amplitude * amplitude * std::norm(1.0 - sum);
    weights += amplitude * amplitude;
  }
  double noise = 0.0;
  for (const double c : coefficients) noise += 1e-8 * c * c;
  return error / weights + noise;
}

TEST(DelayResponse, NothingIsBetterThanLeastSquares) {
  for (const auto& [centre, bandwidth] :
       std::vector<std::pair<double, double>>{{0.125, 0.075}, {0.25, 0.15}, {0.4, 0.2}, {0.1, 0.02}}) {
    for (const std::size_t taps : {2, 3, 4, 7, 16}) {
      DelayFilterOptions options = delay_filter("least_squares", taps);
      options.centre = centre;
      options.bandwidth = bandwidth;
      const DelayFilterKind& kind = delay_filter_kind("least_squares", "");
      const double place = taps % 2 == 0 ? 0.37 : -0.37;
      std::vector<double> best(taps);
      kind.coefficients(options, place, best);
      const double least = weighted_error(options, best, place);
      std::mt19937 random(5);
      std::normal_distribution<double> normal;
      for (int n = 0; n < 20; ++n) {
        std::vector<double> other = best;
        for (double& c : other) c += 1e-3 * normal(random);
        EXPECT_GT(weighted_error(options, other, place), least) << centre << " " << taps;
      }
      // Nor does the family hold anything better of as many taps.
      if (taps % 2 == 0 && taps >= 4) {
        std::vector<double> sinc_taps(taps);
        delay_filter_kind("windowed_sinc", "").coefficients(delay_filter("windowed_sinc", taps), place, sinc_taps);
        EXPECT_GT(weighted_error(options, sinc_taps, place), least);
      }
      // The derivative is zero: a step to either side costs as much, but for what the two quadratures differ by.
      for (std::size_t k = 0; k < taps; ++k) {
        std::vector<double> more = best;
        std::vector<double> less = best;
        more[k] += 1e-2;
        less[k] -= 1e-2;
        EXPECT_NEAR(weighted_error(options, more, place), weighted_error(options, less, place), 1e-8);
      }
    }
  }
}

TEST(DelayResponse, LeastSquaresAreGoodWhereEchoesAre) {
  DelayFilterOptions options = delay_filter("least_squares", 4);
  options.centre = 0.25;
  options.bandwidth = 0.15;
  const double own = mean_delay_response(make_delay_filter(options), 0.25).rms_error;
  EXPECT_LT(own, 0.3 * mean_delay_response(make_delay_filter(delay_filter("lagrange", 3)), 0.25).rms_error);
  EXPECT_GT(mean_delay_response(make_delay_filter(options), 0.02).rms_error, own);
}

}  // namespace
}  // namespace echoform::test
