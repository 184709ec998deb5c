// Each wall filter against what it is by definition, in double precision.
#include "stages/wall_filter/wall_filter.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/doppler/ensembles.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

/// What is left of `x` once its least-squares polynomial is taken away: normal equations of plain powers, by elimination.
std::vector<Sample> without_polynomial(std::vector<Sample> x, std::size_t order) {
  using Real = long double;
  const std::size_t terms = order + 1;
  const auto power = [&](std::size_t n, std::size_t p) {
    return std::pow(static_cast<Real>(n) / static_cast<Real>(x.size() - 1) - Real(0.5), static_cast<Real>(p));
  };
  std::vector<std::vector<std::complex<Real>>> rows(terms, std::vector<std::complex<Real>>(terms + 1));
  for (std::size_t p = 0; p < terms; ++p) {
    for (std::size_t n = 0; n < x.size(); ++n) {
      for (std::size_t q = 0; q < terms; ++q) rows[p][q] += power(n, p) * power(n, q);
      rows[p][terms] += power(n, p) * std::complex<Real>(x[n].real(), x[n].imag());
    }
  }
  for (std::size_t p = 0; p < terms; ++p) {
    for (std::size_t other = 0; other < terms; ++other) {
      if (other == p) continue;
      const std::complex<Real> share = rows[other][p] / rows[p][p];
      for (std::size_t q = p; q <= terms; ++q) rows[other][q] -= share * rows[p][q];
    }
  }
  for (std::size_t n = 0; n < x.size(); ++n) {
    for (std::size_t p = 0; p < terms; ++p) {
      const std::complex<Real> fit = rows[p][terms] / rows[p][p] * power(n, p);
      x[n] -= Sample(static_cast<double>(fit.real()), static_cast<double>(fit.imag()));
    }
  }
  return x;
}

std::vector<Sample> ensemble_at(const Ensembles& all, std::size_t line, std::size_t range) {
  std::vector<Sample> x;
  for (std::size_t n = 0; n < all.ensemble; ++n) x.push_back(all.at(line, n, range));
  return x;
}

/// Taken away one after the other: the direction of the greatest power, by repeated multiplication.
void take_strongest_away(Ensembles& all) {
  std::vector<Sample> direction(all.ensemble);
  for (std::size_t n = 0; n < all.ensemble; ++n) direction[n] = std::polar(1.0, 0.7 * static_cast<double>(n * n));
  const auto each = [&](auto&& body) {
    for (std::size_t line = 0; line < all.lines; ++line) {
      for (std::size_t k = 0; k < all.ranges; ++k) {
        Sample along;
        for (std::size_t n = 0; n < all.ensemble; ++n) along += std::conj(direction[n]) * all.at(line, n, k);
        body(line, k, along);
      }
    }
  };
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<Sample> next(all.ensemble);
    each([&](std::size_t line, std::size_t k, Sample along) {
      for (std::size_t n = 0; n < all.ensemble; ++n) next[n] += std::conj(along) * all.at(line, n, k);
    });
    double square = 0.0;
    for (const Sample& value : next) square += std::norm(value);
    double moved = 0.0;
    for (std::size_t n = 0; n < all.ensemble; ++n) {
      const Sample found = next[n] / std::sqrt(square);
      moved += std::norm(found - direction[n]);
      direction[n] = found;
    }
    if (moved < 1e-28) break;  // no further than rounding
  }
  each([&](std::size_t line, std::size_t k, Sample along) {
    for (std::size_t n = 0; n < all.ensemble; ++n) all.at(line, n, k) -= along * direction[n];
  });
}

void expect_close(const Ensembles& found, const Ensembles& wanted, double tolerance) {
  ASSERT_EQ(found.samples.size(), wanted.samples.size());
  for (std::size_t k = 0; k < found.samples.size(); ++k) {
    ASSERT_NEAR(std::abs(found.samples[k] - wanted.samples[k]), 0.0, tolerance) << k;
  }
}

