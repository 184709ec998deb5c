// Adaptive weights along lines against their definitions in double precision, and what must hold of them.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "stages/scan_lines/scan_lines.hpp"
#include "tests/scan_lines/adaptive_reference.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double rate = 40e6;
constexpr double c = 1540.0;
constexpr std::size_t samples = 420;
constexpr std::size_t elements = 17;
constexpr std::size_t dead = 5;    // holds zeros
constexpr std::size_t absent = 9;  // is not heard at all
constexpr std::size_t ranges = 301;

/// Two lines of one event whose aperture grows from nothing over one element to all, Hann-like.
std::shared_ptr<LineSet> growing_lines() {
  auto set = std::make_shared<LineSet>();
  set->events.push_back({0, {}});
  for (std::uint32_t e = 0; e < elements; ++e) {
    set->elements.push_back({Metres(0.2e-3 * (static_cast<double>(e) - 8.0)), Metres(0.0), Metres(0.0)});
    set->events[0].receivers.push_back(e);
  }
  set->ranges = {Metres(0.4e-3), Metres(0.5 * c / rate), ranges};
  for (const double angle : {0.0, 0.3}) {
    set->lines.push_back({0, {Metres(0.0), Metres(0.0), Metres(0.0)}, {std::sin(angle), 0.0, std::cos(angle)}});
    for (std::size_t k = 0; k < ranges; ++k) set->transmit_times.push_back(set->ranges.at(k).value / c);
  }
  for (std::size_t e = 0; e < elements; ++e) {
    for (std::size_t k = 0; k < ranges; ++k) {
      const double open = 0.08 * (static_cast<double>(k) - 20.0);
      const double off = std::abs(static_cast<double>(e) - 8.0) + 0.5;
      set->weights.push_back(off < open ? static_cast<float>(std::pow(std::cos(1.4 * off / open), 2)) : 0.0F);
    }
  }
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::uint32_t e = 0; e < elements; ++e) set->weight_tables.push_back(e == absent ? LineSet::unheard : e);
  }
  return set;
}

/// Echoes that agree in part: one tone of all elements, and another one of each. Smooth, so that an error of 1e-4 of a sample is
/// one of 1e-4.
std::vector<double> partly_coherent_rows() {
  std::vector<double> rows;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> phase(0.0, 6.28);
  for (std::size_t row = 0; row < elements; ++row) {
    const double own = phase(random);
    const double slope = 0.02 * phase(random);
    for (std::size_t n = 0; n < samples; ++n) {
      const auto t = static_cast<double>(n);
      rows.push_back(row == dead ? 0.0 : std::sin(0.75 * t) + 1.2 * std::sin((0.7 + slope) * t + own));
    }
  }
  return rows;
}

/// By the DFT of the row, term by term.
std::vector<double> quadrature_of(const double* row) {
  std::vector<Complex> roots(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    roots[n] = std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(samples));
  }
  std::vector<double> quadrature(samples, 0.0);
  for (std::size_t m = 1; m < samples / 2; ++m) {
    Complex bin;
    for (std::size_t n = 0; n < samples; ++n) bin += row[n] * std::conj(roots[m * n % samples]);
    for (std::size_t n = 0; n < samples; ++n) {
      quadrature[n] += 2.0 / static_cast<double>(samples) * (bin * roots[m * n % samples]).imag();
    }
  }
  return quadrature;
}

std::vector<AlignedLine> aligned(const LineSet& set, const std::vector<double>& rows) {
  std::vector<double> quadrature;
  for (std::size_t row = 0; row < elements; ++row) {
    const std::vector<double> one = quadrature_of(rows.data() + row * samples);
    quadrature.insert(quadrature.end(), one.begin(), one.end());
  }
  std::vector<AlignedLine> lines;
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    AlignedLine& to = lines.emplace_back();
    to.values.assign(ranges, std::vector<Complex>(elements));
    to.weights.assign(ranges, std::vector<double>(elements));
    for (std::size_t k = 0; k < ranges; ++k) {
      const double r = set.ranges.at(k).value;
      for (std::size_t e = 0; e < elements; ++e) {
        const double way = std::hypot(r * set.lines[line].direction.x - set.elements[e].x.value, r * set.lines[line].direction.z);
        const double u = (set.transmit_times[line * ranges + k] + way / c) * rate;
        to.weights[k][e] = e == absent ? 0.0 : set.weights[e * ranges + k];
        if (u < 0.0 || u >= static_cast<double>(samples) - 1.0) continue;
        const auto n = static_cast<std::size_t>(u);
        const double f = u - static_cast<double>(n);
        const std::size_t at = e * samples + n;
        to.values[k][e] = {(1.0 - f) * rows[at] + f * rows[at + 1], (1.0 - f) * quadrature[at] + f * quadrature[at + 1]};
      }
    }
  }
  return lines;
}

