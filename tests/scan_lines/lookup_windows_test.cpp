// Sums of white noise along lines over sweeps of the spacing of ranges, of where receivers lie and of the A-scans' ends, against
// plain lookups. AVX-512 picks the samples of sixteen ranges out of 32 in registers, without a question where a table says that
// they lie close together; a GPU those of a tile of ranges out of 528 in shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "stages/scan_lines/scan_lines.hpp"
#include "tests/scan_lines/delay_filters.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/white_noise.hpp"

namespace echoform::test::windows_along_lines {
namespace {

// Lengths are in samples: at a rate and a velocity of 1.

/// A line of elements, some of them before the lines' origins, and what a sweep changes.
struct Lines {
  double spacing = 1.0;       ///< of ranges
  std::size_t ranges = 150;   ///< blocks of 64 and a part of one
  double transmit = 1.0;      ///< of the way to a point: 1 where waves pass the origin at t = 0, as they do in an echo
  double ahead = 0.0;         ///< an element this far along z, beyond the points or among them; 0: none
  std::size_t of_event = 2;   ///< lines
  bool one_receiver = false;  ///< is heard
};

std::shared_ptr<LineSet> line_set(const Lines& lines) {
  auto set = std::make_shared<LineSet>();
  for (int e = 0; e < 7; ++e) set->elements.push_back({Metres(11.3 * (e - 3.2)), Metres(0.7 * (e % 3)), Metres(-0.4 * (e % 2))});
  if (lines.ahead > 0.0) set->elements.push_back({Metres(3.1), Metres(0.2), Metres(lines.ahead)});
  const auto elements = static_cast<std::uint32_t>(set->elements.size());
  for (std::size_t event = 0; event < 2; ++event) {
    set->events.push_back({event * elements, {}});
    for (std::uint32_t e = 0; e < elements; ++e) set->events.back().receivers.push_back(elements - 1 - e);
  }
  set->ranges = {Metres(0.3), Metres(lines.spacing), lines.ranges};
  constexpr std::array<double, 5> angles{0.0, -0.5, 0.23, 0.7, 1.2};
  for (std::size_t line = 0; line < 2 * lines.of_event; ++line) {
    const double angle = angles[line % angles.size()];
    set->lines.push_back({static_cast<std::uint32_t>(line / lines.of_event),
                          {Metres(2.0 * static_cast<double>(line % 3)), Metres(0.0), Metres(0.0)},
                          {std::sin(angle), 0.0, std::cos(angle)}});
    for (std::size_t k = 0; k < lines.ranges; ++k) set->transmit_times.push_back(lines.transmit * set->ranges.at(k).value + 3.7);
    for (std::uint32_t e = 0; e < elements; ++e) {
      const bool heard = lines.one_receiver ? e == line % elements : e != 4;
      set->weight_tables.push_back(heard ? e % 3 : LineSet::unheard);
    }
  }
  for (std::size_t table = 0; table < 3; ++table) {
    for (std::size_t k = 0; k < lines.ranges; ++k) {
      // Of one weight, of weights that vary, and one that opens late.
      const double varying = 0.6 + 0.3 * std::sin(0.05 * static_cast<double>(k));
      set->weights.push_back(static_cast<float>(table == 0 ? 0.8 : table == 1 ? varying : k < 70 ? 0.0 : varying));
    }
  }
  return set;
}

struct Filtered {
  double value = 0.0;
  double size = 0.0;  ///< magnitudes of the samples that it is made of
};

/// The value of a row between its samples, as the delay filter's header says, from its coefficients.
Filtered filtered(const DelayFilter& filter, const std::vector<double>& row, double u) {
  const auto samples = static_cast<std::ptrdiff_t>(row.size());
  Filtered result;
  if (!(u >= 0.0 && u < static_cast<double>(samples) - 1.0)) return result;
  const double shift = filter.taps % 2 == 0 ? 0.0 : 0.5;
  const double base = std::floor(u + shift);
  const double phase = (u + shift - base) * static_cast<double>(filter.phases);
  const auto i = std::min(static_cast<std::size_t>(phase), filter.phases - 1);
  const double t = phase - static_cast<double>(i);
  for (std::size_t k = 0; k < filter.taps; ++k) {
    const auto n =
        static_cast<std::ptrdiff_t>(base) - static_cast<std::ptrdiff_t>((filter.taps - 1) / 2) + static_cast<std::ptrdiff_t>(k);
    if (n < 0 || n >= samples) continue;
    const double coefficient = (1.0 - t) * static_cast<double>(filter.coefficients[i * filter.taps + k]) +
                               t * static_cast<double>(filter.coefficients[(i + 1) * filter.taps + k]);
    result.value += coefficient * row[static_cast<std::size_t>(n)];
    result.size += std::abs(row[static_cast<std::size_t>(n)]);
  }
  return result;
}

/// A point's sum by the delay filter, and how far from it single precision may be.
struct PointSum {
  double value = 0.0;
  double allowed = 0.0;
  bool jumps = false;  ///< as of PlainSum
};

/// Adds what a place in a row is worth.
void add_lookup(PointSum& sum, const DelayFilter& filter, const std::vector<double>& row, double u, double weight,
                const LookupError& error) {
  if (filter.taps <= 2 && filter.phases == 1) {
    PlainSum<double> plain;
    const auto sample = [&](std::size_t n) { return row[n]; };
    filter.taps == 1 ? plain.add_nearest(sample, row.size(), u, weight, error)
                     : plain.add_linear(sample, row.size(), u, weight, error);
    sum.value += plain.value();
    sum.allowed += plain.allowed();
    sum.jumps = sum.jumps || plain.jumps();
    return;
  }
  const Filtered here = filtered(filter, row, u);
  const Filtered before = filtered(filter, row, u - error.place);
  const Filtered behind = filtered(filter, row, u + error.place);
  sum.value += weight * here.value;
  // What a place moves the value by, where it may jump too: an odd number of taps is about another sample then, and at the ends
  // it is over. Between, slopes are below 4 of the samples' magnitude. Coefficients are tabulated to 1e-5.
  sum.allowed += weight * (std::abs(before.value - here.value) + std::abs(behind.value - here.value) +
                           (4.0 * error.place + 1e-5) * std::max({here.size, before.size, behind.size}));
  const bool at_end = (before.size == 0.0) != (behind.size == 0.0);
  const bool between = filter.taps % 2 == 1 && std::floor(u - error.place + 0.5) != std::floor(u + error.place + 0.5);
  sum.jumps = sum.jumps || at_end || between;
}

/// Places on a line of some thousand samples are in single precision, a few roundings of lengths; steady blocks follow a
/// polynomial, to 1e-5 of a sample on the CPU and 4.5e-5 on a GPU.
LookupError error_at(double range, double distance, bool on_cuda) {
  return {0x1p-21 * (range + distance + 50.0) + (on_cuda ? 5e-5 : 1.1e-5), 0x1p-21};
}

/// Designing one takes longer than all of its lookups here.
const DelayFilter& kept_filter(const DelayFilterOptions& options) {
  static std::map<std::pair<std::string, std::size_t>, DelayFilter> kept;
  const std::pair key(std::string(options.kind), options.order_or_taps);
  const auto found = kept.find(key);
  return found != kept.end() ? found->second : kept.emplace(key, make_delay_filter(options)).first->second;
}

class WindowsAlongLines : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const ScanLinesOptions& options) {
    if (on_cuda()) return make_stage(scan_lines_stage, options, backend());
    return make_scan_lines_cpu(options, threads(), level());
  }

