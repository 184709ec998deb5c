// Adaptive weights of pixels against their definitions in double precision, by receivers, from the law's geometry.
#include "stages/beamform/adaptive_beamform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "stages/beamform/beamform.hpp"
#include "tests/beamform/cuda_rows.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/scan_lines/adaptive_reference.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::adaptive_pixels {
namespace {

using test::AlignedLine;
using test::Complex;

constexpr std::size_t elements = 11;
constexpr std::size_t samples = 400;
constexpr std::size_t dead = 4;
constexpr double angle_limit = 50.0;  // degrees: near pixels are heard by few

ImagingPlan plan_of_pixels() {
  Grid grid;
  grid.x = {Metres(-2e-3), Metres(3e-3), 4};
  grid.z = {Metres(1.5e-3), Metres(12e-3), 23};
  ImagingPlan plan = make_plan(elements, samples, grid);
  plan.acquisition.probe.elements[dead].dead = true;
  plan.apodization.window = ApodizationWindow::hann;
  plan.apodization.sides = ApodizationSides::receive;
  plan.apodization.angle_limit = angle_limit;
  return plan;
}

/// The same plan with plane waves instead of elements that fire one by one.
constexpr std::array<double, 3> wave_angles{-0.2, 0.05, 0.3};
constexpr double wave_delay = 1.5e-6;
ImagingPlan plan_of_waves() {
  ImagingPlan plan = plan_of_pixels();
  for (const double angle : wave_angles) {
    plan.acquisition.events.push_back({PlaneWaveEvent{std::sin(angle) / 6320.0, 0.0, Seconds(wave_delay)}, {}});
  }
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
  return plan;
}

/// Rows of the waves and all receivers: of the first elements' firings.
Input input_of_waves(const Signals& signals) {
  std::vector<std::uint32_t> firing;
  for (std::uint32_t k = 0; k < wave_angles.size(); ++k) firing.push_back(k);
  return input_of_firings(signals, firing);
}

/// By column of pixels: what each receiver has there, and its weight; 0: no channel.
std::vector<AlignedLine> channels_of(const ImagingPlan& plan, const Signals& signals) {
  const Grid& grid = plan.grid;
  std::vector<AlignedLine> columns(grid.x.count);
  for (std::size_t column = 0; column < grid.x.count; ++column) {
    AlignedLine& to = columns[column];
    to.values.assign(grid.z.count, std::vector<Complex>(elements));
    to.weights.assign(grid.z.count, std::vector<double>(elements, 0.0));
    const double x = -2e-3 + 5e-3 * static_cast<double>(column) / 3.0;
    for (std::size_t k = 0; k < grid.z.count; ++k) {
      const double z = 1.5e-3 + 10.5e-3 * static_cast<double>(k) / 22.0;
      const auto place = [](std::size_t e) { return (static_cast<double>(e) - 5.0) * 0.6e-3; };
      const auto time = [&](std::size_t e) { return std::hypot(x - place(e), z) / 6320.0; };
      const bool waves = !plan.acquisition.events.empty();
      const auto transmit_time = [&](std::size_t i) {
        return waves ? wave_delay + (x * std::sin(wave_angles[i]) + z * std::cos(wave_angles[i])) / 6320.0 : time(i);
      };
      for (std::size_t j = 0; j < elements; ++j) {
        const double angle = std::atan2(std::abs(x - place(j)), z) * 180.0 / std::numbers::pi;
        if (j == dead || angle > angle_limit) continue;
        to.weights[k][j] = std::pow(std::sin(std::numbers::pi * (static_cast<double>(j) + 0.5) / elements), 2);
        for (std::size_t i = 0; i < (waves ? wave_angles.size() : elements); ++i) {
          const double u = (transmit_time(i) + time(j)) * 40e6;
          if (u < 0.0 || u >= static_cast<double>(samples) - 1.0) continue;
          const auto n = static_cast<std::size_t>(u);
          const double f = u - static_cast<double>(n);
          to.values[k][j] += (1.0 - f) * Complex(signals.at(i, j, n)) + f * Complex(signals.at(i, j, n + 1));
        }
      }
    }
  }
  return columns;
}

/// coherent over total, summed over the points of the window.
double ratio_over(const AdaptiveOptions& options, const AlignedLine& line, std::size_t at,
                  const std::function<std::pair<double, double>(std::size_t)>& of_point) {
  double coherent = 0.0;
  double total = 0.0;
  for (const std::size_t k : test::about(line, at, options.half_window)) {
    const auto [one, other] = of_point(k);
    coherent += one;
    total += other;
  }
  return total > 0.0 ? coherent / total : 0.0;
}

double factor_of(const AdaptiveOptions& options, const AlignedLine& line, std::size_t at) {
  const auto sums = [&](std::size_t k) {
    Complex sum;
    Complex signs;
    double weights = 0.0;
    double squares = 0.0;
    double energy = 0.0;
    for (const std::size_t j : test::heard_at(line, k)) {
      const double w = line.weights[k][j];
      const Complex s = line.values[k][j];
      sum += w * s;
      weights += w;
      squares += w * std::norm(s);
      energy += std::norm(s);
      signs += w * Complex(s.real() > 0.0 ? 1.0 : -1.0, s.imag() > 0.0 ? 1.0 : -1.0);
    }
    return std::tuple(sum, weights, squares, energy, signs);
  };
  if (options.kind == "coherence_factor") {
    return ratio_over(options, line, at, [&](std::size_t k) {
      const auto& [sum, weights, squares, energy, signs] = sums(k);
      return std::pair(std::norm(sum), weights * squares);
    });
  }
  if (options.kind == "sign_coherence_factor") {
    return 1.0 - std::sqrt(1.0 - ratio_over(options, line, at, [&](std::size_t k) {
                             const auto& [sum, weights, squares, energy, signs] = sums(k);
                             return std::pair(0.5 * std::norm(signs), weights * weights);
                           }));
  }
  if (options.kind == "phase_coherence_factor") return test::plain_phase_coherence(options, line, at);
  return ratio_over(options, line, at, [&](std::size_t k) {
    const std::vector<std::size_t> heard = test::heard_at(line, k);
    const std::size_t count = heard.size();
    double low = 0.0;
    double total = 0.0;
    for (std::size_t m = 0; m < count; ++m) {
      Complex sum;
      for (std::size_t n = 0; n < count; ++n) {
        sum += line.values[k][heard[n]] *
               std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(m * n) / static_cast<double>(count));
      }
      total += std::norm(sum);
      if (std::min(m, count - m) <= options.low_frequencies) low += std::norm(sum);
    }
    return std::pair(low, total);
  });
}

