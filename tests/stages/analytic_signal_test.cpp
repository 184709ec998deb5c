#include "stages/analytic_signal/analytic_signal.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "tests/stages/stage_harness.hpp"

namespace echoform::test {
namespace {

using AnalyticSignal = StageTest;
ECHOFORM_ALL_IMPLEMENTATIONS(AnalyticSignal);

/// Q by the definition: forward DFT, -i sgn(f), inverse DFT, in double precision and by their sums.
std::vector<double> naive_hilbert(const std::vector<double>& s) {
  const std::size_t m = s.size();
  const auto phasor = [m](std::size_t product) {
    return std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(product % m) / static_cast<double>(m));
  };
  std::vector<double> q(m, 0.0);
  for (std::size_t f = 1; 2 * f < m; ++f) {
    std::complex<double> bin = 0.0;
    for (std::size_t n = 0; n < m; ++n) bin += s[n] * std::conj(phasor(f * n));
    // Bins f and M - f are conjugates: together twice the real part.
    for (std::size_t n = 0; n < m; ++n) {
      q[n] += 2.0 / static_cast<double>(m) * (std::complex<double>(0.0, -1.0) * bin * phasor(f * n)).real();
    }
  }
  return q;
}

double norm(const std::vector<double>& v) {
  double sum = 0.0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

/// Rows of samples as a float32 block.
TestBlock make_rows(const BlockSpec& spec, const std::vector<std::vector<double>>& rows) {
  TestBlock block(spec);
  const std::size_t stride = spec.row_stride != 0 ? spec.row_stride : spec.columns;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t n = 0; n < spec.columns; ++n) block.as<float>()[r * stride + n] = static_cast<float>(rows[r][n]);
  }
  return block;
}

std::vector<double> quadrature(const StageResult& result, std::size_t row) {
  const float* q = result.block->as<float>() + (2 * row + 1) * result.spec.row_stride;
  return {q, q + result.spec.columns};
}

// Smooth lengths, odd and even; primes and lengths with a prime factor above 13, which take the longer transform; 6561,
// whose direct plans need buffers.
constexpr std::size_t lengths[] = {2, 3, 4, 5, 8, 13, 16, 17, 19, 31, 34, 63, 64, 97, 128, 250, 251, 502, 1024, 1031, 1040, 6561};

TEST_P(AnalyticSignal, EqualsTheDirectTransform) {
  for (const std::size_t m : lengths) {
    const std::size_t rows = m < 300 ? 5 : m < 2000 ? 2 : 1;
    if (m > 2000 && threads() != 2) continue;  // the double sum takes long
    std::mt19937 random(static_cast<unsigned>(m));
    std::normal_distribution<float> noise(0.2F, 1.0F);
    std::vector<std::vector<double>> samples(rows, std::vector<double>(m));
    for (std::size_t r = 0; r < rows; ++r) {
      // Rows of very different size: none may leak into another.
      const float size = r % 2 == 0 ? 1e4F : 1e-4F;
      for (double& s : samples[r]) s = size * noise(random);
    }
    const BlockSpec spec = make_spec(ElementType::float32, rows, m, m + 5);
    const TestBlock input = make_rows(spec, samples);
    const auto stage = make_analytic_signal_cpu(threads(), level());
    const StageResult result = run_stage(*stage, spec, input, team);
    ASSERT_EQ(result.spec.type, ElementType::planar_complex64);
    ASSERT_EQ(result.spec.row_stride % 16, 0u);
    ASSERT_GE(result.spec.row_stride, m + 32);
    for (std::size_t r = 0; r < rows; ++r) {
      const float* i_row = result.block->as<float>() + 2 * r * result.spec.row_stride;
      ASSERT_EQ(std::memcmp(i_row, input.as<float>() + r * spec.row_stride, m * 4), 0) << "I is the row itself";
      for (std::size_t n = m; n < result.spec.row_stride; ++n) {
        ASSERT_EQ(i_row[n], 0.0F);
        ASSERT_EQ(i_row[result.spec.row_stride + n], 0.0F);
      }
      const std::vector<double> reference = naive_hilbert(samples[r]);
      std::vector<double> difference = quadrature(result, r);
      for (std::size_t n = 0; n < m; ++n) difference[n] -= reference[n];
      // The contract's bound for any route; single precision leaves about 2e-7.
      EXPECT_LE(norm(difference), 1e-6 * norm(samples[r])) << m << " samples, row " << r;
    }
  }
}

