// Sums along many lines of an event, of which a GPU shares the samples, against a plain one in double precision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "stages/scan_lines/scan_lines.hpp"
#include "tests/stages/capture.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/stages/stage_harness.hpp"

namespace echoform::test::tiles_of_lines {
namespace {

constexpr double rate = 40e6;
constexpr double c = 1540.0;
constexpr std::size_t samples = 1500;
constexpr std::size_t elements = 37;
constexpr std::size_t events = 3;

struct Sector {
  std::size_t of_event = 1;  ///< lines
  std::size_t ranges = 1100;
  bool growing = false;  ///< apertures that open with the range
  double late = 0.0;     ///< seconds by which waves leave after t = 0: lines end behind the A-scans
};

/// A phased array, lines of neighbouring events beside each other; an element is unheard.
std::shared_ptr<LineSet> lines_of(const Sector& sector) {
  auto set = std::make_shared<LineSet>();
  for (std::size_t e = 0; e < elements; ++e) {
    set->elements.push_back({Metres(0.3e-3 * (static_cast<double>(e) - 18.0)), Metres(0.0), Metres(0.0)});
  }
  for (std::size_t event = 0; event < events; ++event) {
    set->events.push_back({event * elements, {}});
    for (std::uint32_t e = 0; e < elements; ++e) set->events.back().receivers.push_back(e);
  }
  set->ranges = {Metres(0.0), Metres(0.5 * c / rate), sector.ranges};
  const std::size_t lines = events * sector.of_event;
  for (std::size_t line = 0; line < lines; ++line) {
    const double angle = 0.03 * (static_cast<double>(line) / static_cast<double>(sector.of_event) - 1.0);
    set->lines.push_back({static_cast<std::uint32_t>(line / sector.of_event), Point{}, {std::sin(angle), 0.0, std::cos(angle)}});
    for (std::size_t k = 0; k < sector.ranges; ++k) set->transmit_times.push_back(set->ranges.at(k).value / c + sector.late);
    for (std::uint32_t e = 0; e < elements; ++e) set->weight_tables.push_back(e == 5 ? LineSet::unheard : e);
  }
  for (std::size_t e = 0; e < elements; ++e) {
    const double off = std::abs(static_cast<double>(e) - 18.0);
    for (std::size_t k = 0; k < sector.ranges; ++k) {
      const double open = sector.growing ? 0.03 * static_cast<double>(k) + 2.0 : 25.0;
      set->weights.push_back(off < open ? static_cast<float>(std::pow(std::cos(1.5 * off / open), 2)) : 0.0F);
    }
  }
  return set;
}

class LineTiles : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const ScanLinesOptions& options) {
    if (on_cuda()) return make_stage(scan_lines_stage, options, backend());
    return make_scan_lines_cpu(options, threads(), level());
  }

  void expect_the_plain_sum(const Sector& sector, const DelayFilterOptions& filter_options, SampleEncoding encoding,
                            bool gained) {
    SCOPED_TRACE(fmt::format("{} {} lines {} ranges", filter_options.kind, sector.of_event, sector.ranges));
    const auto set = lines_of(sector);
    const RawFrame frame = make_raw_frame(encoding, events * elements, samples, 0, 5);
    ScanLinesOptions options;
    options.lines = set;
    options.velocity = MetresPerSecond(c);
    options.sample_rate = Hertz(rate);
    options.gate = {0, samples};
    options.filter = filter_options;
    options.sample_scale = 0.5;
    std::vector<float> gain(samples, 1.0F);
    if (gained) {
      for (std::size_t n = 0; n < samples; ++n) gain[n] = 0.5F + 0.002F * static_cast<float>(n);
      options.time_gain = std::make_shared<const std::vector<float>>(gain);
    }
    std::vector<double> rows;
    for (std::size_t row = 0; row < events * elements; ++row) {
      for (std::size_t n = 0; n < samples; ++n) rows.push_back(0.5 * gain[n] * frame.at(row, n));
    }
    const auto stage = make(options);
    const StageResult result = run(*stage, frame.spec, *frame.block, 2);
    const DelayFilter filter = make_delay_filter(filter_options);
    double error = 0.0;
    double norm = 0.0;
    for (std::size_t line = 0; line < set->lines.size(); ++line) {
      const ImageLine& along = set->lines[line];
      const float* const out = result.block->as<float>() + line * result.spec.row_stride;
      for (std::size_t k = 0; k < sector.ranges; ++k) {
        const double r = set->ranges.at(k).value;
        double sum = 0.0;
        double weights = 0.0;
        for (std::size_t e = 0; e < elements; ++e) {
          if (e == 5) continue;
          const double w = set->weights[e * sector.ranges + k];
          weights += w;
          const double way = std::hypot(r * along.direction.x - set->elements[e].x.value, r * along.direction.z);
          const double place = (set->transmit_times[line * sector.ranges + k] + way / c) * rate;
          sum +=
              w * evaluate(filter, std::span<const double>(rows).subspan((along.event * elements + e) * samples, samples), place);
        }
        const double expected = weights > 0.0 ? sum / weights : 0.0;
        error += std::pow(out[k] - expected, 2);
        norm += std::pow(expected, 2);
      }
      for (std::size_t k = sector.ranges; k < result.spec.row_stride; ++k) ASSERT_EQ(out[k], 0.0F);
    }
    // Samples that know nothing of their neighbours: an error of 1e-4 of a sample is as much of the sum.
    EXPECT_LT(std::sqrt(error / norm), 2e-4);
    ASSERT_TRUE(stage->facts().quality.has_value());
    EXPECT_EQ(stage->facts().quality->clipped, frame.clipped) << "each sample is counted once";
    EXPECT_EQ(stage->facts().quality->invalid, frame.invalid);
  }

