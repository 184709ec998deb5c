// Fractional delays of A-scans against their formulas, written out in double precision.
#include "stages/scan_lines/delay_filter.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "base/errors.hpp"
#include "tests/scan_lines/delay_filters.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double pi = std::numbers::pi;

std::vector<double> noise(std::size_t samples) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> row(samples);
  for (double& sample : row) sample = uniform(random);
  return row;
}

double at(const std::vector<double>& row, long n) {
  return n < 0 || n >= static_cast<long>(row.size()) ? 0.0 : row[static_cast<std::size_t>(n)];
}

/// Sum over taps first .. first + taps - 1 of weight(n) x[n].
double weighted(const std::vector<double>& row, long first, long taps, const std::function<double(long)>& weight) {
  double sum = 0.0;
  for (long n = first; n < first + taps; ++n) sum += weight(n) * at(row, n);
  return sum;
}

/// I0 by its power series.
double bessel(double x) {
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k < 60; ++k) sum += term *= (0.5 * x / k) * (0.5 * x / k);
  return sum;
}

double kaiser_sinc(double distance, double width, double beta) {
  const double share = 2.0 * distance / width;
  if (std::abs(share) > 1.0) return 0.0;
  const double sinc = std::abs(distance) < 1e-12 ? 1.0 : std::sin(pi * distance) / (pi * distance);
  return sinc * bessel(beta * std::sqrt(1.0 - share * share)) / bessel(beta);
}

/// By the definitions in docs/fractional-delays.md.
double reference(const DelayFilterOptions& options, const std::vector<double>& row, double u) {
  const auto size = static_cast<long>(options.order_or_taps);
  const auto below = static_cast<long>(std::floor(u));
  const auto next = static_cast<long>(std::floor(u + 0.5));
  if (options.kind == "nearest") return at(row, next);
  if (options.kind == "linear") {
    return at(row, below) + (u - static_cast<double>(below)) * (at(row, below + 1) - at(row, below));
  }
  if (options.kind == "lagrange") {
    const long first = size % 2 == 1 ? below - (size - 1) / 2 : next - size / 2;
    return weighted(row, first, size + 1, [&](long n) {
      double product = 1.0;
      for (long m = first; m <= first + size; ++m) {
        if (m != n) product *= (u - static_cast<double>(m)) / static_cast<double>(n - m);
      }
      return product;
    });
  }
  if (options.kind == "windowed_sinc") {
    return weighted(row, below - size / 2 + 1, size, [&](long n) {
      return kaiser_sinc(static_cast<double>(n) - u, static_cast<double>(size), *options.kaiser_beta);
    });
  }
  // upsampled: the values at the quarters beside u, and a straight line between them.
  const double quarter = std::floor(4.0 * u);
  const auto value = [&](double place) {
    return weighted(row, below - size, 2 * size + 2, [&](long n) {
      return kaiser_sinc(static_cast<double>(n) - place, static_cast<double>(size), *options.kaiser_beta);
    });
  };
  const double share = 4.0 * u - quarter;
  return (1.0 - share) * value(0.25 * quarter) + share * value(0.25 * (quarter + 1.0));
}

std::vector<double> places(std::size_t samples) {
  std::vector<double> all{0.0, 0.25, 0.5, 0.75, 1.0, 5.5, 17.0, static_cast<double>(samples) - 1.001};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.0, static_cast<double>(samples) - 1.0);
  for (int n = 0; n < 500; ++n) all.push_back(uniform(random));
  return all;
}

class EachDelayFilter : public testing::TestWithParam<DelayFilterOptions> {};

/// All but least squares, of which delay_filter_response_test.cpp proves that nothing is better.
class DelayFilterByFormula : public EachDelayFilter {};

TEST_P(DelayFilterByFormula, IsItsFormula) {
  const DelayFilterOptions& options = GetParam();
  const DelayFilter filter = make_delay_filter(options);
  const std::vector<double> row = noise(41);
  double most = 0.0;
  for (const double u : places(row.size())) {
    most = std::max(most, std::abs(evaluate<double>(filter, row, u) - reference(options, row, u)));
  }
  // Coefficients are floats, each within 6e-8; tables are within 1e-5 of a tone, and white noise of at most 1 sums up to 17 of
  // them.
  const bool tabulated = options.kind == "lagrange" || options.kind == "windowed_sinc";
  EXPECT_LT(most, tabulated ? 3e-5 : 3e-7) << name_of(options);
}

