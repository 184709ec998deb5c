// Demodulation against the direct convolution in double precision, and the sum along lines of complex samples against a plain
// one.
#include "stages/demodulation/demodulation.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "stages/demodulation/demodulation_tiles.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test::baseband {
namespace {

using Complex = std::complex<double>;
constexpr double turn = 2.0 * std::numbers::pi;

class Demodulation : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const DemodulationOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_demodulation_cuda(options, backend());
#endif
    return make_demodulation_cpu(options, threads(), level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Demodulation);

DemodulationOptions options_of(std::size_t decimation) {
  DemodulationOptions options;
  options.frequency = Hertz(5.1e6);
  options.sample_rate = Hertz(40e6);
  options.start_time = Seconds(3.21e-5);
  options.decimation = decimation;
  options.pass = Hertz(2.5e6);
  options.stop = Hertz(5e6);
  return options;
}

Complex plain(const DemodulationOptions& options, const std::vector<double>& s, std::size_t m) {
  const std::vector<double> h = demodulation_filter(options);
  const auto half = static_cast<std::ptrdiff_t>(h.size() / 2);
  Complex sum = 0.0;
  for (std::ptrdiff_t k = -half; k <= half; ++k) {
    const auto n = static_cast<std::ptrdiff_t>(m * options.decimation) - k;
    if (n < 0 || n >= static_cast<std::ptrdiff_t>(s.size())) continue;
    const double t = options.start_time.value + static_cast<double>(n) / options.sample_rate.value;
    sum += h[static_cast<std::size_t>(k + half)] * 2.0 * s[static_cast<std::size_t>(n)] *
           std::polar(1.0, turn * options.filter_offset.value / options.sample_rate.value * static_cast<double>(k)) *
           std::polar(1.0, -turn * options.frequency.value * t);
  }
  return sum;
}

TEST_P(Demodulation, EqualsTheDirectConvolution) {
  std::mt19937 random(4);
  std::normal_distribution<double> noise;
  for (const std::size_t decimation : {1, 2, 3, 5}) {
    // On a GPU the last one is of several tiles of up to 512 kept samples.
    for (const std::size_t samples : {7, 64, 331, 1700}) {
      DemodulationOptions options = options_of(decimation);
      if (decimation == 3) options.filter_offset = Hertz(1.3e6);
      const BlockSpec spec = make_spec(ElementType::float32, 5, samples, samples + 3);
      const TestBlock input(spec);
      std::vector<std::vector<double>> rows(5);
      for (std::size_t row = 0; row < 5; ++row) {
        for (std::size_t n = 0; n < samples; ++n) {
          input.as<float>()[row * (samples + 3) + n] = static_cast<float>(noise(random));
          rows[row].push_back(input.as<float>()[row * (samples + 3) + n]);
        }
      }
      const auto stage = make(options);
      const StageResult result = run(*stage, spec, input, 2);
      ASSERT_EQ(result.spec.columns, (samples + decimation - 1) / decimation);
      for (std::size_t row = 0; row < 5; ++row) {
        for (std::size_t m = 0; m < result.spec.columns; ++m) {
          const float* const b = result.block->as<float>() + 2 * (row * result.spec.row_stride + m);
          // Sums of some 40 products of noise, each rounded to 6e-8.
          ASSERT_NEAR(std::abs(Complex(b[0], b[1]) - plain(options, rows[row], m)), 0.0, 3e-6);
        }
      }
    }
  }
}

TEST_P(Demodulation, ReadsReceivedSamplesWithAGainByTime) {
  const RawFrame frame = make_raw_frame(SampleEncoding::int16, 4, 200, 2, 5);
  DemodulationOptions options = options_of(3);
  options.sample_scale = 1e-3;
  auto gain = std::make_shared<std::vector<float>>();
  for (std::size_t n = 0; n < 200; ++n) gain->push_back(0.5F + 0.01F * static_cast<float>(n));
  options.time_gain = gain;
  const auto stage = make(options);
  const StageResult result = run(*stage, frame.spec, *frame.block);
  EXPECT_TRUE(stage->facts().quality.has_value());
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t row = 0; row < 4; ++row) {
    std::vector<double> s;
    for (std::size_t n = 0; n < 200; ++n) s.push_back(1e-3 * (*gain)[n] * frame.at(row, n));
    for (std::size_t m = 0; m < result.spec.columns; ++m) {
      const float* const b = result.block->as<float>() + 2 * (row * result.spec.row_stride + m);
      error += std::norm(Complex(b[0], b[1]) - plain(options, s, m));
      norm += std::norm(plain(options, s, m));
    }
  }
  EXPECT_LT(std::sqrt(error / norm), 1e-6);
}