double correlation_of(const AdaptiveOptions& options, const AlignedLine& line, std::size_t at) {
  const std::vector<std::size_t> heard = test::heard_at(line, at);
  const std::size_t count = heard.size();
  if (count < 2) return 0.0;
  const auto lags = static_cast<std::size_t>(
      std::clamp(std::round(options.short_lag * static_cast<double>(count)), 1.0, static_cast<double>(count - 1)));
  double sum = 0.0;
  for (std::size_t m = 1; m <= lags; ++m) {
    for (std::size_t n = 0; n + m < count; ++n) {
      Complex product;
      double one = 0.0;
      double other = 0.0;
      for (const std::size_t k : test::about(line, at, options.half_window)) {
        product += line.values[k][heard[n]] * std::conj(line.values[k][heard[n + m]]);
        one += std::norm(line.values[k][heard[n]]);
        other += std::norm(line.values[k][heard[n + m]]);
      }
      if (one * other > 0.0) sum += product.real() / std::sqrt(one * other) / static_cast<double>(count - m);
    }
  }
  return std::max(0.0, sum / static_cast<double>(lags));
}

Complex expected_at(const AdaptiveOptions& options, const AlignedLine& line, std::size_t at, double scale) {
  Complex sum;
  double weights = 0.0;
  for (const std::size_t j : test::heard_at(line, at)) {
    sum += line.weights[at][j] * line.values[at][j];
    weights += line.weights[at][j];
  }
  if (weights == 0.0) return {};
  if (options.kind == "short_lag_spatial_coherence") return correlation_of(options, line, at);
  if (options.kind != "capon") return scale * sum * factor_of(options, line, at);
  AlignedLine turned = line;
  for (std::vector<Complex>& point : turned.values) {
    for (Complex& value : point) value *= Complex(0.0, -1.0);
  }
  return scale * weights * Complex(test::plain_capon(options, line, at), test::plain_capon(options, turned, at));
}