class WallFilter : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const WallFilterOptions& options) {
    return on_cuda() ? make_stage(wall_filter_stage, options, backend()) : make_wall_filter_cpu(options, threads(), level());
  }
  StageResult filtered(const WallFilterOptions& options, const Ensembles& all, ElementType type = ElementType::planar_complex64) {
    const BlockSpec spec = spec_of(all, type, all.ranges + 5);
    const auto stage = make(options);
    StageResult result = run(*stage, spec, block_of(all, spec), 2);
    const StageStatement stated = wall_filter_stage.state(options, spec, {backend().kind(), threads()});
    EXPECT_EQ(stated.output, result.spec);
    EXPECT_EQ(on_cuda() ? stated.memory.device : stated.memory.host, stage->bytes());
    const auto plain = make_wall_filter_cpu(options, 1, SimdLevel::portable);
    const StageResult reference = run_on_one_thread(*plain, spec, block_of(all, spec));
    if (!on_cuda()) {
      // The same bits from one thread without wide instructions.
      EXPECT_EQ(std::memcmp(reference.block->as<std::byte>(), result.block->as<std::byte>(), result.spec.bytes()), 0);
    } else if (options.kind != WallFilterKind::svd) {
      EXPECT_EQ(ensembles_of(result, filtered_ensemble(options)).samples,
                ensembles_of(reference, filtered_ensemble(options)).samples);
    }
    return result;
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(WallFilter);

TEST_P(WallFilter, RegressionTakesTheBestPolynomialAway) {
  for (const std::size_t order : {0, 1, 2, 4}) {
    for (const ElementType type : {ElementType::complex64, ElementType::planar_complex64}) {
      SCOPED_TRACE(order);
      const Ensembles all = random_ensembles(3, 11, 200, 1);
      Ensembles wanted = all;
      for (std::size_t line = 0; line < all.lines; ++line) {
        for (std::size_t k = 0; k < all.ranges; ++k) {
          const auto left = without_polynomial(ensemble_at(all, line, k), order);
          for (std::size_t n = 0; n < all.ensemble; ++n) wanted.at(line, n, k) = left[n];
        }
      }
      const WallFilterOptions options{.kind = WallFilterKind::regression, .ensemble = 11, .order = order};
      // 11 products of numbers up to 4, each rounded to 6e-8 of itself.
      expect_close(ensembles_of(filtered(options, all, type), 11), wanted, 5e-6);
    }
  }
}

/// More samples than a GPU has in registers or in shared memory, and more than fit its tiles.
TEST_P(WallFilter, LongEnsemblesAreFilteredLikewise) {
  for (const std::size_t count : {16, 17, 33, 128}) {
    SCOPED_TRACE(count);
    const Ensembles all = random_ensembles(2, count, 70, 21);
    Ensembles wanted = all;
    for (std::size_t line = 0; line < all.lines; ++line) {
      for (std::size_t k = 0; k < all.ranges; ++k) {
        const auto left = without_polynomial(ensemble_at(all, line, k), 2);
        for (std::size_t n = 0; n < count; ++n) wanted.at(line, n, k) = left[n];
      }
    }
    // As many products as samples, of numbers up to 4.
    expect_close(ensembles_of(filtered({.kind = WallFilterKind::regression, .ensemble = count, .order = 2}, all), count), wanted,
                 2e-5);
    Ensembles still = all;
    const Ensembles strong = random_ensembles(2, 1, 70, 22);
    for (std::size_t line = 0; line < all.lines; ++line) {
      for (std::size_t k = 0; k < all.ranges; ++k) {
        for (std::size_t n = 0; n < count; ++n) {
          Sample& x = still.at(line, n, k);
          x += 30.0 * strong.at(line, 0, k) * std::polar(1.0, 0.05 * static_cast<double>(n));
          x = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
        }
      }
    }
    wanted = still;
    take_strongest_away(wanted);
    // Of samples up to 100, rounded to 6e-8 of themselves each.
    const WallFilterOptions svd{.kind = WallFilterKind::svd, .ensemble = count, .components = 1};
    expect_close(ensembles_of(filtered(svd, still, ElementType::complex64), count), wanted, 3e-4);
  }
}

TEST_P(WallFilter, FirIsAConvolutionWithoutItsStart) {
  const Ensembles all = random_ensembles(2, 8, 130, 2);
  WallFilterOptions options{.kind = WallFilterKind::fir, .ensemble = 8, .order = 2};
  // Twice the half difference of neighbours.
  Ensembles wanted{2, 6, 130};
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::size_t k = 0; k < 130; ++k) {
      const auto x = ensemble_at(all, line, k);
      for (std::size_t n = 0; n < 6; ++n) wanted.at(line, n, k) = 0.5 * (0.5 * (x[n + 2] - x[n + 1]) - 0.5 * (x[n + 1] - x[n]));
    }
  }
  expect_close(ensembles_of(filtered(options, all), 6), wanted, 2e-6);
  options.taps = {0.25, -1.0, 0.5, 0.125};
  wanted = Ensembles{2, 5, 130};
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::size_t k = 0; k < 130; ++k) {
      const auto x = ensemble_at(all, line, k);
      for (std::size_t n = 0; n < 5; ++n)
        wanted.at(line, n, k) = 0.25 * x[n + 3] - 1.0 * x[n + 2] + 0.5 * x[n + 1] + 0.125 * x[n];
    }
  }
  expect_close(ensembles_of(filtered(options, all, ElementType::complex64), 5), wanted, 2e-6);
}

