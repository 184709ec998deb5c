// One sideband of both, against the plain discrete Fourier transform in double precision, and of signals whose analytic signal is
// known.
#include "stages/single_sideband/single_sideband.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test::sidebands {
namespace {

using Complex = std::complex<double>;
using Row = std::vector<Complex>;

class SingleSideband : public StageTest {
 protected:
  std::unique_ptr<Stage> make(std::size_t bins) {
    const SingleSidebandOptions options{bins};
    return on_cuda() ? make_stage(single_sideband_stage, options, backend())
                     : make_single_sideband_cpu(options, threads(), level());
  }
};
INSTANTIATE_TEST_SUITE_P(All, SingleSideband, testing::ValuesIn(implementations()), implementation_name);

/// Forward with sign -1; with +1 back, divided by the length.
Row plain_dft(const Row& row, double sign) {
  const std::size_t n = row.size();
  Row result(n);
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t k = 0; k < n; ++k) {
      result[m] +=
          row[k] * std::polar(1.0, sign * 2.0 * std::numbers::pi * static_cast<double>(m * k % n) / static_cast<double>(n));
    }
    if (sign > 0.0) result[m] /= static_cast<double>(n);
  }
  return result;
}

Row one_of_both(const Row& row, std::size_t bins) {
  Row spectrum = plain_dft(row, -1.0);
  spectrum[0] = spectrum[0].real();
  for (std::size_t m = 1; m <= bins; ++m) {
    spectrum[m] += std::conj(spectrum[row.size() - m]);
    spectrum[row.size() - m] = 0.0;
  }
  return plain_dft(spectrum, 1.0);
}

/// The largest error of any row over the norm of its input's samples, root mean square.
double error_of(const StageResult& result, const std::vector<Row>& rows, std::size_t bins) {
  double worst = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Row right = one_of_both(rows[row], bins);
    double power = 0.0;
    for (const Complex z : rows[row]) power += std::norm(z) / static_cast<double>(right.size());
    const float* const out = result.block->as<float>() + 2 * row * result.spec.row_stride;
    for (std::size_t k = 0; k < right.size(); ++k) {
      worst = std::max(worst, std::abs(Complex(out[2 * k], out[2 * k + 1]) - right[k]) / std::sqrt(power));
    }
    for (std::size_t k = 2 * right.size(); k < 2 * result.spec.row_stride; ++k) EXPECT_EQ(out[k], 0.0F);
  }
  return worst;
}

TEST_P(SingleSideband, EqualsThePlainTransform) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  for (const std::size_t samples : {3, 16, 101, 360}) {
    for (const std::size_t bins : {std::size_t{1}, samples / 5, (samples - 1) / 2}) {
      if (bins == 0) continue;
      const BlockSpec spec = make_spec(ElementType::complex64, 5, samples, samples + 3);
      const TestBlock input(spec);
      std::vector<Row> rows(5);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        float* const in = input.as<float>() + 2 * row * (samples + 3);
        for (std::size_t k = 0; k < samples; ++k) {
          in[2 * k] = static_cast<float>(noise(random));
          in[2 * k + 1] = static_cast<float>(noise(random));
          rows[row].push_back({in[2 * k], in[2 * k + 1]});
        }
      }
      const auto stage = make(bins);
      const StageResult result = run(*stage, spec, input, 2);
      // Transforms there and back in single precision; noise has values of 4 times its root mean square.
      EXPECT_LT(error_of(result, rows, bins), 5e-6) << samples << " " << bins;
    }
  }
}

/// Of a real signal, half of whose two sidebands a filter has left near 0 Hz, it makes the analytic signal.
TEST_P(SingleSideband, RestoresWhatAFilterLeftOfBothSidebands) {
  constexpr std::size_t samples = 240;
  constexpr double turn = 2.0 * std::numbers::pi / static_cast<double>(samples);
  const BlockSpec spec = make_spec(ElementType::complex64, 1, samples, samples);
  const TestBlock input(spec);
  Row right(samples);
  float* const in = input.as<float>();
  for (std::size_t k = 0; k < samples; ++k) {
    // Tones of 3, 9 and 170 cycles a row; the filter's response goes up in a straight line from -12 to +12 cycles.
    Complex left = 0.0;
    for (const int cycles : {3, 9, 170}) {
      const double phase = turn * cycles * static_cast<double>(k) + 0.3 * cycles;
      const double kept = std::min(1.0, 0.5 + cycles / 24.0);
      right[k] += std::polar(1.0, phase);
      left += kept * std::polar(1.0, phase) + (1.0 - kept) * std::polar(1.0, -phase);
    }
    in[2 * k] = static_cast<float>(left.real());
    in[2 * k + 1] = static_cast<float>(left.imag());
  }
  const auto stage = make(20);
  const StageResult result = run(*stage, spec, input, 1);
  for (std::size_t k = 0; k < samples; ++k) {
    const float* const out = result.block->as<float>() + 2 * k;
    if (!on_cuda()) {
      EXPECT_EQ(out[0], in[2 * k]);
    }
    EXPECT_NEAR(std::abs(Complex(out[0], out[1]) - right[k]), 0.0, 3e-6) << k;
  }
}

TEST(SingleSidebandOptions, OutOfRangeAreTold) {
  const auto refused = [](std::size_t bins, std::size_t samples) {
    const auto stage = make_single_sideband_cpu({bins}, 1);
    return input_error([&] { static_cast<void>(stage->prepare(make_spec(ElementType::complex64, 2, samples, samples))); });
  };
  EXPECT_EQ(refused(4, 9), "");
  EXPECT_EQ(refused(5, 9), "single-sideband stage, bins: found 5; expected 1 to 4");
  EXPECT_EQ(refused(0, 9), "single-sideband stage, bins: found 0; expected 1 to 4");
  EXPECT_EQ(refused(1, 2), "single-sideband stage, input samples: found 2; expected 3 to 268435456");
}

}  // namespace
}  // namespace echoform::test::sidebands
