#include "stages/deconvolution/deconvolution.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class Deconvolution : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const DeconvolutionOptions& options) {
    if (on_cuda()) return make_stage(deconvolution_stage, options, backend());
    return make_deconvolution_cpu(options, threads(), level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Deconvolution);

constexpr double deconvolved_rate = 40e6;
constexpr std::size_t deconvolved_samples = 400;

DeconvolutionOptions measured() {
  DeconvolutionOptions options;
  std::vector<double> h(60);
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double t = (static_cast<double>(k) - 21.0) / deconvolved_rate;
    h[k] = std::exp(-t * t / (2.0 * 0.15e-6 * 0.15e-6)) * std::cos(2.0 * std::numbers::pi * 4e6 * t + 0.4);
  }
  options.response = std::make_shared<const std::vector<double>>(h);
  options.zero = 21;
  options.sample_rate = Hertz(deconvolved_rate);
  options.cutoff = Hertz(10e6);
  return options;
}

/// By the definition of the periodic DFT, in double precision.
std::vector<double> plainly_deconvolved(const DeconvolutionOptions& options, const std::vector<double>& row) {
  const std::size_t m = row.size();
  const auto turn = [&](double k, double n) { return std::polar(1.0, -2.0 * std::numbers::pi * k * n / static_cast<double>(m)); };
  std::vector<std::complex<double>> h(m / 2 + 1);
  double greatest = 0.0;
  for (std::size_t k = 0; k <= m / 2; ++k) {
    for (std::size_t n = 0; n < options.response->size(); ++n) {
      h[k] += (*options.response)[n] * turn(static_cast<double>(k), static_cast<double>(n) - static_cast<double>(options.zero));
    }
    greatest = std::max(greatest, std::abs(h[k]));
  }
  std::vector<double> result(m, 0.0);
  for (std::size_t k = 0; k <= m / 2; ++k) {
    std::complex<double> sum = 0.0;
    for (std::size_t n = 0; n < m; ++n) sum += row[n] * turn(static_cast<double>(k), static_cast<double>(n));
    const double frequency = static_cast<double>(k) * deconvolved_rate / static_cast<double>(m);
    const double window =
        frequency < options.cutoff.value ? 0.5 + 0.5 * std::cos(std::numbers::pi * frequency / options.cutoff.value) : 0.0;
    sum *= window * std::conj(h[k]) / (std::norm(h[k]) + options.noise * greatest * greatest);
    const double twice = k == 0 || 2 * k == m ? 1.0 : 2.0;
    for (std::size_t n = 0; n < m; ++n) {
      result[n] +=
          twice * (sum * std::conj(turn(static_cast<double>(k), static_cast<double>(n)))).real() / static_cast<double>(m);
    }
  }
  return result;
}

TEST_P(Deconvolution, EqualsItsDefinition) {
  const DeconvolutionOptions options = measured();
  const BlockSpec spec = make_spec(ElementType::float32, 5, deconvolved_samples, deconvolved_samples + 3);
  const TestBlock input(spec);
  std::mt19937 random(2);
  std::normal_distribution<float> noise;
  for (std::size_t n = 0; n < 5 * (deconvolved_samples + 3); ++n) input.as<float>()[n] = noise(random);
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  ASSERT_EQ(result.spec, make_spec(ElementType::float32, 5, deconvolved_samples, deconvolved_samples));
  for (const std::size_t row : {0, 4}) {
    const float* const from = input.as<float>() + row * (deconvolved_samples + 3);
    const std::vector<double> want = plainly_deconvolved(options, {from, from + deconvolved_samples});
    double greatest = 0.0;
    for (const double value : want) greatest = std::max(greatest, std::abs(value));
    for (std::size_t n = 0; n < deconvolved_samples; ++n) {
      // Single precision of transforms of 400 numbers.
      ASSERT_NEAR(result.block->as<float>()[row * deconvolved_samples + n], want[n], 3e-6 * greatest);
    }
  }
}

/// A pulse that a detector has smeared and delayed comes back at its time, and with its size as far as the window lets it.
TEST_P(Deconvolution, BringsAPulseBack) {
  DeconvolutionOptions options = measured();
  options.noise = 1e-6;
  options.cutoff = Hertz(0.5 * deconvolved_rate);
  const auto p = [](double n) { return std::exp(-0.5 * std::pow((n - 200.0) / 12.0, 2.0)) * std::sin(0.6 * (n - 200.0)); };
  const BlockSpec spec = make_spec(ElementType::float32, 1, deconvolved_samples);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < deconvolved_samples; ++n) {
    double sum = 0.0;
    for (std::size_t k = 0; k < options.response->size(); ++k) {
      sum += (*options.response)[k] * p(static_cast<double>(n) - static_cast<double>(k) + static_cast<double>(options.zero));
    }
    input.as<float>()[n] = static_cast<float>(sum);
  }
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  // At 3.8 MHz of 20 the window is 0.91, and bends a little over the pulse's band.
  const double window = 0.5 + 0.5 * std::cos(0.6);
  for (std::size_t n = 0; n < deconvolved_samples; ++n) {
    ASSERT_NEAR(result.block->as<float>()[n], window * p(static_cast<double>(n)), 0.02);
  }
}

TEST_P(Deconvolution, OfAGaussianMovesNothing) {
  DeconvolutionOptions options;
  options.centre = Hertz(3e6);
  options.bandwidth = Hertz(4e6);
  options.sample_rate = Hertz(deconvolved_rate);
  options.cutoff = Hertz(8e6);
  const RowResponse response = deconvolution_response(options, deconvolved_samples);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const double f = static_cast<double>(k) * deconvolved_rate / static_cast<double>(deconvolved_samples);
    const double h = std::pow(0.5, std::pow((f - 3e6) / 2e6, 2.0));
    const double window = f < 8e6 ? 0.5 + 0.5 * std::cos(std::numbers::pi * f / 8e6) : 0.0;
    EXPECT_NEAR(response[k].real(), window * h / (h * h + 0.01), 1e-12);
    EXPECT_EQ(response[k].imag(), 0.0);
  }
  EXPECT_LT(response_at_half_rate(options), 1e-9);
  EXPECT_GT(deconvolution_length(options), 5u);
  // Noise of a hundredth leaves edges of 0.5 MHz about 6.6 MHz, where the response ends: some microseconds.
  EXPECT_LT(deconvolution_length(options), 200u);
}

TEST_P(Deconvolution, RefusesWhatItCannotTake) {
  const auto refusal = [&](auto change) {
    DeconvolutionOptions options = measured();
    change(options);
    return input_error([&] { (void)make(options); });
  };
  using Options = DeconvolutionOptions;
  const auto samples = [](std::vector<double> values) { return std::make_shared<const std::vector<double>>(std::move(values)); };
  EXPECT_EQ(refusal([](Options& o) { o.noise = 0.0; }), "deconvolution stage, noise: found 0; expected 1e-06 to 1");
  EXPECT_EQ(refusal([](Options& o) { o.zero = 60; }), "deconvolution stage, time 0: found sample 60; expected 0 to 59");
  EXPECT_EQ(refusal([&](Options& o) {
              o.response = samples({0.0, 0.0}), o.zero = 0;
            }),
            "deconvolution stage, impulse response: found zeros alone; expected a response");
  EXPECT_EQ(refusal([&](Options& o) { o.response = nullptr; }), "deconvolution stage, bandwidth: found 0 Hz; expected above 0");
}

}  // namespace
}  // namespace echoform::test