/// Tissue that moves a little, ten times as strong as what flows, and a second part of it.
TEST_P(WallFilter, SvdTakesTheStrongestDirectionsAway) {
  Ensembles all = random_ensembles(4, 9, 150, 3);
  const Ensembles weights = random_ensembles(4, 2, 150, 4);
  for (std::size_t line = 0; line < all.lines; ++line) {
    for (std::size_t k = 0; k < all.ranges; ++k) {
      for (std::size_t n = 0; n < all.ensemble; ++n) {
        const auto t = static_cast<double>(n);
        Sample& x = all.at(line, n, k);
        x += 30.0 * weights.at(line, 0, k) * std::polar(1.0, 0.1 * t) +
             8.0 * weights.at(line, 1, k) * std::polar(1.0, 0.02 * t * t);
        x = {static_cast<float>(x.real()), static_cast<float>(x.imag())};
      }
    }
  }
  Ensembles wanted = all;
  for (const std::size_t components : {1, 2, 3}) {
    SCOPED_TRACE(components);
    take_strongest_away(wanted);
    if (components == 3) break;  // two are much stronger than the rest, between whose directions rounding chooses
    const WallFilterOptions options{.kind = WallFilterKind::svd, .ensemble = 9, .components = components};
    // Of samples up to 100: 9 products, rounded to 6e-8 of themselves each.
    expect_close(ensembles_of(filtered(options, all), 9), wanted, 1e-4);
  }
}

/// Of still tissue a million times as strong as the rest nothing stays but rounding, and flow far from it keeps its strength.
TEST_P(WallFilter, StillTissueGoes) {
  constexpr double clutter = 1e3;
  constexpr double turn = 2.0 * std::numbers::pi * 0.3;
  for (const WallFilterKind kind : {WallFilterKind::regression, WallFilterKind::fir, WallFilterKind::svd}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Ensembles places = random_ensembles(2, 2, 96, 5);
    Ensembles still{2, 16, 96};
    Ensembles flow{2, 16, 96};
    Ensembles both{2, 16, 96};
    for (std::size_t line = 0; line < 2; ++line) {
      for (std::size_t k = 0; k < 96; ++k) {
        for (std::size_t n = 0; n < 16; ++n) {
          still.at(line, n, k) = clutter * places.at(line, 0, k);
          flow.at(line, n, k) = places.at(line, 1, k) * std::polar(1.0, turn * static_cast<double>(n));
          both.at(line, n, k) = still.at(line, n, k) + flow.at(line, n, k);
        }
      }
    }
    const WallFilterOptions options{.kind = kind, .ensemble = 16, .order = 2, .components = 1};
    const std::size_t kept = filtered_ensemble(options);
    const auto power = [](const Ensembles& all) {
      double sum = 0.0;
      for (const Sample& sample : all.samples) sum += std::norm(sample);
      return sum / static_cast<double>(all.samples.size());
    };
    const double left = power(ensembles_of(filtered(options, still), kept)) / power(still);
    EXPECT_LT(10.0 * std::log10(left + 1e-30), -120.0);
    const double flows = power(ensembles_of(filtered(options, both), kept)) / power(flow);
    const double gain = kind == WallFilterKind::svd ? 1.0 : wall_filter_gain(options, 0.3);
    // What SVD takes for clutter leans a thousandth towards the flow; cross terms of 192 places are not quite 0.
    EXPECT_NEAR(flows, gain, 0.15 * gain);
  }
}

