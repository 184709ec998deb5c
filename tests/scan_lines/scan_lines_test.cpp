// The sum along lines against a plain one in double precision.
#include "stages/scan_lines/scan_lines.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/stages/raw_frames.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test::along_lines {
namespace {

constexpr double rate = 40e6;
constexpr double c = 1540.0;
constexpr std::size_t samples = 700;
constexpr std::size_t elements = 13;

class ScanLines : public StageTest {
 protected:
  [[nodiscard]] StageResult sum(const ScanLinesOptions& options, const BlockSpec& spec, const TestBlock& input) {
    const auto stage = make(options);
    return run(*stage, spec, input, 2);
  }
  [[nodiscard]] std::unique_ptr<Stage> make(const ScanLinesOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_scan_lines_cuda(options, backend());
#endif
    return make_scan_lines_cpu(options, threads(), level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(ScanLines);

/// Three events, the second without lines of its own, two lines of each other; an element is unheard, one row of weights opens
/// late.
std::shared_ptr<LineSet> lines_of_a_sector(std::size_t ranges, double spacing) {
  auto set = std::make_shared<LineSet>();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> anywhere(-1.0, 1.0);
  for (std::size_t e = 0; e < elements; ++e) {
    set->elements.push_back({Metres(0.3e-3 * (static_cast<double>(e) - 6.0)), Metres(0.1e-3 * anywhere(random)),
                             Metres(-0.2e-3 * std::abs(anywhere(random)))});
  }
  set->events.push_back({0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  set->events.push_back({13, {3, 4}});
  set->events.push_back({15, {12, 2, 7, 5}});
  set->ranges = {Metres(0.0), Metres(spacing), ranges};
  for (const std::uint32_t event : {2U, 0U, 0U, 2U}) {
    const double angle = 0.7 * anywhere(random);
    const double across = 0.1 * anywhere(random);
    set->lines.push_back({event,
                          {Metres(1e-3 * anywhere(random)), Metres(0.2e-3 * anywhere(random)), Metres(0.0)},
                          {std::sin(angle) * std::cos(across), std::sin(across), std::cos(angle) * std::cos(across)}});
  }
  for (std::size_t line = 0; line < set->lines.size(); ++line) {
    for (std::size_t k = 0; k < ranges; ++k) {
      // One line passes early, before the A-scan begins; another one's wave arrives nowhere at first.
      const double way = set->ranges.at(k).value / c * (line == 1 ? 0.8 : 1.1) - (line == 3 ? 3e-7 : 0.0);
      set->transmit_times.push_back(line == 2 && k < 20 ? std::nan("") : way);
    }
  }
  for (std::size_t table = 0; table < 3; ++table) {
    for (std::size_t k = 0; k < ranges; ++k) {
      const bool closed = table == 2 && k < ranges / 3;
      set->weights.push_back(closed ? 0.0F : static_cast<float>(0.5 + 0.4 * anywhere(random)));
    }
  }
  for (const ImageLine& line : set->lines) {
    for (std::size_t row = 0; row < set->events[line.event].receivers.size(); ++row) {
      set->weight_tables.push_back(row == 2 ? LineSet::unheard : static_cast<std::uint32_t>((row + line.event) % 3));
    }
  }
  return set;
}

constexpr std::size_t a_scans = 19;

/// What the header says, of samples [a-scan, sample], with linear or nearest interpolation.
std::vector<double> plain_sum(const LineSet& set, const std::vector<double>& s, double start, bool linear, bool normalise) {
  std::vector<double> image;
  std::size_t entry = 0;
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    const ImageLine& along = set.lines[line];
    const LineEvent& event = set.events[along.event];
    for (std::size_t k = 0; k < set.ranges.count; ++k) {
      const double r = set.ranges.at(k).value;
      const double p[3] = {along.origin.x.value + r * along.direction.x, along.origin.y.value + r * along.direction.y,
                           along.origin.z.value + r * along.direction.z};
      double sum = 0.0;
      double weights = 0.0;
      for (std::size_t row = 0; row < event.receivers.size(); ++row) {
        const std::uint32_t table = set.weight_tables[entry + row];
        if (table == LineSet::unheard) continue;
        const double w = set.weights[table * set.ranges.count + k];
        weights += w;
        const Point& e = set.elements[event.receivers[row]];
        const double way = std::hypot(p[0] - e.x.value, p[1] - e.y.value, p[2] - e.z.value);
        const double u = (set.transmit_times[line * set.ranges.count + k] + way / c - start) * rate;
        const double* const a_scan = s.data() + (event.first_row + row) * samples;
        if (linear && u >= 0.0 && u < static_cast<double>(samples) - 1.0) {
          const auto n = static_cast<std::size_t>(u);
          const double f = u - static_cast<double>(n);
          sum += w * ((1.0 - f) * a_scan[n] + f * a_scan[n + 1]);
        }
        if (!linear && std::floor(u + 0.5) >= 0.0 && std::floor(u + 0.5) < static_cast<double>(samples)) {
          sum += w * a_scan[static_cast<std::size_t>(std::floor(u + 0.5))];
        }
      }
      image.push_back(!normalise ? sum : weights > 0.0 ? sum / weights : 0.0);
    }
    entry += event.receivers.size();
  }
  return image;
}

/// Smooth, so that an error of 1e-4 of a sample is one of 1e-4.
std::vector<double> smooth_rows() {
  std::vector<double> rows;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> phase(0.0, 6.28);
  for (std::size_t row = 0; row < a_scans; ++row) {
    const double first = phase(random);
    for (std::size_t n = 0; n < samples; ++n) rows.push_back(std::sin(0.7 * static_cast<double>(n) + first));
  }
  return rows;
}

ScanLinesOptions options_of(std::shared_ptr<const LineSet> set, double start) {
  ScanLinesOptions options;
  options.lines = std::move(set);
  options.velocity = MetresPerSecond(c);
  options.sample_rate = Hertz(rate);
  options.start_time = Seconds(start);
  options.gate = {0, samples};
  return options;
}

/// Relative L2 error of the stage's rows.
double error_of(const StageResult& result, const std::vector<double>& expected) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t row = 0; row < result.spec.rows; ++row) {
    for (std::size_t k = 0; k < result.spec.columns; ++k) {
      const double want = expected[row * result.spec.columns + k];
      error += std::pow(result.block->as<float>()[row * result.spec.row_stride + k] - want, 2);
      norm += want * want;
    }
  }
  return std::sqrt(error / norm);
}

TestBlock float_rows(const BlockSpec& spec, const std::vector<double>& rows) {
  TestBlock block(spec);
  for (std::size_t row = 0; row < spec.rows; ++row) {
    for (std::size_t n = 0; n < spec.columns; ++n) {
      block.as<float>()[row * stride_of(spec) + n] = static_cast<float>(rows[row * spec.columns + n]);
    }
  }
  return block;
}

TEST_P(ScanLines, EqualThePlainSum) {
  const std::vector<double> rows = smooth_rows();
  const BlockSpec spec = make_spec(ElementType::float32, a_scans, samples, samples + 5);
  const TestBlock input = float_rows(spec, rows);
  // Ranges by the sample; fewer, further apart than a vector's window; too many, that end behind the A-scan.
  for (const auto& [ranges, spacing] : {std::pair{601UL, c / rate / 2.0}, {97UL, 8.0 * c / rate}, {1000UL, c / rate / 2.0}}) {
    const auto set = lines_of_a_sector(ranges, spacing);
    for (const bool normalise : {true, false}) {
      ScanLinesOptions options = options_of(set, 1.3e-7);
      options.normalise = normalise;
      EXPECT_LT(error_of(sum(options, spec, input), plain_sum(*set, rows, 1.3e-7, true, normalise)), 2e-5) << ranges;
    }
  }
}

TEST_P(ScanLines, TakeTheNearestSample) {
  const std::vector<double> rows = smooth_rows();
  const BlockSpec spec = make_spec(ElementType::float32, a_scans, samples);
  const auto set = lines_of_a_sector(301, c / rate / 2.0);
  ScanLinesOptions options = options_of(set, -2e-7);
  options.filter.kind = "nearest";
  const StageResult result = sum(options, spec, float_rows(spec, rows));
  const std::vector<double> expected = plain_sum(*set, rows, -2e-7, false, true);
  // A place that lies between two samples to rounding may have either: as many of 301 * 21 as lie within 1e-4 of it.
  EXPECT_LT(error_of(result, expected), 1e-2);
}

/// The filter's own plain evaluation, at places in double precision.
TEST_P(ScanLines, HaveEveryDelayFilter) {
  const std::vector<double> rows = smooth_rows();
  const BlockSpec spec = make_spec(ElementType::float32, a_scans, samples);
  const TestBlock input = float_rows(spec, rows);
  const auto set = lines_of_a_sector(301, c / rate / 2.0);
  for (const char* const kind : {"lagrange", "windowed_sinc", "least_squares", "upsampled"}) {
    ScanLinesOptions options = options_of(set, 0.0);
    options.filter.kind = kind;
    options.normalise = false;
    const DelayFilter filter = make_delay_filter(options.filter);
    std::vector<double> expected;
    std::size_t entry = 0;
    for (std::size_t line = 0; line < set->lines.size(); ++line) {
      const ImageLine& along = set->lines[line];
      const LineEvent& event = set->events[along.event];
      for (std::size_t k = 0; k < set->ranges.count; ++k) {
        const double r = set->ranges.at(k).value;
        double total = 0.0;
        for (std::size_t row = 0; row < event.receivers.size(); ++row) {
          const std::uint32_t table = set->weight_tables[entry + row];
          if (table == LineSet::unheard) continue;
          const Point& e = set->elements[event.receivers[row]];
          const double way = std::hypot(along.origin.x.value + r * along.direction.x - e.x.value,
                                        along.origin.y.value + r * along.direction.y - e.y.value,
                                        along.origin.z.value + r * along.direction.z - e.z.value);
          const double u = (set->transmit_times[line * set->ranges.count + k] + way / c) * rate;
          if (std::isnan(u)) continue;
          total += set->weights[table * set->ranges.count + k] *
                   evaluate(filter, std::span<const double>(rows).subspan((event.first_row + row) * samples, samples), u);
        }
        expected.push_back(total);
      }
      entry += event.receivers.size();
    }
    EXPECT_LT(error_of(sum(options, spec, input), expected), 2e-5) << kind;
  }
}

TEST_P(ScanLines, ReadReceivedSamplesWithAGainByTime) {
  using enum SampleEncoding;
  // Rows of 1408 bytes start where a GPU loads four int16 at once, those of 1404 do not.
  for (const auto& [encoding, extra] : {std::pair{int16, 2U}, {int16, 4U}, {packed12, 2U}, {float32, 2U}}) {
    const RawFrame frame = make_raw_frame(encoding, a_scans, samples, extra, 5);
    auto gain = std::make_shared<std::vector<float>>();
    for (std::size_t n = 0; n < samples; ++n) gain->push_back(0.5F + 0.002F * static_cast<float>(n));
    std::vector<double> rows;
    for (std::size_t row = 0; row < a_scans; ++row) {
      for (std::size_t n = 0; n < samples; ++n) rows.push_back(0.25 * (*gain)[n] * frame.at(row, n));
    }
    const auto set = lines_of_a_sector(301, c / rate / 2.0);
    ScanLinesOptions options = options_of(set, 0.0);
    options.sample_scale = 0.25;
    options.time_gain = gain;
    const auto stage = make(options);
    const StageResult result = run(*stage, frame.spec, *frame.block);
    // Samples that know nothing of their neighbours: 1e-4 of a sample between them is as much of the sum.
    EXPECT_LT(error_of(result, plain_sum(*set, rows, 0.0, true, true)), 2e-4);
    ASSERT_TRUE(stage->facts().quality.has_value());
    std::uint64_t clipped = 0;
    for (const std::size_t row : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18}) clipped += frame.clipped_in_row[row];
    EXPECT_EQ(stage->facts().quality->clipped, clipped);
  }
}

/// A place just below a sample: its fraction rounds to 1.
TEST_P(ScanLines, FractionsThatRoundToOneAreTheNextSample) {
  auto set = std::make_shared<LineSet>();
  // Lengths are in samples at a rate and a velocity of 1: 1e-12 less than r there and back.
  set->elements.push_back({Metres(0.0), Metres(0.0), Metres(1e-12)});
  set->events.push_back({0, {0}});
  set->ranges = {Metres(1.0), Metres(1.0), 600};
  set->lines.push_back({0, Point{}, Direction{0.0, 0.0, 1.0}});
  set->transmit_times.assign(600, 0.0);
  set->weights.assign(600, 1.0F);
  set->weight_tables.push_back(0);
  ScanLinesOptions options;
  options.lines = set;
  options.velocity = MetresPerSecond(1.0);
  options.sample_rate = Hertz(1.0);
  options.gate = {0, samples};
  const std::vector<double> rows = smooth_rows();
  const BlockSpec spec = make_spec(ElementType::float32, a_scans, samples);
  const TestBlock input = float_rows(spec, rows);
  for (const char* const kind : {"nearest", "linear", "lagrange", "windowed_sinc", "upsampled"}) {
    options.filter.kind = kind;
    const StageResult result = sum(options, spec, input);
    // All of these give the samples themselves where a place is one.
    for (std::size_t k = 16; k < 600; ++k) ASSERT_NEAR(result.block->as<float>()[k], rows[k + 1], 2e-4) << kind << ' ' << k;
  }
  // Complex samples too: of a cycle a sample, whose turns are whole.
  options.demodulated = Hertz(1.0);
  const BlockSpec complex = make_spec(ElementType::complex64, a_scans, samples);
  const TestBlock of_baseband(complex);
  for (std::size_t n = 0; n < a_scans * samples; ++n) {
    of_baseband.as<float>()[2 * n] = static_cast<float>(rows[n]);
    of_baseband.as<float>()[2 * n + 1] = -static_cast<float>(rows[n]);
  }
  for (const char* const kind : {"nearest", "linear", "lagrange", "windowed_sinc", "upsampled"}) {
    options.filter.kind = kind;
    const StageResult result = sum(options, complex, of_baseband);
    for (std::size_t k = 16; k < 600; ++k) {
      ASSERT_NEAR(result.block->as<float>()[2 * k], rows[k + 1], 2e-4) << kind << ' ' << k;
      ASSERT_NEAR(result.block->as<float>()[2 * k + 1], -rows[k + 1], 2e-4) << kind << ' ' << k;
    }
  }
}

/// Of a narrow window over two elements at its foot: their weights sum to less than single precision divides by.
TEST_P(ScanLines, WeightsOfNextToNothingAreNone) {
  const std::vector<double> rows = smooth_rows();
  const BlockSpec spec = make_spec(ElementType::float32, a_scans, samples);
  const auto set = lines_of_a_sector(301, c / rate / 2.0);
  std::ranges::fill(set->weights, 1e-39F);
  const StageResult result = sum(options_of(set, 0.0), spec, float_rows(spec, rows));
  for (std::size_t n = 0; n < 4 * result.spec.row_stride; ++n) ASSERT_EQ(result.block->as<float>()[n], 0.0F) << n;
}

TEST(ScanLinesOptions, OutOfRangeAreTold) {
  const auto good = [] { return lines_of_a_sector(10, 1e-3); };
  const auto message = [](const ScanLinesOptions& options) { return input_error([&] { validate(options); }); };
  EXPECT_EQ(message(options_of(good(), 0.0)), "");
  EXPECT_EQ(message(options_of(nullptr, 0.0)), "scan-lines stage, lines: found none; expected a set of lines");
  auto set = good();
  set->lines[1].direction = {1.0, 1.0, 1.0};
  EXPECT_EQ(message(options_of(set, 0.0)), "scan-lines stage, direction of a line: found 1 1 1; expected one of unit length");
  set = good();
  set->transmit_times.pop_back();
  EXPECT_EQ(message(options_of(set, 0.0)), "scan-lines stage, transmit times: found 39; expected one for each line and range");
  ScanLinesOptions options = options_of(good(), 0.0);
  options.velocity = MetresPerSecond(0.0);
  EXPECT_EQ(message(options), "scan-lines stage, velocity: found 0; expected above 0 m/s");
  options.velocity = MetresPerSecond(c);
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    options.adaptive.kind = kind.name;
    EXPECT_NO_THROW(require_lines_on_cuda(options)) << kind.name;
  }
  options = options_of(good(), 0.0);
  options.gate.count = 4;
  options.filter.kind = "windowed_sinc";
  const BlockSpec few = make_spec(ElementType::float32, a_scans, 4);
  EXPECT_EQ(
      input_error([&] { static_cast<void>(scan_lines_output(options, few)); }),
      "scan-lines stage, input samples: found 4; expected 8 or more, as many as the delay filter has taps, and fewer than 2^28");
}

}  // namespace
}  // namespace echoform::test::along_lines