/// Where a sign, or the branch of a phase, hangs on rounding.
bool undecided(const AlignedLine& line, std::size_t range, std::size_t half) {
  for (const std::size_t k : about(line, range, half)) {
    for (const std::size_t n : heard_at(line, k)) {
      const Complex& s = line.values[k][n];
      if (n != dead && (std::abs(s.real()) < 2e-3 || std::abs(s.imag()) < 2e-3)) return true;
    }
  }
  return false;
}

ScanLinesOptions options_of(std::shared_ptr<const LineSet> set, std::string_view kind, std::size_t half) {
  ScanLinesOptions options;
  options.lines = std::move(set);
  options.velocity = MetresPerSecond(c);
  options.sample_rate = Hertz(rate);
  options.gate = {0, samples};
  options.adaptive.kind = kind;
  options.adaptive.half_window = half;
  return options;
}

TestBlock block_of(const BlockSpec& spec, const std::vector<double>& rows) {
  TestBlock block(spec);
  for (std::size_t row = 0; row < spec.rows; ++row) {
    for (std::size_t n = 0; n < spec.columns; ++n) {
      block.as<float>()[row * stride_of(spec) + n] = static_cast<float>(rows[row * spec.columns + n]);
    }
  }
  return block;
}

class AdaptiveLinesTest : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const ScanLinesOptions& options) {
    if (on_cuda()) return make_stage(scan_lines_stage, options, backend());
    return make_scan_lines_cpu(options, threads(), level());
  }
  /// Whether the backend has it.
  [[nodiscard]] bool has(const AdaptiveKind& kind) const { return !on_cuda() || is_on_cuda(kind); }
};
INSTANTIATE_TEST_SUITE_P(All, AdaptiveLinesTest, testing::ValuesIn([] {
                           std::vector<Implementation> some;
                           for (const Implementation& one : implementations()) {
                             if (one.threads != 3) some.push_back(one);
                           }
                           return some;
                         }()),
                         implementation_name);

TEST_P(AdaptiveLinesTest, EqualTheirDefinitions) {
  const auto set = growing_lines();
  const std::vector<double> rows = partly_coherent_rows();
  static const std::vector<AlignedLine> lines = aligned(*set, rows);
  const BlockSpec spec = make_spec(ElementType::float32, elements, samples);
  const TestBlock input = block_of(spec, rows);
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (!has(kind)) continue;
    for (const std::size_t half : {0UL, 4UL}) {
      for (const bool normalise : {true, false}) {
        ScanLinesOptions options = options_of(set, kind.name, half);
        options.normalise = normalise;
        options.adaptive.low_frequencies = half == 0 ? 1 : 3;
        options.adaptive.short_lag = half == 0 ? 0.2 : 1.0;
        options.adaptive.subarray = half == 0 ? 0.5 : 0.4;
        const auto stage = make(options);
        const StageResult result = run(*stage, spec, input, 2);
        ASSERT_EQ(result.spec.row_stride, kind.result == AdaptiveResult::image ? ranges : 304U);
        // What cuFFT works in is known of plans alone.
        if (!on_cuda() || !kind.analytic) {
          EXPECT_LE(stage->bytes(), on_cuda() ? scan_lines_device_bytes(options, spec) : scan_lines_bytes(options, threads()));
        }
        // Delays are right to 1e-4 of a sample, and so are channels of amplitude 1; Capon's weights pass on up to the inverse
        // root of the loading of it.
        const double tolerance = kind.name == "capon"                   ? 3e-3
                                 : kind.name == "sign_coherence_factor" ? 1.5e-3  // its root at 1, as its header says
                                                                        : 3e-4;
        // Signs hang on rounding near 0, phases where they begin, and roots are steep there.
        const bool branches = kind.analytic || kind.name == "sign_coherence_factor" || kind.name == "f_dmas" ||
                              kind.result == AdaptiveResult::image;
        std::size_t compared = 0;
        for (std::size_t line = 0; line < lines.size(); ++line) {
          for (std::size_t k = 0; k < ranges; ++k) {
            if (branches && undecided(lines[line], k, half)) continue;
            ++compared;
            const double weights = normalise ? 1.0 : std::max(1.0, plain_sums(lines[line], k).weights);
            ASSERT_NEAR(result.block->as<float>()[line * result.spec.row_stride + k],
                        plain_adaptive(options.adaptive, lines[line], k, normalise), tolerance * weights)
                << kind.name << " window " << half << " line " << line << " range " << k << " normalise " << normalise;
          }
        }
        EXPECT_GT(compared, ranges);
      }
    }
  }
}

