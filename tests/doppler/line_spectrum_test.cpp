// Spectra of a gate, against Fourier sums in double precision and against velocities of echoes.
#include "stages/line_spectrum/line_spectrum.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "tests/doppler/ensembles.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

double hann_of(std::size_t n, std::size_t samples) {
  const double s = std::sin(std::numbers::pi * (static_cast<double>(n) + 0.5) / static_cast<double>(samples));
  return s * s;
}

/// The amplitude of spectrum s at a turn of `theta` from sample to sample, in a Hann window.
double amplitude_at(const Ensembles& all, const LineSpectrumOptions& options, std::size_t s, double theta) {
  double weights = 0.0;
  for (std::size_t n = 0; n < options.samples; ++n) weights += hann_of(n, options.samples);
  double power = 0.0;
  for (std::size_t k = options.first_range; k < options.first_range + options.ranges; ++k) {
    Sample sum;
    for (std::size_t n = 0; n < options.samples; ++n) {
      sum += hann_of(n, options.samples) / weights * all.at(options.line, s * options.hop + n, k) *
             std::polar(1.0, std::remainder(-theta * static_cast<double>(n), 2.0 * std::numbers::pi));
    }
    power += std::norm(sum);
  }
  return std::sqrt(power / static_cast<double>(options.ranges));
}

double theta_of(std::size_t k, std::size_t bins) {
  return std::numbers::pi * (2.0 * static_cast<double>(k) / static_cast<double>(bins) - 1.0);
}

class LineSpectrum : public StageTest {
 protected:
  StageResult spectra(const Ensembles& all, const LineSpectrumOptions& options,
                      ElementType type = ElementType::planar_complex64) {
    const BlockSpec spec = spec_of(all, type, all.ranges + 3);
    const auto stage = make_stage(line_spectrum_stage, options, backend());
    StageResult result = run(*stage, spec, block_of(all, spec), 2);
    const StageStatement stated = line_spectrum_stage.state(options, spec, {backend().kind(), threads()});
    EXPECT_EQ(stated.output, result.spec);
    EXPECT_EQ(on_cuda() ? stated.memory.device : stated.memory.host, stage->bytes());
    const StageResult reference = run_on_one_thread(*make_line_spectrum_cpu(options), spec, block_of(all, spec));
    EXPECT_EQ(std::memcmp(reference.block->as<std::byte>(), result.block->as<std::byte>(), result.spec.bytes()), 0);
    return result;
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(LineSpectrum);

LineSpectrumOptions spectrum_options(std::size_t ensemble, std::size_t samples, std::size_t hop, std::size_t bins) {
  LineSpectrumOptions options;
  options.ensemble = ensemble;
  options.samples = samples;
  options.hop = hop;
  options.bins = bins;
  options.window.kind = WindowKind::hann;
  return options;
}

TEST_P(LineSpectrum, IsWhatTheSumsSay) {
  const Ensembles all = random_ensembles(3, 21, 40, 5);
  for (const ElementType type : {ElementType::complex64, ElementType::planar_complex64}) {
    // Bins that are few, many and odd; gates of one range, more than the GPU has at once, and all.
    for (const auto& [samples, hop, bins] :
         {std::tuple<std::size_t, std::size_t, std::size_t>{21, 1, 64}, {8, 3, 33}, {16, 5, 200}}) {
      for (const auto& [first, ranges] : {std::pair<std::size_t, std::size_t>{7, 1}, {11, 19}, {0, 40}}) {
        LineSpectrumOptions options = spectrum_options(21, samples, hop, bins);
        options.line = 1;
        options.first_range = first;
        options.ranges = ranges;
        const StageResult found = spectra(all, options, type);
        ASSERT_EQ(found.spec.rows, (21 - samples) / hop + 1);
        ASSERT_EQ(found.spec.columns, bins);
        for (std::size_t s = 0; s < found.spec.rows; ++s) {
          for (std::size_t k = 0; k < bins; ++k) {
            // Sums of 21 terms of about 1, weighed by a 21st, each rounded to 6e-8, and of their squares.
            ASSERT_NEAR(found.block->as<float>()[s * bins + k], amplitude_at(all, options, s, theta_of(k, bins)), 2e-6);
          }
        }
      }
    }
  }
}

/// An echo from r - v t: its peak lies at v, towards the probe above 0, with its amplitude; faster ones wrap round.
TEST_P(LineSpectrum, PeaksAtTheVelocityOfAnEcho) {
  constexpr double c = 1540.0;
  constexpr double f = 5e6;
  constexpr double rate = 4000.0;
  constexpr double nyquist = c * rate / (4.0 * f);  // 0.308 m/s
  constexpr std::size_t bins = 256;
  for (const double velocity : {0.2, -0.1, 0.0, 0.29, 0.4, -0.5}) {
    Ensembles all{1, 32, 3};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t n = 0; n < 32; ++n) {
        const double range = 0.03 + 1e-4 * static_cast<double>(k) - velocity * static_cast<double>(n) / rate;
        all.at(0, n, k) = std::polar(2.0, std::remainder(-2.0 * std::numbers::pi * f * 2.0 * range / c, 2.0 * std::numbers::pi));
      }
    }
    LineSpectrumOptions options = spectrum_options(32, 24, 4, bins);
    options.ranges = 3;
    const StageResult found = spectra(all, options);
    ASSERT_EQ(found.spec.rows, 3U);
    for (std::size_t s = 0; s < 3; ++s) {
      const float* const row = found.block->as<float>() + s * bins;
      const auto peak = static_cast<std::size_t>(std::max_element(row, row + bins) - row);
      const double shown = nyquist * (2.0 * static_cast<double>(peak) / bins - 1.0);
      // Half a bin, and what single precision may take for the greater of two neighbours.
      EXPECT_NEAR(std::remainder(shown - velocity, 2.0 * nyquist), 0.0, 1.01 * nyquist / bins) << velocity;
      EXPECT_NEAR(row[peak], 2.0, 0.01) << "of a peak that may lie half a bin away";
    }
  }
}