TEST_P(EachDelayFilter, SinglePrecisionIsWithinItsRounding) {
  const DelayFilter filter = make_delay_filter(GetParam());
  const std::vector<double> row = noise(41);
  const std::vector<float> single(row.begin(), row.end());
  const std::vector<double> same(single.begin(), single.end());
  for (const double u : places(row.size())) {
    // 17 products of at most 1, a few roundings each.
    EXPECT_NEAR(evaluate<float>(filter, single, u), evaluate<double>(filter, same, u), 17 * 3 * 6e-8) << u;
  }
}

TEST_P(EachDelayFilter, GivesSamplesWhereTheyStand) {
  const DelayFilterOptions& options = GetParam();
  const DelayFilter filter = make_delay_filter(options);
  const std::vector<double> row = noise(30);
  for (long n = 0; n + 1 < 30; ++n) {
    // Least squares need not, as their taps see more of a tone than one sample of it.
    if (options.kind != "least_squares") {
      EXPECT_NEAR(evaluate<double>(filter, row, static_cast<double>(n)), at(row, n), 1e-7) << n;
    }
  }
}

TEST_P(EachDelayFilter, ReachesAsFarAsSamplesGo) {
  const DelayFilter filter = make_delay_filter(GetParam());
  const std::vector<double> ones(20, 1.0);
  const double margin = GetParam().kind == "nearest" ? 0.5 : 0.0;
  for (const double u : {-margin - 1e-9, -5.0, 19.0 + margin, 25.0, 1e300, -1e300, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(evaluate<double>(filter, ones, u), 0.0) << u;
  }
  EXPECT_NE(evaluate<double>(filter, ones, -margin), 0.0);
  EXPECT_NE(evaluate<double>(filter, ones, 19.0 + margin - 1e-9), 0.0);
  EXPECT_EQ(evaluate<double>(filter, std::span<const double>(), 0.0), 0.0);
}

TEST_P(EachDelayFilter, IsTheSameBackwards) {
  const DelayFilter filter = make_delay_filter(GetParam());
  std::vector<double> row = noise(37);
  std::vector<double> backwards(row.rbegin(), row.rend());
  for (const double u : places(row.size())) {
    // In the middle between samples filters with odd numbers of taps have to choose.
    if (filter.taps % 2 == 1 && std::abs(u - std::floor(u) - 0.5) < 1e-9) continue;
    if (u == 0.0) continue;  // backwards it is the end, which is left out
    // On a sample even numbers have to: one tap more lies before it or behind.
    if (filter.taps % 2 == 0 && u == std::floor(u) && GetParam().kind == "least_squares") continue;
    EXPECT_NEAR(evaluate<double>(filter, row, u), evaluate<double>(filter, backwards, 36.0 - u), 3e-6) << u;
  }
}

TEST_P(EachDelayFilter, SamplesOutsideOfTheRowAreZeros) {
  const DelayFilter filter = make_delay_filter(GetParam());
  const std::vector<double> row = noise(9);
  std::vector<double> padded(59, 0.0);
  std::copy(row.begin(), row.end(), padded.begin() + 25);
  for (const double u : places(row.size())) {
    EXPECT_NEAR(evaluate<double>(filter, row, u), evaluate<double>(filter, padded, u + 25.0), 1e-12) << u;
  }
}

std::vector<DelayFilterOptions> with_formula() {
  std::vector<DelayFilterOptions> all = all_delay_filters();
  std::erase_if(all, [](const DelayFilterOptions& options) { return options.kind == "least_squares"; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(DelayFilters, EachDelayFilter, testing::ValuesIn(all_delay_filters()), DelayFilterName());
INSTANTIATE_TEST_SUITE_P(DelayFilters, DelayFilterByFormula, testing::ValuesIn(with_formula()), DelayFilterName());

TEST(DelayFilter, LagrangeReproducesPolynomialsOfItsOrder) {
  for (std::size_t order = 1; order <= 5; ++order) {
    const DelayFilter filter = make_delay_filter(delay_filter("lagrange", order));
    const auto polynomial = [&](double u, std::size_t degree) { return std::pow((u - 6.3) / 6.0, static_cast<double>(degree)); };
    for (std::size_t degree = 0; degree <= order + 1; ++degree) {
      std::vector<double> row(13);
      for (std::size_t n = 0; n < row.size(); ++n) row[n] = polynomial(static_cast<double>(n), degree);
      double most = 0.0;
      for (double u = 3.0; u < 9.0; u += 0.037) {
        most = std::max(most, std::abs(evaluate<double>(filter, row, u) - polynomial(u, degree)));
      }
      // Between two of 512 phases a parabola leaves 1 / 8 / 512^2 of its second derivative; the coefficients are floats.
      if (degree <= order) {
        EXPECT_LT(most, 1.0 / 8 / 512 / 512 * static_cast<double>(degree * degree) / 36 + 1e-6) << order << " " << degree;
      } else {
        EXPECT_GT(most, 1e-5) << order;
      }
    }
  }
}

TEST(DelayFilter, UpsamplingFirstIsTheSame) {
  for (const std::size_t taps : {7, 11, 15}) {
    const DelayFilter filter = make_delay_filter(delay_filter("upsampled", taps));
    const DelayFilter line = make_delay_filter(delay_filter("linear"));
    ASSERT_TRUE(filter.upsampling);
    for (const std::size_t samples : {1, 2, 5, 60}) {
      const std::vector<double> row = noise(samples);
      const std::vector<float> single(row.begin(), row.end());
      std::vector<float> fine(4 * samples);
      upsample(filter, single, fine);
      for (std::size_t n = 0; n < samples; ++n) EXPECT_EQ(fine[4 * n], single[n]);
      for (double u = 0.0; u + 1.0 < static_cast<double>(samples); u += 0.013) {
        // A dozen products of at most 1.
        EXPECT_NEAR(evaluate<float>(line, fine, 4.0 * u), evaluate<float>(filter, single, u), 2e-6) << u;
      }
    }
  }
  for (const DelayFilterKind& kind : delay_filter_kinds()) EXPECT_EQ(kind.upsampling, kind.name == "upsampled");
}

TEST(DelayFilter, UpsampledTapsAreElevenAndTwelveHalfWay) {
  const DelayFilter filter = make_delay_filter(delay_filter("upsampled", 11));
  const auto taps = [&](std::size_t phase) {
    return std::count_if(filter.row(phase).begin(), filter.row(phase).end(), [](float c) { return c != 0.0F; });
  };
  EXPECT_THAT((std::vector<long>{taps(0), taps(1), taps(2), taps(3), taps(4)}), testing::ElementsAre(1, 11, 12, 11, 1));
}

std::string refused(DelayFilterOptions options) {
  return input_error([&] { validate(options, "bench.toml: [beams]"); });
}

TEST(DelayFilter, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refused(delay_filter("cubic")),
            "bench.toml: [beams] delay filter: found \"cubic\"; expected one of nearest, linear, lagrange, windowed_sinc, "
            "least_squares, "
            "upsampled");
  EXPECT_EQ(refused(delay_filter("lagrange", 6)), "bench.toml: [beams] order of lagrange: found 6; expected 1 to 5");
  EXPECT_EQ(refused(delay_filter("windowed_sinc", 7)),
            "bench.toml: [beams] taps of windowed_sinc: found 7; expected 4 to 16 in steps of 2");
  EXPECT_EQ(refused(delay_filter("upsampled", 16)),
            "bench.toml: [beams] taps of upsampled: found 16; expected 7 to 15 in steps of 4");
  EXPECT_EQ(refused(delay_filter("linear", 2)),
            "bench.toml: [beams] order or taps: found 2; expected none: linear has no choice");
  EXPECT_EQ(refused(delay_filter("windowed_sinc", 8, -1.0)), "bench.toml: [beams] kaiser_beta: found -1; expected 0 to 20");
  EXPECT_EQ(refused(delay_filter("linear", 0, -1.0)), "");
  DelayFilterOptions band = delay_filter("least_squares");
  band.centre = std::nan("");
  EXPECT_EQ(refused(band), "bench.toml: [beams] centre: found nan; expected 0.01 to 0.49");
  band.centre = 0.2;
  band.bandwidth = 0.0;
  EXPECT_EQ(refused(band), "bench.toml: [beams] bandwidth: found 0; expected 0.01 to 1");
  EXPECT_THROW((void)make_delay_filter(band), InputError);
}

}  // namespace
}  // namespace echoform::test