/// Rows longer than a block of a GPU takes at a time, and every way in which samples come; filters of most taps and decimations.
TEST_P(Demodulation, IsTheSameBitsEverywhereAndCountsEachSampleOnce) {
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    for (const std::size_t decimation : {1, 3, 4, 64}) {
      const RawFrame frame = make_raw_frame(encoding, 3, 5001, 2, 9);
      DemodulationOptions options = options_of(decimation);
      if (decimation == 64) options.stop = options.pass + Hertz(40e6 * 3.63 / 4095.0);
      options.sample_scale = 0.37;
      auto gain = std::make_shared<std::vector<float>>();
      for (std::size_t n = 0; n < 5001; ++n) gain->push_back(1.0F + 0.001F * static_cast<float>(n));
      if (decimation != 3) options.time_gain = gain;
      const auto stage = make(options);
      const auto plain = make_demodulation_cpu(options, 1, SimdLevel::portable);
      const StageResult want = run_on_one_thread(*plain, frame.spec, *frame.block);
      const StageResult result = run(*stage, frame.spec, *frame.block, 2);
      BlockSpec spec = result.spec;
      spec.trailer = 0;  // facts of the frame, on CUDA
      ASSERT_EQ(spec, want.spec);
      EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), spec.bytes()), 0) << decimation;
      const auto quality = stage->facts().quality.value();
      EXPECT_EQ(quality.clipped, frame.clipped) << decimation;
      EXPECT_EQ(quality.invalid, frame.invalid) << decimation;
    }
  }
}

TEST_P(Demodulation, GoesOnWithAnotherGain) {
  const RawFrame frame = make_raw_frame(SampleEncoding::int16, 3, 2000, 0, 11);
  DemodulationOptions options = options_of(4);
  options.time_gain = std::make_shared<std::vector<float>>(2000, 2.0F);
  const auto stage = make(options);
  const StageResult result = run(*stage, frame.spec, *frame.block);
  auto other = std::make_shared<std::vector<float>>();
  for (std::size_t n = 0; n < 2000; ++n) other->push_back(0.25F + 0.001F * static_cast<float>(n));
  options.time_gain = other;
  ASSERT_TRUE(stage->accepts(options));
  stage->retune(options, queue());
  run_again(*stage, *frame.block, result);
  const StageResult want = run_on_one_thread(*make_demodulation_cpu(options, 1), frame.spec, *frame.block);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), want.spec.bytes()), 0);
  // Anything else makes another stage.
  options.decimation = 5;
  EXPECT_FALSE(stage->accepts(options));
  options.decimation = 4;
  options.time_gain = nullptr;
  EXPECT_FALSE(stage->accepts(options));
}

/// The pass band's ripple and the stop band's attenuation are what the header says, 60 dB; a little more ripple at the edges.
TEST(DemodulationFilter, PassesAndStops) {
  const DemodulationOptions options = options_of(4);
  const std::vector<double> h = demodulation_filter(options);
  const auto half = static_cast<double>(h.size() / 2);
  for (double frequency = 0.0; frequency <= 20e6; frequency += 0.05e6) {
    Complex sum = 0.0;
    for (std::size_t k = 0; k < h.size(); ++k) {
      sum += h[k] * std::polar(1.0, -turn * frequency / 40e6 * (static_cast<double>(k) - half));
    }
    const double ideal = frequency >= 5e6 ? 0.0 : 1.0;
    if (frequency <= 2.5e6 || frequency >= 5e6) {
      EXPECT_NEAR(std::abs(sum), ideal, 1.1e-3) << frequency;
    }
  }
}