  struct Sweep {
    DelayFilterOptions filter;
    const char* adaptive = "none";
    bool int16 = false;
    double part = 0.0;  ///< of the lookups that lie before the A-scans, and of those behind
    const char* in = "";
  };

  /// Greatest and least place of a lookup.
  [[nodiscard]] static std::pair<double, double> places_of(const LineSet& set) {
    double least = 1e9;
    double most = -1e9;
    for_points(set, [&](std::size_t, std::size_t, std::size_t, double, double, double u) {
      least = std::min(least, u);
      most = std::max(most, u);
    });
    return {least, most};
  }

  /// take(line, k, row of the event, weight or -1 where it is unheard, distance, u) in the order of points and receivers; t = 0
  /// is the A-scans' start.
  template <class Take>
  static void for_points(const LineSet& set, const Take& take) {
    std::size_t entry = 0;
    for (std::size_t line = 0; line < set.lines.size(); ++line) {
      const ImageLine& along = set.lines[line];
      const LineEvent& event = set.events[along.event];
      for (std::size_t k = 0; k < set.ranges.count; ++k) {
        const double r = set.ranges.at(k).value;
        for (std::size_t row = 0; row < event.receivers.size(); ++row) {
          const std::uint32_t table = set.weight_tables[entry + row];
          if (table == LineSet::unheard) continue;
          const Point& e = set.elements[event.receivers[row]];
          const double distance = std::hypot(along.origin.x.value + r * along.direction.x - e.x.value,
                                             along.origin.y.value + r * along.direction.y - e.y.value,
                                             along.origin.z.value + r * along.direction.z - e.z.value);
          take(line, k, row, static_cast<double>(set.weights[table * set.ranges.count + k]), distance,
               set.transmit_times[line * set.ranges.count + k] + distance);
        }
      }
      entry += event.receivers.size();
    }
  }