TEST_P(LineSpectrum, FollowsAnotherGate) {
  const Ensembles all = random_ensembles(4, 10, 30, 6);
  const BlockSpec spec = spec_of(all, ElementType::complex64, 30);
  LineSpectrumOptions options = spectrum_options(10, 10, 1, 32);
  const auto stage = make_stage(line_spectrum_stage, options, backend());
  const StageResult found = run(*stage, spec, block_of(all, spec));
  options.line = 3;
  options.first_range = 20;
  options.ranges = 10;
  ASSERT_TRUE(stage->accepts(options));
  stage->retune(options, queue());
  run_again(*stage, block_of(all, spec), found);
  const StageResult expected = spectra(all, options, ElementType::complex64);
  EXPECT_EQ(std::memcmp(found.block->as<float>(), expected.block->as<float>(), expected.spec.bytes()), 0);
  options.bins = 64;
  EXPECT_FALSE(stage->accepts(options));
}

TEST_P(LineSpectrum, RefusesWhatThereIsNot) {
  const auto refused = [&](const auto& change) {
    LineSpectrumOptions options = spectrum_options(10, 8, 2, 32);
    change(options);
    return input_error(
        [&] { (void)make_stage(line_spectrum_stage, options, backend())->prepare(make_spec(ElementType::complex64, 20, 30)); });
  };
  EXPECT_EQ(refused([](auto& o) { o.line = 2; }), "line-spectrum stage, line: found 2; expected one of 2");
  EXPECT_EQ(refused([](auto& o) { o.first_range = 30; }),
            "line-spectrum stage, gate: found 1 ranges from 30 on; expected some of 30");
  EXPECT_EQ(refused([](auto& o) { o.samples = 11; }), "line-spectrum stage, samples: found 11; expected 2 to 10");
  EXPECT_EQ(refused([](auto& o) { o.hop = 0; }), "line-spectrum stage, hop: found 0; expected 1 or more");
  EXPECT_EQ(refused([](auto& o) { o.bins = 7; }), "line-spectrum stage, bins: found 7; expected 8 to 512");
  EXPECT_EQ(refused([](auto& o) { o.ensemble = 3; }),
            "line-spectrum stage, rows: found 20; expected a multiple of the ensemble, 3");
}

}  // namespace
}  // namespace echoform::test