AdaptiveBeamformOptions options_of_pixels(const ImagingPlan& plan, MatrixKind matrix, const AdaptiveOptions& adaptive) {
  if (!plan.acquisition.events.empty()) return {beamform_options(plan, plan_pairs(plan), 0), adaptive};
  return {options_of(plan, matrix), adaptive};
}

/// Whether a sign, or the branch of a phase, hangs on rounding.
bool undecided_at(const AlignedLine& line, std::size_t at, std::size_t half) {
  for (const std::size_t k : test::about(line, at, half)) {
    for (const std::size_t j : test::heard_at(line, k)) {
      const Complex& s = line.values[k][j];
      if (std::abs(s.real()) < 1e-3 || std::abs(s.imag()) < 1e-3) return true;
    }
  }
  return false;
}

std::vector<std::complex<float>> on_the_cpu(const AdaptiveBeamformOptions& options, const Input& input) {
  const auto backend = make_cpu_backend(options.adaptive.half_window == 0 ? 1 : 3);
  const auto queue = backend->make_queue();
  const auto stage = make_adaptive_beamform_cpu(options, *backend);
  const BlockSpec output = stage->prepare(input.spec);
  EXPECT_EQ(output.rows * output.columns, options.sum.grid.pixels());
  std::vector<std::complex<float>> image(options.sum.grid.pixels());
  for (int frame = 0; frame < 2; ++frame) stage->process({input.data.data()}, {image.data()}, *queue);
  queue->finish();
  return image;
}

class AdaptivePixelsOn : public testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (GetParam() == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
  [[nodiscard]] static std::vector<std::complex<float>> image_of(const AdaptiveBeamformOptions& options, const Input& input) {
    if (GetParam() == BackendKind::cuda) return adaptive_beamform_cuda(options, input.spec, input.data);
    return on_the_cpu(options, input);
  }
};
INSTANTIATE_TEST_SUITE_P(All, AdaptivePixelsOn, testing::Values(BackendKind::cpu, BackendKind::cuda),
                         [](const auto& of) { return of.param == BackendKind::cuda ? "cuda" : "cpu"; });