  void expect_plain_lookups(const Lines& lines, const Sweep& sweep, SweepReport& report) {
    const auto set = line_set(lines);
    const auto [least, most] = places_of(*set);
    const double start = least + sweep.part * (most - least) - 3.3;
    const auto samples = std::max<std::size_t>(20, static_cast<std::size_t>((1.0 - 2.0 * sweep.part) * (most - least)) + 8);
    const std::size_t rows = 2 * set->elements.size();
    // Numbers of 16 bits, a power of two of them to 1.
    const std::vector<float> noise = white_noise(rows * samples, 17);
    constexpr double unit = 1.0 / 4096.0;
    std::vector<std::vector<double>> values(rows, std::vector<double>(samples));
    const BlockSpec spec = sweep.int16 ? make_raw_spec(SampleEncoding::int16, rows, samples, 16 * ((2 * samples + 15) / 16))
                                       : make_spec(ElementType::float32, rows, samples, 4 * ((samples + 3) / 4));
    const TestBlock input(spec);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = 0; n < samples; ++n) {
        const float value = noise[row * samples + n];
        if (sweep.int16) {
          const auto whole = static_cast<std::int16_t>(std::clamp(4096.0F * value, -32000.0F, 32000.0F));
          input.as<std::int16_t>()[row * spec.row_stride / 2 + n] = whole;
          values[row][n] = unit * whole;
        } else {
          input.as<float>()[row * spec.row_stride + n] = value;
          values[row][n] = static_cast<double>(value);
        }
      }
    }
    ScanLinesOptions options;
    options.lines = set;
    options.velocity = MetresPerSecond(1.0);
    options.sample_rate = Hertz(1.0);
    options.start_time = Seconds(start);
    options.gate = {0, samples};
    options.filter = sweep.filter;
    options.normalise = false;
    options.adaptive.kind = sweep.adaptive;
    if (sweep.int16) options.sample_scale = unit;
    const DelayFilter& filter = kept_filter(options.filter);
    std::vector<PointSum> sums(set->lines.size() * lines.ranges);
    for_points(*set, [&](std::size_t line, std::size_t k, std::size_t row, double weight, double distance, double u) {
      PointSum& sum = sums[line * lines.ranges + k];
      const std::size_t of = set->events[set->lines[line].event].first_row + row;
      add_lookup(sum, filter, values[of], u - start, weight, error_at(set->ranges.at(k).value, distance, on_cuda()));
    });
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    std::size_t wrong = 0;
    double error = 0.0;
    double size = 0.0;
    for (std::size_t line = 0; line < set->lines.size(); ++line) {
      for (std::size_t k = 0; k < lines.ranges; ++k) {
        const PointSum& sum = sums[line * lines.ranges + k];
        const double found = result.block->as<float>()[line * result.spec.row_stride + k];
        // A factor of one receiver is 1 to some last places, but that of signs, which is 1 to 1.4e-3.
        const double factor = sweep.adaptive == std::string("none") ? 1e-6 : 2e-3;
        if (!(std::abs(found - sum.value) <= sum.allowed + factor * std::abs(sum.value) + 1e-6)) ++wrong;
        if (sum.jumps) continue;
        error += std::pow(found - sum.value, 2);
        size += sum.value * sum.value;
      }
    }
    const double relative = size > 0.0 ? std::sqrt(error / size) : std::sqrt(error);
    EXPECT_EQ(wrong, 0U) << fmt::format(
        "{}: {}, {}, {:.3f} samples a range, transmit {}, ahead {}, {} lines, {} ranges, int16 {}, part {}: relative error "
        "{:.2g}",
        sweep.in, name_of(sweep.filter), sweep.adaptive, lines.spacing, lines.transmit, lines.ahead, lines.of_event, lines.ranges,
        sweep.int16, sweep.part, relative);
    report.add(relative);
  }

  static DelayFilterOptions filter(const char* kind, std::size_t size = 0) {
    DelayFilterOptions options;
    options.kind = kind;
    options.order_or_taps = size;
    return options;
  }
};
ECHOFORM_ALL_INSTRUCTION_SETS(WindowsAlongLines);