TEST_P(WallFilter, WhatIsNotFiniteSpoilsItsRangeAlone) {
  Ensembles all = random_ensembles(2, 6, 40, 6);
  all.at(1, 3, 7) = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  const WallFilterOptions options{.kind = WallFilterKind::regression, .ensemble = 6, .order = 1};
  const BlockSpec spec = spec_of(all, ElementType::complex64, 40);
  const auto stage = make(options);
  const Ensembles out = ensembles_of(run(*stage, spec, block_of(all, spec)), 6);
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::size_t n = 0; n < 6; ++n) {
      for (std::size_t k = 0; k < 40; ++k) ASSERT_EQ(std::isfinite(out.at(line, n, k).real()), line != 1 || k != 7);
    }
  }
}

TEST(WallFilterOptions, SayWhatTheyDoAndAreChecked) {
  // A canceller has |1 - exp(j 2 pi f)|^2 / 4 = sin^2(pi f): a half at a quarter of a turn.
  const WallFilterOptions canceller{.kind = WallFilterKind::fir, .ensemble = 8, .order = 1};
  for (const double f : {0.0, 0.1, 0.25, 0.5}) {
    EXPECT_NEAR(wall_filter_gain(canceller, f), std::pow(std::sin(std::numbers::pi * f), 2.0), 1e-12);
  }
  EXPECT_NEAR(wall_filter_cutoff(canceller), 0.25, 1e-6);
  // The mean alone: what is left is 1 - |mean of exp(j 2 pi f n)|^2.
  const WallFilterOptions mean{.kind = WallFilterKind::regression, .ensemble = 10, .order = 0};
  for (const double f : {0.02, 0.1, 0.37}) {
    const double dirichlet = std::sin(10.0 * std::numbers::pi * f) / (10.0 * std::sin(std::numbers::pi * f));
    EXPECT_NEAR(wall_filter_gain(mean, f), 1.0 - dirichlet * dirichlet, 1e-12);
  }
  const auto refused = [](const WallFilterOptions& options) { return input_error([&] { validate(options); }); };
  EXPECT_EQ(refused({.ensemble = 1}), "wall-filter stage, ensemble: found 1; expected 2 to 128 samples");
  EXPECT_EQ(refused({.ensemble = 8, .order = 7}), "wall-filter stage, order: found 7; expected at most 6 of an ensemble of 8");
  EXPECT_EQ(refused({.kind = WallFilterKind::fir, .ensemble = 3, .taps = {1.0, 2.0, 3.0}}),
            "wall-filter stage, taps: found 3; expected at most 2 of an ensemble of 3");
  EXPECT_EQ(refused({.kind = WallFilterKind::svd, .ensemble = 8, .components = 8}),
            "wall-filter stage, components: found 8; expected 1 to 7 of an ensemble of 8");
  EXPECT_EQ(
      input_error([] { (void)make_wall_filter_cpu({.ensemble = 8}, 1)->prepare(make_spec(ElementType::complex64, 12, 20)); }),
      "wall-filter stage, rows: found 12; expected a multiple of the ensemble, 8");
}

}  // namespace
}  // namespace echoform::test