/// What a block of a GPU has in shared memory is what each tap of each of its kept samples reads, and it fits.
TEST(DemodulationTiles, HoldWhatTheirTapsReach) {
  for (const std::size_t decimation : {1, 2, 3, 4, 7, 33, 64}) {
    for (const std::size_t columns : {16, 80, 512, 4096}) {
      for (const double transition : {10e6, 2e6, 40e6 * 3.63 / 4095.0}) {
        DemodulationOptions options = options_of(decimation);
        options.stop = options.pass + Hertz(transition);
        const DemodulationTile tile = demodulation_tile(options, columns);
        ASSERT_LE(tile.floats * sizeof(float), 48'000U);
        ASSERT_EQ(tile.kept % 32, 0U);
        ASSERT_LE(tile.threads, 128U);
        ASSERT_GE(tile.threads * demodulation_outputs, tile.kept);
        // Places of the sample i behind the tile's first one, as a block fills them.
        std::vector<std::ptrdiff_t> behind(tile.floats, -1'000'000);
        const std::size_t width = tile.layout.lead + tile.kept + tile.layout.lead;
        for (std::size_t i = 0; i < decimation * width; ++i) {
          behind.at(i % decimation * tile.layout.pitch + i / decimation) =
              static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(decimation * tile.layout.lead);
        }
        const std::vector<std::ptrdiff_t> offsets = demodulation_taps(options, tile.layout).offsets;
        const auto half = static_cast<std::ptrdiff_t>(offsets.size() / 2);
        for (std::size_t m = 0; m < tile.threads * demodulation_outputs; ++m) {
          for (std::size_t tap = 0; tap < offsets.size(); ++tap) {
            const auto place = static_cast<std::size_t>(offsets[tap] + static_cast<std::ptrdiff_t>(m));
            ASSERT_LT(place, tile.floats);
            if (m >= tile.kept) continue;
            ASSERT_EQ(behind[place], static_cast<std::ptrdiff_t>(m * decimation) + static_cast<std::ptrdiff_t>(tap) - half);
          }
        }
      }
    }
  }
}

TEST(DemodulationOptions, OutOfRangeAreTold) {
  DemodulationOptions options = options_of(2);
  EXPECT_EQ(input_error([&] { validate(options); }), "");
  options.decimation = 65;
  EXPECT_EQ(input_error([&] { validate(options); }), "demodulation stage, decimation: found 65; expected 1 to 64");
  options = options_of(2);
  options.filter_offset = Hertz(-6e6);
  EXPECT_EQ(input_error([&] { validate(options); }),
            "demodulation stage, middle of the pass band: found -900000; expected above 0 Hz and below half the sample rate");
  options = options_of(2);
  options.stop = options.pass;
  EXPECT_EQ(input_error([&] { validate(options); }),
            "demodulation stage, stop band: found 2500000; expected above the pass band, at most half the sample rate");
}

class ComplexScanLines : public StageTest {};
ECHOFORM_ALL_IMPLEMENTATIONS(ComplexScanLines);

/// Three receivers, two lines of one event; samples turn slowly, so that an error of a delay is no error of the rest.
TEST_P(ComplexScanLines, EqualThePlainSumWithItsPhases) {
  constexpr double rate = 10e6;
  constexpr double c = 1540.0;
  constexpr double start = 2.3e-6;
  constexpr double fd = 4.9e6;
  constexpr std::size_t samples = 600;
  constexpr std::size_t ranges = 333;
  auto set = std::make_shared<LineSet>();
  for (const double x : {-4.1e-3, 0.3e-3, 9.7e-3}) set->elements.push_back({Metres(x), Metres(0.1e-3), Metres(0.0)});
  set->events.push_back({0, {0, 1, 2}});
  set->ranges = {Metres(1e-3), Metres(0.1e-3), ranges};
  for (const double angle : {-0.3, 0.4}) {
    set->lines.push_back({0, {Metres(0.2e-3), Metres(0.0), Metres(0.0)}, {std::sin(angle), 0.0, std::cos(angle)}});
    for (std::size_t k = 0; k < ranges; ++k) set->transmit_times.push_back(1.1 * set->ranges.at(k).value / c);
    set->weight_tables.insert(set->weight_tables.end(), {0, 1, 0});
  }
  for (std::size_t k = 0; k < 2 * ranges; ++k) set->weights.push_back(k < ranges ? 0.7F : k < ranges + 100 ? 0.0F : 0.3F);
  std::vector<std::vector<Complex>> rows(3);
  const BlockSpec spec = make_spec(ElementType::complex64, 3, samples, samples + 2);
  const TestBlock input(spec);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t n = 0; n < samples; ++n) {
      const Complex value =
          std::polar(1.0 + 0.1 * static_cast<double>(row), 0.05 * static_cast<double>(n) + static_cast<double>(row));
      float* const z = input.as<float>() + 2 * (row * (samples + 2) + n);
      z[0] = static_cast<float>(value.real());
      z[1] = static_cast<float>(value.imag());
      rows[row].push_back({z[0], z[1]});
    }
  }
  for (const char* const kind : {"nearest", "linear", "windowed_sinc"}) {
    ScanLinesOptions options;
    options.lines = set;
    options.velocity = MetresPerSecond(c);
    options.sample_rate = Hertz(rate);
    options.start_time = Seconds(start);
    options.gate = {0, samples};
    options.filter.kind = kind;
    options.demodulated = Hertz(fd);
    const DelayFilter filter = make_delay_filter(options.filter);
    const auto stage =
        on_cuda() ? make_stage(scan_lines_stage, options, backend()) : make_scan_lines_cpu(options, threads(), level());
    const StageResult result = run(*stage, spec, input, 2);
    ASSERT_EQ(result.spec.type, ElementType::complex64);
    std::size_t off = 0;
    for (std::size_t line = 0; line < 2; ++line) {
      for (std::size_t k = 0; k < ranges; ++k) {
        const double r = set->ranges.at(k).value;
        const ImageLine& along = set->lines[line];
        Complex sum = 0.0;
        double weights = 0.0;
        for (std::size_t j = 0; j < 3; ++j) {
          const double way =
              std::hypot(along.origin.x.value + r * along.direction.x - set->elements[j].x.value, 0.1e-3, r * along.direction.z);
          const double tau = set->transmit_times[line * ranges + k] + way / c;
          const double w = set->weights[(j == 1 ? ranges : 0) + k];
          weights += w;
          sum += w * evaluate(filter, std::span<const Complex>(rows[j]), (tau - start) * rate) * std::polar(1.0, turn * fd * tau);
        }
        const float* const a = result.block->as<float>() + 2 * (line * result.spec.row_stride + k);
        // Phases to 1e-4 rad, places to 1e-4 of a sample, which are 5e-6 of these samples.
        if (std::abs(Complex(a[0], a[1]) - sum / weights) > 1.5e-4) ++off;
      }
    }
    // A place that lies between two samples to rounding may have either, and so may the ends of the rows.
    EXPECT_LE(off, std::string_view(kind) == "nearest" ? 5U : 0U) << kind;
  }
}

}  // namespace
}  // namespace echoform::test::baseband