/// Fine where sixteen ranges leave 30 samples behind: about 0.95 samples, there and back, and 1.9 for a place that does not move.
std::vector<double> swept_spacings() {
  return spacings_of({{0.05, 0.9, 0.05}, {0.91, 1.06, 0.006}, {1.1, 1.8, 0.1}, {1.84, 2.08, 0.012}, {2.2, 8.0, 0.2}});
}

TEST_P(WindowsAlongLines, HoldSamplesAtEverySpacing) {
  SweepReport report;
  for (const double spacing : swept_spacings()) {
    for (const Lines& lines : {Lines{.spacing = spacing}, Lines{.spacing = spacing, .transmit = 1.0, .ahead = 90.0 * spacing},
                               Lines{.spacing = spacing, .transmit = 0.4}, Lines{.spacing = spacing, .transmit = 1.7}}) {
      expect_plain_lookups(lines, {.filter = filter("linear"), .in = "sweep"}, report);
      expect_plain_lookups(lines, {.filter = filter("nearest"), .in = "sweep"}, report);
    }
    expect_plain_lookups({.spacing = spacing}, {.filter = filter("linear"), .int16 = true, .in = "sweep"}, report);
  }
}

/// Ranges close together whose places move on as fast as they may for a loop that asks no more, or a little faster: those of
/// sixteen lie within 30 samples of each other.
TEST_P(WindowsAlongLines, HoldSamplesOfPlacesThatMoveFast) {
  SweepReport report;
  for (const double spacing : {0.06, 0.3, 0.7, 0.94}) {
    for (const double step : spacings_of({{1.7, 2.2, 0.02}})) {
      // Of a receiver at the lines' origin places move by the way out alone.
      const Lines lines{.spacing = spacing, .transmit = step / spacing - 1.0, .ahead = 1000.0};
      expect_plain_lookups(lines, {.filter = filter("linear"), .in = "fast"}, report);
      expect_plain_lookups(lines, {.filter = filter("windowed_sinc", 8), .in = "fast"}, report);
    }
  }
}

TEST_P(WindowsAlongLines, HoldSamplesOfEveryDelayFilter) {
  SweepReport report;
  for (const double spacing : {0.07, 0.4, 0.6, 0.93, 0.95, 1.0, 1.6, 1.9, 2.0, 3.7, 7.7}) {
    for (const DelayFilterOptions& of :
         {filter("windowed_sinc", 8), filter("windowed_sinc", 16), filter("least_squares", 5), filter("lagrange", 3),
          filter("lagrange", 4), filter("upsampled", 7), filter("upsampled", 11), filter("upsampled", 15)}) {
      expect_plain_lookups({.spacing = spacing}, {.filter = of, .in = "filters"}, report);
      expect_plain_lookups({.spacing = spacing}, {.filter = of, .part = 0.2, .in = "filters"}, report);
    }
  }
}

TEST_P(WindowsAlongLines, EndWithTheAScans) {
  SweepReport report;
  for (const double spacing : {0.05, 0.31, 0.9, 0.95, 1.4, 2.1, 5.3}) {
    for (const double part : {-0.4, -0.02, 0.01, 0.1, 0.3, 0.45}) {
      for (const DelayFilterOptions& of : {filter("linear"), filter("nearest"), filter("windowed_sinc", 8)}) {
        for (const bool int16 : {false, true}) {
          for (const double ahead : {0.0, 40.0 * spacing}) {
            expect_plain_lookups({.spacing = spacing, .ahead = ahead}, {.filter = of, .int16 = int16, .part = part, .in = "ends"},
                                 report);
          }
        }
      }
    }
  }
}

/// Kernels that sum more than the samples: of one receiver coherence is whole, and the sum is the plain one.
TEST_P(WindowsAlongLines, HoldSamplesBesideOtherSums) {
  SweepReport report;
  for (const double spacing : {0.2, 0.9, 0.96, 1.9, 2.02, 4.4}) {
    for (const char* const adaptive : {"coherence_factor", "generalised_coherence_factor", "sign_coherence_factor"}) {
      for (const DelayFilterOptions& of : {filter("linear"), filter("windowed_sinc", 8), filter("upsampled", 11)}) {
        expect_plain_lookups({.spacing = spacing, .one_receiver = true}, {.filter = of, .adaptive = adaptive, .in = "sums"},
                             report);
      }
    }
  }
}