TEST_P(AdaptivePixelsOn, EqualTheirDefinitions) {
  for (const auto& [matrix, waves] :
       {std::pair(MatrixKind::full, false), std::pair(MatrixKind::half, false), std::pair(MatrixKind::full, true)}) {
    SCOPED_TRACE(waves ? "plane waves" : matrix == MatrixKind::full ? "full matrix" : "half matrix");
    const ImagingPlan plan = waves ? plan_of_waves() : plan_of_pixels();
    Signals signals(elements, samples, 5, matrix == MatrixKind::half);
    for (std::size_t other = 0; other < elements; ++other) {
      for (std::size_t n = 0; n < samples; ++n) signals.at(other, dead, n) = signals.at(dead, other, n) = 0.0F;
    }
    const Input input = waves ? input_of_waves(signals) : Input(signals, matrix);
    const std::vector<AlignedLine> columns = channels_of(plan, signals);
    for (const AdaptiveKind& kind : adaptive_kinds()) {
      if (kind.sums_of == ChannelSums::none || kind.result == AdaptiveResult::doubled) continue;
      for (const std::size_t half : {0U, 2U}) {
        AdaptiveOptions adaptive;
        adaptive.kind = kind.name;
        adaptive.half_window = kind.uses_window ? half : 0;
        adaptive.short_lag = 0.3;
        const AdaptiveBeamformOptions options = options_of_pixels(plan, matrix, adaptive);
        const std::vector<std::complex<float>> image = image_of(options, input);
        double greatest = 0.0;
        for (const std::complex<float>& value : image) greatest = std::max<double>(greatest, std::abs(value));
        EXPECT_GT(greatest, 0.0);
        std::size_t compared = 0;
        for (std::size_t pixel = 0; pixel < image.size(); ++pixel) {
          const std::size_t column = pixel % plan.grid.x.count;
          const std::size_t k = pixel / plan.grid.x.count;
          const AlignedLine& line = columns[column];
          const bool branches = kind.name == "sign_coherence_factor" || kind.name == "phase_coherence_factor";
          if (branches && undecided_at(line, k, adaptive.half_window)) continue;
          ++compared;
          const Complex expected = expected_at(adaptive, line, k, static_cast<double>(options.sum.scale));
          // Sums of single precision, and delays to 1e-4 of a sample at a radian each.
          ASSERT_NEAR(std::abs(Complex(image[pixel]) - expected), 0.0, 3e-4 * greatest)
              << kind.name << ", window " << half << ", column " << column << ", point " << k;
        }
        EXPECT_GT(compared, plan.grid.pixels() / 2) << kind.name;
      }
    }
  }
}

TEST_P(AdaptivePixelsOn, WithoutTheFactorAreThePlainImage) {
  const ImagingPlan plan = plan_of_pixels();
  const Signals signals(elements, samples, 6, false);
  const Input input(signals, MatrixKind::full);
  AdaptiveOptions adaptive;
  adaptive.kind = "phase_coherence_factor";
  adaptive.sensitivity = 0.0;
  ImagingPlan alive = plan;
  alive.acquisition.probe.elements[dead].dead = false;
  const AdaptiveBeamformOptions options = options_of_pixels(alive, MatrixKind::full, adaptive);
  const auto backend = make_cpu_backend(2);
  const auto queue = backend->make_queue();
  const auto plain = make_beamform_cpu(options.sum, *backend);
  static_cast<void>(plain->prepare(input.spec));
  std::vector<std::complex<float>> images[2] = {image_of(options, input), std::vector<std::complex<float>>(plan.grid.pixels())};
  plain->process({input.data.data()}, {images[1].data()}, *queue);
  queue->finish();
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t pixel = 0; pixel < images[0].size(); ++pixel) {
    error += std::norm(Complex(images[0][pixel]) - Complex(images[1][pixel]));
    norm += std::norm(Complex(images[1][pixel]));
  }
  // Both to single precision.
  EXPECT_LT(std::sqrt(error / norm), 2e-5);
}

TEST(AdaptivePixels, RefuseWhatPixelsCannotHave) {
  const ImagingPlan plan = plan_of_pixels();
  const auto backend = make_cpu_backend(1);
  const auto refusal = [&](const AdaptiveBeamformOptions& options) {
    return test::input_error([&] { static_cast<void>(make_adaptive_beamform_cpu(options, *backend)); });
  };
  AdaptiveOptions adaptive;
  adaptive.kind = "f_dmas";
  EXPECT_EQ(refusal(options_of_pixels(plan, MatrixKind::full, adaptive)),
            "adaptive-beamform stage, kind: found \"f_dmas\"; expected a weight of pixels");
  ImagingPlan both = plan;
  both.apodization.sides = ApodizationSides::both;
  adaptive.kind = "coherence_factor";
  EXPECT_EQ(refusal(options_of_pixels(both, MatrixKind::half_summed, adaptive)),
            "adaptive-beamform stage, rows: found sums of both directions; expected rows of one receiver each");
}

}  // namespace
}  // namespace echoform::adaptive_pixels