TEST_P(AnalyticSignal, CosinesBecomeSinesAtEveryBin) {
  for (const std::size_t m : {31, 48, 1031}) {
    std::vector<std::vector<double>> rows;
    std::vector<std::vector<double>> wanted;
    for (std::size_t f = 0; 2 * f <= m; f += m > 100 ? 37 : 1) {
      auto& row = rows.emplace_back();
      auto& want = wanted.emplace_back();
      for (std::size_t n = 0; n < m; ++n) {
        const double angle = 2.0 * std::numbers::pi * static_cast<double>(f * n % m) / static_cast<double>(m);
        row.push_back(std::cos(angle));
        // A constant and the Nyquist cosine have no quadrature.
        want.push_back(f == 0 || 2 * f == m ? 0.0 : std::sin(angle));
      }
    }
    const BlockSpec spec = make_spec(ElementType::float32, rows.size(), m);
    const auto stage = make_analytic_signal_cpu(threads(), level());
    const StageResult result = run_stage(*stage, spec, make_rows(spec, rows), team);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<double> q = quadrature(result, r);
      for (std::size_t n = 0; n < m; ++n) ASSERT_NEAR(q[n], wanted[r][n], 2e-6) << m << " samples, row " << r << ", sample " << n;
    }
  }
}

TEST_P(AnalyticSignal, TwiceIsMinusTheSignalWithoutItsMean) {
  for (const std::size_t m : {99, 1031}) {  // odd: no Nyquist to lose
    std::mt19937 random(5);
    std::normal_distribution<float> noise(1.0F, 1.0F);
    std::vector<double> s(m);
    double mean = 0.0;
    for (double& x : s) {
      x = noise(random);
      mean += x / static_cast<double>(m);
    }
    const BlockSpec spec = make_spec(ElementType::float32, 1, m);
    const auto stage = make_analytic_signal_cpu(threads(), level());
    const std::vector<double> once = quadrature(run_stage(*stage, spec, make_rows(spec, {s}), team), 0);
    const std::vector<double> twice = quadrature(run_stage(*stage, spec, make_rows(spec, {once}), team), 0);
    std::vector<double> sum(m);
    for (std::size_t n = 0; n < m; ++n) sum[n] = twice[n] + s[n] - mean;
    EXPECT_LE(norm(sum), 2e-6 * norm(s)) << m << " samples";
  }
}

TEST_P(AnalyticSignal, RowsDoNotDependOnTheirPlaceOrOnTheFrameBefore) {
  // One row many times over, at every alignment that an odd stride gives, twice: one result.
  for (const std::size_t m : {100, 101}) {
    std::mt19937 random(9);
    std::normal_distribution<float> noise;
    std::vector<double> s(m);
    for (double& x : s) x = noise(random);
    const BlockSpec spec = make_spec(ElementType::float32, 33, m, m + 1 + m % 2);
    const TestBlock input = make_rows(spec, std::vector<std::vector<double>>(33, s));
    const auto stage = make_analytic_signal_cpu(threads(), level());
    const StageResult result = run_stage(*stage, spec, input, team);
    stage->process(input.read(), result.block->block(), team);
    for (std::size_t r = 1; r < 33; ++r) EXPECT_EQ(quadrature(result, r), quadrature(result, 0));
  }
}

TEST(HilbertKernel, ClosedFormEqualsItsSum) {
  for (const std::size_t m : {2, 3, 4, 7, 10, 31}) {
    const std::vector<double> kernel = hilbert_kernel(m);
    for (std::size_t k = 0; k < m; ++k) {
      double sum = 0.0;
      for (std::size_t f = 1; 2 * f < m; ++f) {
        sum +=
            2.0 / static_cast<double>(m) * std::sin(2.0 * std::numbers::pi * static_cast<double>(f * k) / static_cast<double>(m));
      }
      EXPECT_NEAR(kernel[k], sum, 1e-14) << "M " << m << ", k " << k;
    }
  }
}

TEST(HilbertKernel, LengthsOfTransforms) {
  EXPECT_EQ(hilbert_transform_length(1024), 1024u);
  EXPECT_EQ(hilbert_transform_length(13 * 11 * 7), 1001u);
  EXPECT_EQ(hilbert_transform_length(1031), 2160u);  // 2061 at least; 16 * 129 ... 134 have larger prime factors
  EXPECT_EQ(hilbert_transform_length(17), 48u);
  EXPECT_EQ(hilbert_transform_length(17, 1), 64u);
  EXPECT_EQ(hilbert_transform_length(15, 0), 15u);
  EXPECT_EQ(hilbert_transform_length(15, 1), 32u);
}

TEST(AnalyticSignalInput, RefusesWhatItCannotTransform) {
  const auto stage = make_analytic_signal_cpu(1);
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::int16, 1, 8)); }),
            "analytic-signal stage, input type: found int16; expected float32");
  EXPECT_EQ(input_error_of([&] { (void)stage->prepare(make_spec(ElementType::float32, 1, 1)); }),
            "analytic-signal stage, input samples: found 1; expected 2 to 268435456");
}

}  // namespace
}  // namespace echoform::test