/// Echoes of a plane that lies where the delays have it: all channels equal.
TEST_P(AdaptiveLinesTest, PassEqualChannelsAsTheyAre) {
  auto set = growing_lines();
  for (Point& element : set->elements) element.x = Metres(0.0);
  std::vector<double> rows;
  for (std::size_t row = 0; row < elements; ++row) {
    for (std::size_t n = 0; n < samples; ++n)
      rows.push_back(2.5 * std::sin(2.0 * std::numbers::pi * 60.0 / samples * static_cast<double>(n)));
  }
  const BlockSpec spec = make_spec(ElementType::float32, elements, samples);
  const TestBlock input = block_of(spec, rows);
  const StageResult plain = run(*make(options_of(set, "none", 0)), spec, input);
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (!has(kind)) continue;
    const StageResult result = run(*make(options_of(set, kind.name, 0)), spec, input);
    // From where two elements are heard, to where A-scans end.
    for (std::size_t k = 60; k < 250; ++k) {
      const double sum = plain.block->as<float>()[k];
      const double expected = kind.result == AdaptiveResult::image     ? 1.0
                              : kind.result == AdaptiveResult::doubled ? std::abs(sum)
                                                                       : sum;
      EXPECT_NEAR(result.block->as<float>()[k], expected, 2e-5) << kind.name << " " << k;
    }
  }
}

/// As they were received, of an odd number of points, whose frames are 4 bytes longer than a multiple of 8.
TEST_P(AdaptiveLinesTest, AreTheSameOfReceivedSamples) {
  auto set = growing_lines();
  set->lines.pop_back();
  set->transmit_times.resize(ranges);
  set->weight_tables.resize(elements);
  const std::vector<double> smooth = partly_coherent_rows();
  std::vector<double> rows;
  const BlockSpec raw = make_raw_spec(SampleEncoding::int16, elements, samples);
  const TestBlock received(raw);
  for (std::size_t n = 0; n < smooth.size(); ++n) {
    const auto whole = static_cast<std::int16_t>(std::lround(8000.0 * smooth[n]));
    received.as<std::int16_t>()[n] = n == 7 ? std::int16_t{32767} : whole;
    rows.push_back(n == 7 ? 32767.0 : whole);
  }
  const BlockSpec spec = make_spec(ElementType::float32, elements, samples);
  const TestBlock input = block_of(spec, rows);
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (!has(kind) || kind.sums_of == ChannelSums::none) continue;
    const ScanLinesOptions options = options_of(set, kind.name, 2);
    const StageResult expected = run(*make(options), spec, input);
    const auto stage = make(options);
    const StageResult result = run(*stage, raw, received, 2);
    for (std::size_t k = 0; k < ranges; ++k) {
      // The same numbers; rows lie elsewhere, so that transforms may take another way.
      const float value = expected.block->as<float>()[k];
      ASSERT_NEAR(result.block->as<float>()[k], value, 1e-4 * (1.0 + std::abs(value))) << kind.name << " " << k;
    }
    EXPECT_EQ(stage->facts().quality.value().clipped, 1U) << kind.name;
  }
}

