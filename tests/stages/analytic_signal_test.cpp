#include "stages/analytic_signal/analytic_signal.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "tests/stages/analytic_rows.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class AnalyticSignal : public StageTest {
 protected:
  /// The ways that this backend has for rows of m samples.
  [[nodiscard]] std::vector<AnalyticSignalOptions> ways(std::size_t m) const {
    if (!on_cuda()) return {{}};
    std::vector<AnalyticSignalOptions> all;
    for (const HilbertRoute route : {HilbertRoute::cufft, HilbertRoute::fused}) {
      if (route == HilbertRoute::fused && fused_hilbert_length(m) != m) continue;
      all.push_back({false, false, route});
      all.push_back({true, false, route});
      all.push_back({true, true, route});
    }
    return all;
  }
  [[nodiscard]] std::unique_ptr<Stage> make(const AnalyticSignalOptions& way) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_analytic_signal_cuda(way, backend());
#endif
    static_cast<void>(way);
    return make_analytic_signal_cpu(threads(), level());
  }

  static float inverse_scale(const StageResult& result) {
    return inverse_half_scale(result);
  }
  static Signal row_of(const StageResult& result, std::size_t row) {
    return signal_of(result, row);
  }

  /// Zeros before and behind the rows, and the type and strides that the header promises.
  void check_layout(const StageResult& result, const AnalyticSignalOptions& way) const {
    const BlockSpec& spec = result.spec;
    ASSERT_EQ(spec.row_stride % 16, 0u);
    if (!on_cuda()) {
      ASSERT_EQ(spec.type, ElementType::planar_complex64);
      ASSERT_GE(spec.row_stride, spec.columns + 32);
      for (std::size_t row = 0; row < 2 * spec.rows; ++row) {
        for (std::size_t n = spec.columns; n < spec.row_stride; ++n) {
          ASSERT_EQ(result.block->as<float>()[row * spec.row_stride + n], 0.0F);
        }
      }
      return;
    }
    ASSERT_EQ(spec.type, way.half ? ElementType::complex_half_slope : ElementType::complex64);
    ASSERT_EQ(spec.lead, 256u);
    ASSERT_GE(spec.row_stride, spec.columns + 256);
    ASSERT_EQ(spec.trailer, way.half ? 64u : 0u);
    const auto* const elements = result.block->as<std::uint64_t>();
    for (std::size_t n = 0; n < spec.lead; ++n) ASSERT_EQ(elements[n], 0u) << "lead " << n;
    for (std::size_t row = 0; row < spec.rows; ++row) {
      // With linear interpolation no lookup at the last sample counts.
      const std::size_t last = way.half && !way.nearest ? spec.columns - 1 : spec.columns;
      for (std::size_t n = last; n < spec.row_stride; ++n) {
        ASSERT_EQ(elements[spec.lead + row * spec.row_stride + n], 0u) << "row " << row << ", element " << n;
      }
    }
    const auto* const trailer = result.block->as<unsigned char>() + spec.bytes() - spec.trailer;
    for (std::size_t n = 4; n < spec.trailer; ++n) ASSERT_EQ(trailer[n], 0u);
  }

  /// Half precision: half a unit of its 11 digits, or of its least number 2^-24; the frame's peak is above 0.125 / k. What single
  /// precision leaves comes on top.
  static double half_tolerance(double value, double peak, double single) {
    return std::abs(value) * 0x1p-11 + peak * 0x1p-22 + single;
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(AnalyticSignal);

std::string name_of(const AnalyticSignalOptions& way) {
  return std::string(way.route == HilbertRoute::fused   ? "fused"
                     : way.route == HilbertRoute::cufft ? "cuFFT"
                                                        : "the one way") +
         (way.half ? ", half path" : ", float path") + (way.nearest ? ", nearest" : "");
}

/// Q by the definition: forward DFT, -i sgn(f), inverse DFT, in double precision and by their sums. In plain numbers: tests are
/// compiled without optimisation, where std::complex takes ten times as long.
std::vector<double> naive_hilbert(const std::vector<double>& s) {
  const std::size_t m = s.size();
  std::vector<double> cosines(m);
  std::vector<double> sines(m);
  for (std::size_t k = 0; k < m; ++k) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(m);
    cosines[k] = std::cos(angle);
    sines[k] = std::sin(angle);
  }
  std::vector<double> q(m, 0.0);
  const double* const samples = s.data();
  const double* const cosine = cosines.data();
  const double* const sine = sines.data();
  double* const result = q.data();
  for (std::size_t f = 1; 2 * f < m; ++f) {
    double real = 0.0;
    double imaginary = 0.0;
    // k is f n modulo m.
    for (std::size_t n = 0, k = 0; n < m; ++n, k = k + f < m ? k + f : k + f - m) {
      real += samples[n] * cosine[k];
      imaginary -= samples[n] * sine[k];
    }
    // Bins f and M - f are conjugates: together twice the real part.
    const double twice = 2.0 / static_cast<double>(m);
    for (std::size_t n = 0, k = 0; n < m; ++n, k = k + f < m ? k + f : k + f - m)
      result[n] += twice * (imaginary * cosine[k] + real * sine[k]);
  }
  return q;
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

// Smooth lengths, odd and even; primes and lengths with a prime factor above 13, which take the longer transform; 6561,
// whose direct plans need buffers.
constexpr std::size_t lengths[] = {2,  3,  4,   5,   8,   13,  16,   17,   19,   31,   34,  63,
                                   64, 97, 128, 250, 251, 502, 1024, 1031, 1040, 1560, 6561};

/// Random rows of very different size: none may leak into another.
std::vector<std::vector<double>> random_rows(std::size_t rows, std::size_t m) {
  std::mt19937 random(static_cast<unsigned>(m));
  std::normal_distribution<float> noise(0.2F, 1.0F);
  std::vector<std::vector<double>> samples(rows, std::vector<double>(m));
  for (std::size_t r = 0; r < rows; ++r) {
    const float size = r % 2 == 0 ? 1e4F : 1e-4F;
    for (double& s : samples[r]) s = size * noise(random);
  }
  return samples;
}

/// The scale of the half path by trial.
double scale_for(double peak) {
  double k = 1.0;
  while (peak * k > 0.25) k /= 2.0;
  while (peak > 0.0 && peak * k <= 0.125) k *= 2.0;
  return k;
}

/// What the half path must hold of a row. `q` is exact; `single` is what single precision leaves of it.
void expect_half_row(const Signal& signal, const float* s, const std::vector<double>& q, double peak, double single,
                     bool nearest) {
  const std::size_t m = q.size();
  const auto tolerance = [&](double value, double left) { return std::abs(value) * 0x1p-11 + peak * 0x1p-22 + left; };
  const std::size_t last = nearest ? m : m - 1;
  for (std::size_t n = 0; n < last; ++n) {
    ASSERT_NEAR(signal.in_phase[n], s[n], tolerance(s[n], 0.0)) << "sample " << n;
    ASSERT_NEAR(signal.quadrature[n], q[n], tolerance(q[n], single)) << "sample " << n;
    const double step = nearest ? 0.0 : static_cast<double>(s[n + 1]) - s[n];
    const double q_step = nearest ? 0.0 : q[n + 1] - q[n];
    // Steps are 2^14 times larger as halves, so their least number is that much smaller.
    ASSERT_NEAR(signal.in_phase_step[n], step, 0x1p-11 * std::abs(step) + 0x1p-36 * peak + 0x1p-24 * std::abs(s[n]));
    ASSERT_NEAR(signal.quadrature_step[n], q_step, 0x1p-11 * std::abs(q_step) + 0x1p-36 * peak + 2.0 * single);
  }
}

TEST_P(AnalyticSignal, WritesTheRowsThatAreWantedOnTheCpu) {
  if (on_cuda()) return;  // transforms all
  const std::size_t m = 100;
  const BlockSpec spec = make_spec(ElementType::float32, 5, m, m);
  const TestBlock input = make_rows(spec, random_rows(5, m));
  const auto all = make({});
  const StageResult whole = run(*all, spec, input);
  const auto some = make_analytic_signal_cpu(threads(), level(), {}, 2);
  const StageResult first = run(*some, spec, input);
  const std::size_t of_row = 2 * whole.spec.row_stride * sizeof(float);
  const auto* const written = first.block->as<unsigned char>();
  EXPECT_EQ(std::memcmp(written, whole.block->as<unsigned char>(), 2 * of_row), 0);
  const TestBlock untouched(whole.spec);
  EXPECT_EQ(std::memcmp(written + 2 * of_row, untouched.as<unsigned char>(), 3 * of_row), 0);

  AnalyticSignalOptions more;
  more.rows = 4;
  ASSERT_TRUE(some->accepts(more));
  some->retune(more, queue());
  run_again(*some, input, first);
  EXPECT_EQ(std::memcmp(written, whole.block->as<unsigned char>(), 4 * of_row), 0);
  EXPECT_EQ(std::memcmp(written + 4 * of_row, untouched.as<unsigned char>(), of_row), 0);
  more.filter.kind = FilterKind::mean;
  more.filter.sample_rate = Hertz(1e6);
  EXPECT_FALSE(some->accepts(more));
}

TEST_P(AnalyticSignal, EqualsTheDirectTransform) {
  std::vector<std::size_t> all(std::begin(lengths), std::end(lengths));
  for (const int fused : hilbert::fused_lengths) all.push_back(static_cast<std::size_t>(fused));
  for (const std::size_t m : all) {
    // On CUDA: odd numbers of rows, and more than one block of the lengths that share one.
    const std::size_t rows = m < 300 ? (on_cuda() ? 11 : 5) : m < 2000 ? (on_cuda() ? 5 : 2) : on_cuda() ? 3 : 1;
    if (m > 1040 && !on_cuda() && (threads() != 2 || fused_hilbert_length(m) == m)) continue;  // the double sum takes long
    const std::vector<std::vector<double>> samples = random_rows(rows, m);
    const BlockSpec spec = make_spec(ElementType::float32, rows, m, m + 5);
    const TestBlock input = make_rows(spec, samples);
    std::vector<std::vector<double>> references;
    double peak = 0.0;
    for (std::size_t r = 0; r < rows; ++r) {
      references.push_back(naive_hilbert(samples[r]));
      for (std::size_t n = 0; n < m; ++n) peak = std::max<double>(peak, std::abs(input.as<float>()[r * spec.row_stride + n]));
    }
    for (const AnalyticSignalOptions& way : ways(m)) {
      SCOPED_TRACE(std::to_string(m) + " samples, " + name_of(way));
      const auto stage = make(way);
      const StageResult result = run(*stage, spec, input);
      check_layout(result, way);
      if (way.half) {
        ASSERT_EQ(inverse_scale(result), static_cast<float>(1.0 / scale_for(peak)));
      }
      for (std::size_t r = 0; r < rows; ++r) {
        const float* const s = input.as<float>() + r * spec.row_stride;
        const Signal signal = row_of(result, r);
        const std::vector<double>& reference = references[r];
        // The contract's bound for any route; single precision leaves about 2e-7.
        const double single = 1e-6 * norm(samples[r]);
        if (way.half) {
          expect_half_row(signal, s, reference, peak, single, way.nearest);
          continue;
        }
        for (std::size_t n = 0; n < m; ++n) ASSERT_EQ(signal.in_phase[n], s[n]) << "I is the row itself";
        std::vector<double> difference = signal.quadrature;
        for (std::size_t n = 0; n < m; ++n) difference[n] -= reference[n];
        EXPECT_LE(norm(difference), single) << "row " << r;
      }
    }
  }
}

TEST_P(AnalyticSignal, CosinesBecomeSinesAtEveryBin) {
  for (const std::size_t m : {31, 48, 320, 1031, 4096}) {
    std::vector<std::vector<double>> rows;
    std::vector<std::vector<double>> wanted;
    for (std::size_t f = 0; 2 * f <= m; f += m > 1500 ? 128 : m > 100 ? 37 : 1) {
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
    for (const AnalyticSignalOptions& way : ways(m)) {
      SCOPED_TRACE(name_of(way));
      const auto stage = make(way);
      const StageResult result = run(*stage, spec, make_rows(spec, rows));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::vector<double> q = row_of(result, r).quadrature;
        for (std::size_t n = 0; n + 1 < m; ++n) {
          const double tolerance = way.half ? half_tolerance(wanted[r][n], 1.0, 2e-6) : 2e-6;
          ASSERT_NEAR(q[n], wanted[r][n], tolerance) << m << " samples, row " << r << ", sample " << n;
        }
      }
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
    for (const AnalyticSignalOptions& way : ways(m)) {
      if (way.half) continue;  // its error is that of half precision, tested above
      const auto stage = make(way);
      const std::vector<double> once = row_of(run(*stage, spec, make_rows(spec, {s})), 0).quadrature;
      const std::vector<double> twice = row_of(run(*stage, spec, make_rows(spec, {once})), 0).quadrature;
      std::vector<double> sum(m);
      for (std::size_t n = 0; n < m; ++n) sum[n] = twice[n] + s[n] - mean;
      EXPECT_LE(norm(sum), 2e-6 * norm(s)) << m << " samples";
    }
  }
}

TEST_P(AnalyticSignal, RowsDoNotDependOnTheirPlaceOrOnTheFrameBefore) {
  // One row many times over, at every alignment that an odd stride gives, twice: one result.
  for (const std::size_t m : {100, 101, 256, 1536}) {
    std::mt19937 random(9);
    std::normal_distribution<float> noise;
    std::vector<double> s(m);
    for (double& x : s) x = noise(random);
    const BlockSpec spec = make_spec(ElementType::float32, 33, m, m + 1 + m % 2);
    const TestBlock input = make_rows(spec, std::vector<std::vector<double>>(33, s));
    for (const AnalyticSignalOptions& way : ways(m)) {
      SCOPED_TRACE(name_of(way));
      const auto stage = make(way);
      const StageResult result = run(*stage, spec, input);
      const TestBlock before(result.spec);
      std::memcpy(before.block().data, result.block->block().data, result.spec.bytes());
      run_again(*stage, input, result);
      EXPECT_EQ(std::memcmp(before.block().data, result.block->block().data, result.spec.bytes()), 0);
      // The fused route transforms two rows at once, one as re and one as im: then rows of one kind agree, but for the last
      // row, which is alone.
      const std::size_t kinds = way.route == HilbertRoute::fused ? 2 : 1;
      const std::size_t alike = way.route == HilbertRoute::fused ? 32 : 33;
      for (std::size_t r = kinds; r < alike; ++r) EXPECT_EQ(row_of(result, r).quadrature, row_of(result, r % kinds).quadrature);
      const double tolerance = way.half ? 2e-3 : 2e-6;  // of Q, which is some times the noise's 1
      for (std::size_t n = 0; n < m; ++n) {
        EXPECT_NEAR(row_of(result, 32).quadrature[n], row_of(result, 0).quadrature[n], 4.0 * tolerance);
      }
    }
  }
}

TEST_P(AnalyticSignal, TakesThePeakFromTheInput) {
  // A trailer that names the frame's peak is believed (and sits behind the rows, so that it changes nothing else). Where it says
  // too little, halves saturate and do not become infinite.
  for (const std::size_t m : {100, 512}) {
    for (const float stated : {3.0F, 8.0F, 1e-6F, 0.0F}) {
      BlockSpec spec = make_spec(ElementType::float32, 3, m, m);
      spec.trailer = 64;
      const TestBlock input(spec);
      std::mt19937 random(2);
      std::uniform_real_distribution<float> noise(-3.0F, 3.0F);
      for (std::size_t n = 0; n < 3 * m; ++n) input.as<float>()[n] = noise(random);
      std::memset(input.as<float>() + 3 * m, 0, 64);
      input.as<float>()[3 * m] = stated;
      for (const AnalyticSignalOptions& way : ways(m)) {
        SCOPED_TRACE(name_of(way));
        const auto stage = make(way);
        const StageResult result = run(*stage, spec, input);
        check_layout(result, way);
        if (way.half) {
          ASSERT_EQ(inverse_scale(result), static_cast<float>(1.0 / scale_for(stated)));
        }
        for (std::size_t r = 0; r < 3; ++r) {
          const Signal signal = row_of(result, r);
          for (std::size_t n = 0; n + 1 < m; ++n) {
            const double s = input.as<float>()[r * m + n];
            const double most = way.half ? 65504.0 * inverse_scale(result) : 1e9;
            const double expected = std::clamp(s, -most, most);
            ASSERT_NEAR(signal.in_phase[n], expected,
                        way.half ? half_tolerance(expected, std::max(stated, inverse_scale(result)), 0.0) : 0.0);
            ASSERT_TRUE(std::isfinite(signal.quadrature[n]));
            if (way.half) {
              ASSERT_TRUE(std::isfinite(signal.in_phase_step[n]) && std::isfinite(signal.quadrature_step[n]));
            }
          }
        }
      }
    }
  }
}

TEST_P(AnalyticSignal, ASilentFrameIsSilent) {
  for (const std::size_t m : {37, 1024}) {
    const BlockSpec spec = make_spec(ElementType::float32, 5, m);
    const TestBlock input = make_rows(spec, std::vector<std::vector<double>>(5, std::vector<double>(m, 0.0)));
    for (const AnalyticSignalOptions& way : ways(m)) {
      const auto stage = make(way);
      const StageResult result = run(*stage, spec, input, 2);
      check_layout(result, way);
      if (way.half) {
        EXPECT_EQ(inverse_scale(result), 1.0F);
      }
      for (std::size_t r = 0; r < 5; ++r) {
        const Signal signal = row_of(result, r);
        EXPECT_EQ(signal.in_phase, std::vector<double>(m, 0.0));
        EXPECT_EQ(signal.quadrature, std::vector<double>(m, 0.0));
      }
    }
  }
}

TEST_P(AnalyticSignal, ManyRowsThroughSeveralChunks) {
  // 2600 rows of 5000 are 52 MB of spectra: with 24 MiB allowed cuFFT's route takes them in three pieces, the last of which
  // overlaps the one before.
  const std::size_t m = 5000;
  const std::size_t rows = on_cuda() ? 2600 : 3;
  const BlockSpec spec = make_spec(ElementType::float32, rows, m, m);
  const TestBlock input(spec);
  std::mt19937 random(4);
  std::vector<float> row(m);
  for (float& s : row) s = static_cast<float>(random() % 1024) - 512.0F;
  std::vector<double> samples(row.begin(), row.end());
  for (std::size_t r = 0; r < rows; ++r) {
    const float sign = r % 2 == 0 ? 1.0F : -1.0F;
    for (std::size_t n = 0; n < m; ++n) input.as<float>()[r * m + n] = sign * row[n];
  }
  const std::vector<double> reference = naive_hilbert(samples);
  for (AnalyticSignalOptions way : ways(m)) {
    if (way.half) continue;
    way.spectra_bytes = std::size_t{24} << 20;
    const auto stage = make(way);
    const StageResult result = run(*stage, spec, input);
    for (std::size_t r = 0; r < rows; r += r + 50 < rows && on_cuda() ? 49 : 1) {
      std::vector<double> difference = row_of(result, r).quadrature;
      for (std::size_t n = 0; n < m; ++n) difference[n] -= r % 2 == 0 ? reference[n] : -reference[n];
      EXPECT_LE(norm(difference), 1e-6 * norm(samples)) << "row " << r;
    }
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

TEST_P(AnalyticSignal, RefusesWhatItCannotTransform) {
  const auto stage = make({});
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::raw, 1, 8)); }),
            "analytic-signal stage, input type: found raw samples; expected float32");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::float32, 1, 1)); }),
            "analytic-signal stage, input samples: found 1; expected 2 to 268435456");
  if (on_cuda()) {
    const auto fused = make({false, false, HilbertRoute::fused});
    EXPECT_EQ(input_error([&] { (void)fused->prepare(make_spec(ElementType::float32, 1, 100)); }),
              "analytic-signal stage, input samples: found 100; expected a length of the fused transform");
  }
}

}  // namespace
}  // namespace echoform::test