/// Lines as long as some tiles of a GPU, whose windows hold fewer ranges the farther these are apart; several lines of an event
/// share them.
TEST_P(WindowsAlongLines, HoldSamplesOfLongLines) {
  SweepReport report;
  for (const double spacing : spacings_of({{0.05, 0.6, 0.05}, {0.62, 2.2, 0.12}})) {
    for (const std::size_t of_event : {1, 2, 5}) {
      for (const DelayFilterOptions& of : {filter("linear"), filter("upsampled", 11)}) {
        const Lines lines{.spacing = spacing, .ranges = 1100, .of_event = of_event};
        expect_plain_lookups(lines, {.filter = of, .int16 = of_event != 2, .part = of_event == 5 ? 0.15 : 0.0, .in = "long"},
                             report);
      }
    }
  }
}

/// Complex samples of baseband: the phase is taken off with the delay, to 1e-4 rad.
TEST_P(WindowsAlongLines, HoldComplexSamples) {
  SweepReport report;
  constexpr double cycles = 0.23;  // a sample
  for (const double spacing : spacings_of({{0.05, 2.2, 0.107}, {2.5, 8.0, 1.1}})) {
    for (const char* const kind : {"linear", "nearest", "windowed_sinc"}) {
      for (const double part : {0.0, 0.2}) {
        const Lines lines{.spacing = spacing};
        const auto set = line_set(lines);
        const auto [least, most] = places_of(*set);
        const double start = least + part * (most - least) - 3.3;
        const auto samples = std::max<std::size_t>(20, static_cast<std::size_t>((1.0 - 2.0 * part) * (most - least)) + 8);
        const std::size_t rows = 2 * set->elements.size();
        const BlockSpec spec = make_spec(ElementType::complex64, rows, samples);
        const TestBlock input(spec);
        const std::vector<float> noise = white_noise(2 * rows * samples, 19);
        std::copy(noise.begin(), noise.end(), input.as<float>());
        std::vector<std::vector<double>> parts(2 * rows, std::vector<double>(samples));
        for (std::size_t n = 0; n < noise.size(); ++n) parts[2 * (n / 2 / samples) + n % 2][n / 2 % samples] = noise[n];
        ScanLinesOptions options;
        options.lines = set;
        options.velocity = MetresPerSecond(1.0);
        options.sample_rate = Hertz(1.0);
        options.start_time = Seconds(start);
        options.gate = {0, samples};
        options.filter = filter(kind);
        options.normalise = false;
        options.demodulated = Hertz(cycles);
        const DelayFilter of = make_delay_filter(options.filter);
        std::vector<std::complex<double>> sums(set->lines.size() * lines.ranges);
        std::vector<double> allowed(sums.size());
        std::vector<bool> jumps(sums.size());
        for_points(*set, [&](std::size_t line, std::size_t k, std::size_t row, double weight, double distance, double u) {
          const std::size_t at = set->events[set->lines[line].event].first_row + row;
          PointSum real;
          PointSum imaginary;
          const LookupError error = error_at(set->ranges.at(k).value, distance, on_cuda());
          add_lookup(real, of, parts[2 * at], u - start, weight, error);
          add_lookup(imaginary, of, parts[2 * at + 1], u - start, weight, error);
          const std::complex<double> turn = std::polar(1.0, 2.0 * std::numbers::pi * cycles * u);
          const std::complex<double> value{real.value, imaginary.value};
          const std::size_t point = line * lines.ranges + k;
          sums[point] += value * turn;
          jumps[point] = jumps[point] || real.jumps;
          // The phase is of the place too.
          allowed[point] +=
              real.allowed + imaginary.allowed + (1e-4 + 2.0 * std::numbers::pi * cycles * error.place) * std::abs(value) + 1e-6;
        });
        const auto stage = make(options);
        const StageResult result = run(*stage, spec, input);
        std::size_t wrong = 0;
        double error = 0.0;
        double size = 0.0;
        for (std::size_t point = 0; point < sums.size(); ++point) {
          const float* const found =
              result.block->as<float>() + 2 * (point / lines.ranges * result.spec.row_stride + point % lines.ranges);
          const double off = std::abs(std::complex<double>(found[0], found[1]) - sums[point]);
          if (!(off <= allowed[point])) ++wrong;
          if (jumps[point]) continue;
          error += off * off;
          size += std::norm(sums[point]);
        }
        const double relative = size > 0.0 ? std::sqrt(error / size) : std::sqrt(error);
        EXPECT_EQ(wrong, 0U) << kind << ", " << spacing << " samples a range, part " << part << ", relative error " << relative;
        report.add(relative);
      }
    }
  }
}

}  // namespace
}  // namespace echoform::test::windows_along_lines