TEST(AdaptiveWeights, OfNoiseTheCoherenceFactorIsOneOverTheChannels) {
  constexpr std::size_t channels = 32;
  constexpr std::size_t points = 4001;
  std::mt19937 random(5);
  std::normal_distribution<float> noise;
  std::vector<float> sum(points), squares(points), signs(points), weight(points, channels), result(points);
  for (std::size_t k = 0; k < points; ++k) {
    for (std::size_t n = 0; n < channels; ++n) {
      const float s = noise(random);
      sum[k] += s;
      squares[k] += s * s;
      signs[k] += s > 0.0F ? 1.0F : -1.0F;
    }
  }
  AdaptiveOptions options;
  options.half_window = 500;
  std::vector<float> work(point_workspace(options, points));
  PointSums sums{.sum = sum.data(),
                 .second = squares.data(),
                 .low = nullptr,
                 .weight = weight.data(),
                 .pairs = nullptr,
                 .points = points,
                 .workspace = work.data()};
  adaptive::coherence_factor(options, sums, result.data());
  // Of 1001 independent points: sqrt(2 / 1001) = 4.5 %, four times.
  EXPECT_NEAR(result[2000], 1.0 / channels, 0.18 / channels);
  sums.second = signs.data();
  adaptive::sign_coherence_factor(options, sums, result.data());
  EXPECT_NEAR(result[2000], 1.0 - std::sqrt(1.0 - 1.0 / channels), 0.18 / channels);
}

TEST(AdaptiveWeights, OfAlternatingSignsAreNothing) {
  const float zero = 0.0F, sixteen = 16.0F;
  float result = 1.0F;
  std::vector<float> work(8);
  const AdaptiveOptions options;
  const PointSums sums{
      .sum = &zero, .second = &zero, .low = &zero, .weight = &sixteen, .pairs = nullptr, .points = 1, .workspace = work.data()};
  adaptive::sign_coherence_factor(options, sums, &result);
  EXPECT_EQ(result, 0.0F);
  // No energy at all.
  result = 1.0F;
  adaptive::coherence_factor(options, sums, &result);
  EXPECT_EQ(result, 0.0F);
}

/// One point, its channels `amplitude` exp(j slope n), beside another wave of slope `other_slope`.
float capon_of(double amplitude, double slope, double other, double other_slope, const AdaptiveOptions& options) {
  constexpr std::size_t channels = 24;
  std::vector<float> real, imaginary;
  for (std::size_t n = 0; n < channels; ++n) {
    const Complex s =
        std::polar(amplitude, slope * static_cast<double>(n)) + std::polar(other, other_slope * static_cast<double>(n));
    real.push_back(static_cast<float>(s.real()));
    imaginary.push_back(static_cast<float>(s.imag()));
  }
  const std::vector<float> weights(channels, 1.0F);
  std::vector<double> work(channel_workspace(options, channels));
  return adaptive::capon(options, {.weights = weights.data(),
                                   .real = real.data(),
                                   .imaginary = imaginary.data(),
                                   .channels = channels,
                                   .points = 1,
                                   .centre = 0,
                                   .workspace = work.data()});
}

TEST(AdaptiveWeights, CaponPassesTheWaveInFocusAndNotAnother) {
  const AdaptiveOptions options;
  EXPECT_NEAR(capon_of(1.0, 0.0, 0.0, 0.0, options), 1.0, 1e-6);
  // In a sidelobe of the plain mean of 24 channels, which leaves 0.1 of it.
  const double slope = 2.0 * std::numbers::pi * 2.5 / 24.0;
  Complex mean;
  for (std::size_t n = 0; n < 24; ++n) mean += std::polar(1.0 / 24.0, slope * static_cast<double>(n));
  EXPECT_GT(std::abs(mean), 0.1);
  EXPECT_LT(std::abs(capon_of(0.0, 0.0, 1.0, slope, options)), 0.01);
}

TEST(AdaptiveWeights, OutOfRangeAreTold) {
  AdaptiveOptions options;
  const auto message = [&] { return input_error([&] { validate(options, "demo.toml: [beams]"); }); };
  EXPECT_EQ(message(), "");
  options.loading = 0.0;
  EXPECT_EQ(message(), "demo.toml: [beams] diagonal_loading: found 0; expected 1e-06 to 10");
  options = {};
  options.kind = "best";
  EXPECT_EQ(message(),
            "demo.toml: [beams] adaptive: found \"best\"; expected one of none, coherence_factor, generalised_coherence_factor, "
            "phase_coherence_factor, sign_coherence_factor, f_dmas, short_lag_spatial_coherence, capon");
  options = {};
  options.low_frequencies = 9;
  EXPECT_EQ(message(), "demo.toml: [beams] low_frequencies: found 9; expected 0 to 8");
}

}  // namespace
}  // namespace echoform::test