  static DelayFilterOptions filter(const char* kind, std::size_t taps = 0) {
    DelayFilterOptions options;
    options.kind = kind;
    options.order_or_taps = taps;
    return options;
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(LineTiles);

TEST_P(LineTiles, OfSeveralLinesOfAnEvent) {
  for (const std::size_t lines : {1, 2, 5, 16}) {
    if (!on_cuda() && threads() == 2) continue;
    expect_the_plain_sum({.of_event = lines}, filter("linear"), SampleEncoding::int16, false);
    expect_the_plain_sum({.of_event = lines}, filter("upsampled", 11), SampleEncoding::int16, false);
  }
}

TEST_P(LineTiles, OfAperturesThatGrow) {
  for (const char* const kind : {"linear", "upsampled"}) {
    expect_the_plain_sum({.of_event = 3, .growing = true}, filter(kind), SampleEncoding::int16, true);
    expect_the_plain_sum({.growing = true, .late = 9e-6}, filter(kind), SampleEncoding::int16, true);
  }
}

TEST_P(LineTiles, OfEveryEncodingAndLengthOfFilter) {
  for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
    expect_the_plain_sum({.ranges = 700, .late = 1e-5}, filter("linear"), encoding, true);
    for (const std::size_t taps : {7, 11, 15}) expect_the_plain_sum({.ranges = 700}, filter("upsampled", taps), encoding, false);
  }
}

/// On a GPU as part of a graph too, with no more memory than was stated.
TEST_P(LineTiles, TakeWhatTheyStateAndCanBeCaptured) {
  const RawFrame frame = make_raw_frame(SampleEncoding::int16, events * elements, samples, 0, 5);
  for (const char* const kind : {"linear", "upsampled", "lagrange"}) {
    ScanLinesOptions options;
    options.lines = lines_of({.of_event = 2});
    options.velocity = MetresPerSecond(c);
    options.sample_rate = Hertz(rate);
    options.gate = {0, samples};
    options.filter = filter(kind);
    const auto stage = make(options);
    const StageStatement stated = scan_lines_stage.state(options, frame.spec, {backend().kind(), threads()});
    EXPECT_EQ(stage->prepare(frame.spec), stated.output);
    EXPECT_LE(stage->bytes(), on_cuda() ? stated.memory.device : stated.memory.host);
    if (!on_cuda()) continue;
    const StageResult once = run(*stage, frame.spec, *frame.block);
    const Buffer in = backend().allocate(frame.block->bytes(), MemoryUse::working);
    const Buffer out = backend().allocate(once.spec.bytes(), MemoryUse::working);
    copy_now(in.data(), frame.block->read().data, frame.block->bytes());
    ASSERT_EQ(capture_and_run(*stage, {in.data()}, {out.data()}, queue(), 2), "");
    std::vector<float> again(once.spec.rows * once.spec.row_stride);
    copy_now(again.data(), out.data(), again.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(again.data(), once.block->as<float>(), again.size() * sizeof(float)), 0) << kind;
  }
}

}  // namespace
}  // namespace echoform::test::tiles_of_lines
