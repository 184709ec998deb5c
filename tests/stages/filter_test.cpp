// Temporal filters: their responses, and what both stages that apply them make of rows, against discrete Fourier transforms by
// their sums in double precision.
#include "stages/filter/filter.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <stop_token>

#include "base/planning.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/filter/chirp_sums.hpp"
#include "stages/filter/filter_response.hpp"
#include "tests/stages/analytic_rows.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using Phasor = std::complex<double>;

constexpr double turn = 2.0 * std::numbers::pi;
constexpr Hertz rate{25e6};

/// An echo as a transducer gives it, of any phase, that does not stand on a sample.
constexpr double pulse_centre = 40.3;
constexpr double pulse_turns = 0.2;  // a sample
constexpr double pulse_width = 7.0;  // samples
double echo(double samples_from_centre, double phase = 0.9) {
  return 3.0 * std::exp(-0.5 * samples_from_centre * samples_from_centre / (pulse_width * pulse_width)) *
         std::cos(turn * pulse_turns * samples_from_centre + phase);
}

FilterOptions mean_filter() {
  FilterOptions options;
  options.kind = FilterKind::mean;
  options.sample_rate = rate;
  return options;
}
FilterOptions band_filter(double low = 3.5e6, double high = 6.5e6) {
  FilterOptions options = mean_filter();
  options.kind = FilterKind::band;
  options.low = Hertz(low);
  options.high = Hertz(high);
  options.skirt = usual_skirt(options.low, options.high);
  return options;
}
FilterOptions wiener_filter() {
  FilterOptions options = mean_filter();
  options.kind = FilterKind::wiener;
  MeasuredPulse pulse;
  pulse.sample_rate = rate;
  for (int n = 0; n < 81; ++n) pulse.samples.push_back(echo(n - pulse_centre));
  options.pulse = std::make_shared<const MeasuredPulse>(pulse);
  return options;
}

struct NamedFilter {
  std::string name;
  FilterOptions options;
};
std::vector<NamedFilter> filters() {
  std::vector<NamedFilter> all{{"mean", mean_filter()}, {"band", band_filter()}, {"wiener", wiener_filter()}};
  FilterOptions two_skirts = band_filter(2e6, 6e6);
  two_skirts.skirt = Hertz(1e6);
  two_skirts.upper_skirt = Hertz(3e6);
  all.push_back({"two-skirts", two_skirts});
  all.push_back({"low-pass", band_filter(0.0, 4e6)});      // of which a constant passes
  all.push_back({"high-pass", band_filter(2e6, 12.5e6)});  // and of which Nyquist does
  NamedFilter notched{"mean and notch", mean_filter()};
  notched.options.notch = Notch{Hertz(6e6), Hertz(1e6)};
  all.push_back(notched);
  return all;
}

/// What a filter is at a frequency, by the definitions in docs/filters.md.
Phasor factor_at(const FilterOptions& options, double frequency) {
  const double half_rate = 0.5 * options.sample_rate.value;
  Phasor factor = 1.0;
  if (options.kind == FilterKind::band) {
    // 1 % to 99 % of a Gaussian's integral are 4.65269574808 deviations.
    const auto above = [&](Hertz edge, Hertz skirt) {
      return 0.5 + 0.5 * std::erf((frequency - edge.value) / (std::sqrt(2.0) * skirt.value / 4.65269574808));
    };
    const Hertz upper = options.upper_skirt.value > 0.0 ? options.upper_skirt : options.skirt;
    factor = (options.low.value > 0.0 ? above(options.low, options.skirt) : 1.0) -
             (options.high.value < half_rate ? above(options.high, upper) : 0.0);
    if (options.low.value > 0.0 && frequency == 0.0) factor = 0.0;
  } else if (frequency == 0.0) {
    factor = 0.0;
  } else if (options.kind == FilterKind::wiener) {
    const auto spectrum = [&](double f) {
      Phasor sum;
      for (std::size_t n = 0; n < options.pulse->samples.size(); ++n) {
        sum += options.pulse->samples[n] * std::polar(1.0, -turn * f / rate.value * (static_cast<double>(n) - pulse_centre));
      }
      return sum;
    };
    // The pulse is strongest where its Gaussian is.
    const double most = std::abs(spectrum(pulse_turns * rate.value));
    factor = std::conj(spectrum(frequency)) * most / (std::norm(spectrum(frequency)) + options.noise * most * most);
  }
  if (options.notch) {
    const double away = (frequency - options.notch->centre.value) / (0.5 * options.notch->width.value);
    factor *= 1.0 - std::exp(-std::log(2.0) * away * away);
  }
  return factor;
}

/// I and Q of a row: forward DFT, factors (which FilterResponse proves), inverse DFT.
struct FilteredRow {
  std::vector<double> in_phase;
  std::vector<double> quadrature;
};
FilteredRow filtered(const std::vector<double>& s, const FilterOptions& options) {
  const std::size_t m = s.size();
  std::vector<Phasor> phasors;
  for (std::size_t k = 0; k < m; ++k) phasors.push_back(std::polar(1.0, turn * static_cast<double>(k) / static_cast<double>(m)));
  const RowResponse response = filter_response(options, m);
  FilteredRow row{std::vector<double>(m, 0.0), std::vector<double>(m, 0.0)};
  for (std::size_t f = 0; 2 * f <= m; ++f) {
    const bool real = f == 0 || 2 * f == m;
    Phasor bin;
    for (std::size_t n = 0; n < m; ++n) bin += s[n] * std::conj(phasors[f * n % m]);
    bin *= response[f] * (real ? 1.0 : 2.0) / static_cast<double>(m);
    for (std::size_t n = 0; n < m; ++n) {
      const Phasor part = bin * phasors[f * n % m];
      row.in_phase[n] += part.real();
      if (!real) row.quadrature[n] += part.imag();  // the real part of -i times it
    }
  }
  return row;
}

double greatest_factor(const FilterOptions& options) {
  double most = 0.0;
  for (const Phasor& factor : filter_response(options, 512)) most = std::max(most, std::abs(factor));
  return most;
}

TEST(FilterResponse, IsThatOfItsDefinition) {
  for (const NamedFilter& filter : filters()) {
    for (const std::size_t m : {2, 3, 8, 97, 512}) {
      const RowResponse response = filter_response(filter.options, m);
      ASSERT_EQ(response.size(), m / 2 + 1);
      for (std::size_t k = 0; k < response.size(); ++k) {
        Phasor want = factor_at(filter.options, rate.value * static_cast<double>(k) / static_cast<double>(m));
        if (2 * k == m) want = want.real();
        // Where a pulse is greatest is found to 1e-6 of a sample, and what its spectrum's peak is to the grid on which it is
        // sought.
        const double tolerance = filter.options.kind == FilterKind::wiener ? 2e-3 : 1e-12;
        EXPECT_NEAR(std::abs(response[k] - want), 0.0, tolerance) << filter.name << ", " << m << " samples, bin " << k;
      }
      EXPECT_EQ(response.front().imag(), 0.0);
      if (m % 2 == 0) {
        EXPECT_EQ(response.back().imag(), 0.0);
      }
    }
  }
}

TEST(FilterResponse, PassesWhatIsInsideAndStopsWhatIsOutside) {
  const FilterOptions band = band_filter();  // 3.5 to 6.5 MHz, edges 1.5 MHz wide
  EXPECT_EQ(band.skirt, Hertz(1.5e6));
  const std::size_t m = 2500;  // bins of 10 kHz
  const RowResponse response = filter_response(band, m);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const double megahertz = 0.01 * static_cast<double>(k);
    const double factor = response[k].real();
    EXPECT_EQ(response[k].imag(), 0.0) << "zero phase";
    if (megahertz >= 3.5 + 0.75 && megahertz <= 6.5 - 0.75) {
      EXPECT_NEAR(factor, 1.0, 0.011) << megahertz;
    }
    if (megahertz <= 3.5 - 0.75 || megahertz >= 6.5 + 0.75) {
      EXPECT_LE(factor, 0.0101) << "-40 dB, " << megahertz;
    }
    if (megahertz <= 3.5 - 1.5 || megahertz >= 6.5 + 1.5) {
      EXPECT_LE(factor, 3e-6) << "-110 dB, " << megahertz;
    }
  }
  EXPECT_NEAR(response[350].real(), 0.5, 1e-6) << "half the amplitude at an edge";
  EXPECT_NEAR(response[650].real(), 0.5, 1e-6);
  EXPECT_EQ(response[0], Phasor(0.0)) << "nothing of a constant";
  EXPECT_EQ(filter_response(band_filter(0.0, 4e6), m)[0], Phasor(1.0));
  EXPECT_EQ(filter_response(band_filter(2e6, 12.5e6), m).back(), Phasor(1.0));
  FilterOptions notched = mean_filter();
  notched.notch = Notch{Hertz(6e6), Hertz(1e6)};
  const RowResponse notch = filter_response(notched, m);
  EXPECT_NEAR(std::abs(notch[600]), 0.0, 1e-15);
  EXPECT_NEAR(notch[550].real(), 0.5, 1e-12);
  EXPECT_NEAR(notch[650].real(), 0.5, 1e-12);
  EXPECT_NEAR(notch[300].real(), 1.0, 1e-9);
}

TEST(FilterResponse, IsAsLongAsItSays) {
  EXPECT_EQ(response_size({}).length, 0u);
  EXPECT_EQ(response_size({}).gain, 1.0);
  EXPECT_EQ(response_size(mean_filter()).length, 0u) << "a constant taken away rings nowhere";
  for (const NamedFilter& filter : filters()) {
    const ResponseSize size = response_size(filter.options);
    const std::size_t m = 3000;  // another length than that in which it is measured
    const std::vector<double> response = impulse_response(filter_response(filter.options, m), m);
    double peak = 0.0;
    double sum = 0.0;
    for (const double value : response) {
      peak = std::max(peak, std::abs(value));
      sum += std::abs(value);
    }
    // Taking the mean away leaves 1 / m at every sample: 1/3 of the 1e-3 here.
    for (std::size_t n = size.length + 1; n < m - size.length; ++n)
      ASSERT_LE(std::abs(response[n]), 1.4e-3 * peak) << filter.name;
    EXPECT_NEAR(size.gain, sum, 2e-2 * sum) << filter.name;
    if (filter.options.kind == FilterKind::band) {
      EXPECT_LE(static_cast<double>(size.length), 2.8 * rate.value / filter.options.skirt.value) << filter.name;
      EXPECT_LE(size.gain, 3.0) << filter.name;
    }
  }
}

TEST(FilterResponse, OfAPulseDependsOnItsShapeAlone) {
  const RowResponse usual = filter_response(wiener_filter(), 512);
  // Near the greatest number there is, whose sums would overflow, and the least that has all digits.
  for (const double scale : {5e307, -5e307, 1e-300}) {
    FilterOptions options = wiener_filter();
    MeasuredPulse pulse = *options.pulse;
    for (double& sample : pulse.samples) sample *= scale;
    options.pulse = std::make_shared<const MeasuredPulse>(pulse);
    const RowResponse response = filter_response(options, 512);
    const double sign = scale < 0.0 ? -1.0 : 1.0;
    for (std::size_t k = 0; k < usual.size(); ++k) {
      // The centre is found to 1e-6 of a sample: half a turn a sample moves by 3e-6, times the greatest factor of 5.
      ASSERT_NEAR(std::abs(sign * response[k] - usual[k]), 0.0, 2e-5) << scale << ", bin " << k;
    }
  }
}

TEST(FilterResponse, OfALongPulseOnLongRowsIsThatOfItsDefinition) {
  FilterOptions options = wiener_filter();
  MeasuredPulse pulse = *options.pulse;
  pulse.samples.resize(MeasuredPulse::most_samples, 0.0);
  options.pulse = std::make_shared<const MeasuredPulse>(pulse);
  const std::size_t m = 100'000;
  const RowResponse response = filter_response(options, m);
  for (std::size_t k = 0; k <= m / 2; k += 997) {
    const Phasor want = factor_at(options, rate.value * static_cast<double>(k) / static_cast<double>(m));
    EXPECT_NEAR(std::abs(response[k] - want), 0.0, 2e-3) << "bin " << k;  // as in IsThatOfItsDefinition
  }
  // Of rows that are sampled faster only what the pulse's own sample rate holds, to half of that and with it.
  options.sample_rate = 2.0 * rate;
  const RowResponse fast = filter_response(options, 1024);
  EXPECT_NE(fast[256], Phasor());
  for (std::size_t k = 257; k <= 512; ++k) EXPECT_EQ(fast[k], Phasor());
}

TEST(FilterResponse, EndsWithThePlanning) {
  std::stop_source stop;
  const Planning planning(stop.get_token());
  EXPECT_NO_THROW(static_cast<void>(filter_response(wiener_filter(), 64)));
  stop.request_stop();
  EXPECT_THROW(static_cast<void>(filter_response(wiener_filter(), 64)), PlanningEnded);
}

TEST(ChirpSums, AreTheSums) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  std::vector<Phasor> numbers(301);
  double size = 0.0;
  for (Phasor& number : numbers) {
    number = {noise(random), noise(random)};
    size += std::abs(number);
  }
  for (const std::size_t count : {1, 7, 3000, 20'000}) {  // one block of 2048 - 300, and many
    const double step = 0.5 / static_cast<double>(count);
    const std::vector<Phasor> sums = chirp_sums(numbers, step, count);
    ASSERT_EQ(sums.size(), count);
    for (std::size_t k = 0; k < count; k += 1 + count / 50) {
      Phasor want;
      for (std::size_t n = 0; n < numbers.size(); ++n) {
        want += numbers[n] * std::polar(1.0, -turn * step * static_cast<double>(n * k));
      }
      EXPECT_NEAR(std::abs(sums[k] - want), 0.0, 1e-8 * size) << count << ", " << k;  // as it says
    }
  }
}

TEST(FilterResponse, BadOptionsAreRefused) {
  const auto refusal = [](const FilterOptions& options) { return input_error([&] { validate(options, "x: [filter]"); }); };
  EXPECT_EQ(refusal({}), "");
  for (const NamedFilter& filter : filters()) EXPECT_EQ(refusal(filter.options), "") << filter.name;
  EXPECT_EQ(refusal(band_filter(6e6, 3e6)),
            "x: [filter] band: found 6 to 3 MHz; expected the lower edge first, 0 or more, and a higher one behind it");
  EXPECT_EQ(refusal(band_filter(3e6, 13e6)),
            "x: [filter] band: found 3 to 13 MHz; expected edges of at most half the sample rate, 12.5 MHz");
  EXPECT_NE(refusal(band_filter(3e6, std::numeric_limits<double>::quiet_NaN())), "");
  FilterOptions options = band_filter();
  options.skirt = Hertz(0.0);
  EXPECT_EQ(refusal(options), "x: [filter] skirt: found 0 MHz; expected a width above 0");
  options = mean_filter();
  options.sample_rate = Hertz(0.0);
  EXPECT_EQ(refusal(options), "x: [filter] sample rate: found 0 Hz; expected one above 0");
  options = mean_filter();
  options.notch = Notch{Hertz(6e6), Hertz(0.0)};
  EXPECT_EQ(refusal(options), "x: [filter] notch: found a width of 0 MHz; expected a width above 0");
  options.notch = Notch{Hertz(13e6), Hertz(1e6)};
  EXPECT_EQ(refusal(options),
            "x: [filter] notch: found a centre of 13 MHz; expected one above 0 and below half the sample rate, 12.5 MHz");
  const auto with_pulse = [](std::vector<double> samples, Hertz pulse_rate = rate) {
    FilterOptions wiener = wiener_filter();
    wiener.pulse = std::make_shared<const MeasuredPulse>(MeasuredPulse{std::move(samples), pulse_rate});
    return wiener;
  };
  options = wiener_filter();
  options.pulse = nullptr;
  EXPECT_EQ(refusal(options), "x: [filter] pulse: found no samples; expected a measured pulse, which the kind \"wiener\" needs");
  EXPECT_EQ(refusal(with_pulse({})), refusal(options));
  EXPECT_EQ(refusal(with_pulse({1.0})), "x: [filter] pulse: found 1 sample; expected 2 to 4096");
  EXPECT_EQ(refusal(with_pulse({0.0, 0.0})), "x: [filter] pulse: found zeros alone; expected an echo");
  EXPECT_EQ(refusal(with_pulse({2.0, 2.0})), "x: [filter] pulse: found a constant; expected an echo");
  EXPECT_EQ(refusal(with_pulse({0.0, std::numeric_limits<double>::infinity()})),
            "x: [filter] pulse: found samples that are no numbers; expected finite ones");
  EXPECT_EQ(refusal(with_pulse({0.0, 1.0}, Hertz(0.0))), "x: [filter] pulse: found a sample rate of 0 Hz; expected one above 0");
  options = wiener_filter();
  options.noise = 2.0;
  EXPECT_EQ(refusal(options), "x: [filter] noise: found 2; expected 1e-06 to 1");
}

TEST(FilterRoute, IsTheFusedOneWhereABlockHasEnoughSharedMemory) {
  constexpr std::size_t of_8_9 = 101'376;  // compute capabilities 8.6, 8.9 and 12.0
  AnalyticSignalOptions options;
  for (const int length : hilbert::fused_lengths) {
    const auto m = static_cast<std::size_t>(length);
    options.filter = {};
    EXPECT_TRUE(takes_fused_route(options, m, of_8_9)) << m;
    options.filter = band_filter();
    EXPECT_TRUE(takes_fused_route(options, m, usual_block_memory)) << m;
    EXPECT_EQ(takes_fused_route(options, m, of_8_9), m <= 5120) << m;
  }
  EXPECT_FALSE(takes_fused_route(options, 1000));
  // Two arrays of 8192 numbers of 8 bytes, a gap after each 16; one number of 8 bytes for each of 16 warps.
  const std::size_t needed = std::size_t{2 * (8192 + 512) * 8} + 16 * 8;
  EXPECT_TRUE(can_fuse(options.filter, 8192, needed));
  EXPECT_FALSE(can_fuse(options.filter, 8192, needed - 1));
  options.route = HilbertRoute::cufft;
  EXPECT_FALSE(takes_fused_route(options, 1024));
  options.route = HilbertRoute::fused;
  EXPECT_EQ(input_error([&] { (void)takes_fused_route(options, 8192, of_8_9); }),
            "analytic-signal stage, input samples: found 8192; expected a shorter length: with a filter the device's shared "
            "memory ends below");
}

TEST(FilterResponse, OptionsAreComparedByTheirContents) {
  EXPECT_EQ(wiener_filter(), wiener_filter());
  FilterOptions other = wiener_filter();
  other.pulse = std::make_shared<const MeasuredPulse>(MeasuredPulse{{0.0, 1.0}, rate});
  EXPECT_FALSE(other == wiener_filter());
  EXPECT_FALSE(band_filter() == mean_filter());
}

class Filters : public StageTest {
 protected:
  struct Way {
    std::string name;
    AnalyticSignalOptions options;
  };
  /// Of the analytic signal's stage, for rows of m samples.
  [[nodiscard]] std::vector<Way> ways(std::size_t m, const FilterOptions& filter) const {
    std::vector<Way> all;
    const auto add = [&](const char* name, bool half, HilbertRoute route) {
      AnalyticSignalOptions options;
      options.half = half;
      options.route = route;
      options.filter = filter;
      all.push_back({name, options});
    };
    if (!on_cuda()) {
      add("the one way", false, HilbertRoute::automatic);
      return all;
    }
    add("cuFFT, float path", false, HilbertRoute::cufft);
    add("cuFFT, half path", true, HilbertRoute::cufft);
    if (!can_fuse(filter, m)) return all;
    add("fused, float path", false, HilbertRoute::fused);
    add("fused, half path", true, HilbertRoute::fused);
    return all;
  }
  [[nodiscard]] std::unique_ptr<Stage> make_analytic(const AnalyticSignalOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_analytic_signal_cuda(options, backend());
#endif
    return make_analytic_signal_cpu(threads(), level(), options.filter);
  }
  [[nodiscard]] std::unique_ptr<Stage> make_filter(const FilterOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_filter_cuda(options, backend());
#endif
    return make_filter_cpu(options, threads(), level());
  }

  static TestBlock make_rows(const BlockSpec& spec, const std::vector<std::vector<double>>& rows) {
    TestBlock block(spec);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t n = 0; n < spec.columns; ++n) block.as<float>()[r * spec.row_stride + n] = static_cast<float>(rows[r][n]);
    }
    return block;
  }
  static std::vector<double> real_row(const StageResult& result, std::size_t row) {
    const float* const first = result.block->as<float>() + row * result.spec.row_stride;
    return {first, first + result.spec.columns};
  }

  /// Relative to `size`.
  static double error_of(std::vector<double> found, const std::vector<double>& wanted, double size) {
    // On the half path with linear interpolation the last element counts in no lookup, and is zero.
    for (std::size_t n = 0; n < found.size(); ++n) found[n] -= wanted[n];
    return norm(found) / size;
  }

  void check_against_sums(const NamedFilter& filter, std::size_t m, std::size_t rows);
};
ECHOFORM_ALL_IMPLEMENTATIONS(Filters);

void Filters::check_against_sums(const NamedFilter& filter, std::size_t m, std::size_t rows) {
  SCOPED_TRACE(filter.name + ", " + std::to_string(m) + " samples");
  std::mt19937 random(static_cast<unsigned>(m));
  std::normal_distribution<float> noise(0.2F, 1.0F);
  std::vector<std::vector<double>> samples(rows, std::vector<double>(m));
  std::vector<FilteredRow> wanted;
  for (std::size_t r = 0; r < rows; ++r) {
    // Rows of very different size on the float path: none may leak into another.
    const float size = r % 2 == 0 ? 1e3F : 1e-3F;
    for (double& s : samples[r]) s = size * noise(random);
    wanted.push_back(filtered(samples[r], filter.options));
  }
  const BlockSpec spec = make_spec(ElementType::float32, rows, m, m + 5);
  const TestBlock input = make_rows(spec, samples);
  // Single precision leaves about 2e-7 of the row that came.
  const double single = 1e-6 * std::max(1.0, greatest_factor(filter.options));
  const auto alone = make_filter(filter.options);
  const StageResult real = run(*alone, spec, input);
  for (std::size_t r = 0; r < rows; ++r) {
    EXPECT_LE(error_of(real_row(real, r), wanted[r].in_phase, norm(samples[r])), single) << "row " << r;
    for (std::size_t n = m; n < real.spec.row_stride; ++n) ASSERT_EQ(real.block->as<float>()[r * real.spec.row_stride + n], 0.0F);
  }
  for (const Way& way : ways(m, filter.options)) {
    SCOPED_TRACE(way.name);
    const auto stage = make_analytic(way.options);
    const StageResult result = run(*stage, spec, input);
    for (std::size_t r = 0; r < rows; ++r) {
      if (way.options.half && r % 2 == 1) continue;  // far below the frame's peak: no digits are left for them
      const Signal signal = signal_of(result, r);
      FilteredRow want = wanted[r];
      if (way.options.half) want.in_phase.back() = want.quadrature.back() = 0.0;
      // Half precision: half a unit of 11 digits.
      const double tolerance = single + (way.options.half ? 0x1p-11 * std::max(1.0, greatest_factor(filter.options)) : 0.0);
      EXPECT_LE(error_of(signal.in_phase, want.in_phase, norm(samples[r])), tolerance) << "row " << r;
      EXPECT_LE(error_of(signal.quadrature, want.quadrature, norm(samples[r])), tolerance) << "row " << r;
    }
  }
}

TEST_P(Filters, EqualTheDirectTransform) {
  // Smooth lengths, odd and even; primes and lengths with a prime factor above 13, which take the longer transform.
  for (const std::size_t m : {2, 3, 8, 13, 16, 17, 34, 63, 64, 97, 250, 251}) {
    for (const NamedFilter& filter : filters()) check_against_sums(filter, m, on_cuda() ? 11 : 3);
  }
  std::vector<std::size_t> long_ones{1031, 1040};
  for (const int fused : hilbert::fused_lengths) {
    if (on_cuda() || fused == 1024) long_ones.push_back(static_cast<std::size_t>(fused));
  }
  if (!on_cuda() && threads() != 2) return;  // the double sums take long
  for (const std::size_t m : long_ones) {
    check_against_sums({"band", band_filter()}, m, on_cuda() ? 3 : 1);
    if (m == 1024 || m == 1280) check_against_sums({"wiener", wiener_filter()}, m, on_cuda() ? 3 : 1);
  }
}

TEST_P(Filters, NoneGivesTheBitsOfTheRows) {
  FilterOptions none = band_filter(6e6, 3e6);  // of no meaning, and not looked at
  none.kind = FilterKind::none;
  for (const std::size_t m : {100, 101, 1024}) {
    std::mt19937 random(3);
    std::normal_distribution<float> noise;
    std::vector<std::vector<double>> rows(5, std::vector<double>(m));
    for (auto& row : rows) {
      for (double& s : row) s = noise(random);
    }
    const BlockSpec spec = make_spec(ElementType::float32, 5, m, m + 1);
    const TestBlock input = make_rows(spec, rows);
    const auto alone = make_filter(none);
    const StageResult real = run(*alone, spec, input);
    for (std::size_t r = 0; r < 5; ++r) {
      EXPECT_EQ(std::memcmp(real.block->as<float>() + r * real.spec.row_stride, input.as<float>() + r * spec.row_stride, 4 * m),
                0);
    }
    const auto plain = ways(m, {});
    const auto with_none = ways(m, none);
    for (std::size_t w = 0; w < plain.size(); ++w) {
      const auto without = make_analytic(plain[w].options);
      const auto with = make_analytic(with_none[w].options);
      const StageResult a = run(*without, spec, input);
      const StageResult b = run(*with, spec, input);
      ASSERT_EQ(a.spec, b.spec);
      EXPECT_EQ(std::memcmp(a.block->read().data, b.block->read().data, a.spec.bytes()), 0) << plain[w].name;
    }
  }
}

TEST_P(Filters, EchoesStayWhereTheyAre) {
  const std::size_t m = 512;
  const double place = 200.25;
  std::vector<double> symmetric(m);
  std::vector<double> any_phase(m);
  for (std::size_t n = 0; n < m; ++n) {
    symmetric[n] = echo(static_cast<double>(n) - 200.0, 0.0) + 5.0;
    any_phase[n] = echo(static_cast<double>(n) - place);
  }
  const BlockSpec spec = make_spec(ElementType::float32, 2, m, m);
  const TestBlock input = make_rows(spec, {symmetric, any_phase});
  for (const NamedFilter& filter : filters()) {
    SCOPED_TRACE(filter.name);
    const auto alone = make_filter(filter.options);
    const std::vector<double> row = real_row(run(*alone, spec, input), 0);
    for (std::size_t k = 1; k < 150 && filter.options.kind != FilterKind::wiener; ++k) {
      EXPECT_NEAR(row[200 - k], row[200 + k], 2e-5) << "symmetric about its sample, " << k;  // single precision of 8
    }
    AnalyticSignalOptions options;
    options.filter = filter.options;
    const auto stage = make_analytic(options);
    const Signal signal = signal_of(run(*stage, spec, input), 1);
    double sum = 0.0;
    double moment = 0.0;
    for (std::size_t n = 100; n < 300; ++n) {
      const double power = std::norm(Phasor(signal.in_phase[n], signal.quadrature[n]));
      sum += power;
      moment += power * static_cast<double>(n);
    }
    EXPECT_NEAR(moment / sum, place, 1e-3) << "samples";
  }
}

TEST_P(Filters, WeakEchoesUnderAStrongConstant) {
  // Echoes of a five-hundredth of the constant on which they stand: half precision is right to 1e-3 of what is left of them.
  for (const std::size_t m : {1000, 1024}) {
    std::vector<std::vector<double>> rows(4, std::vector<double>(m));
    std::vector<FilteredRow> wanted;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double at = 150.3 + 200.7 * static_cast<double>(r);
      for (std::size_t n = 0; n < m; ++n) {
        rows[r][n] =
            1.0 + 0.002 / 3.0 * echo(static_cast<double>(n) - at) + 0.001 / 3.0 * echo(static_cast<double>(n) - at - 60.0);
        rows[r][n] = static_cast<float>(rows[r][n]);
      }
      wanted.push_back(filtered(rows[r], band_filter()));
    }
    const BlockSpec spec = make_spec(ElementType::float32, rows.size(), m, m);
    for (const Way& way : ways(m, band_filter())) {
      SCOPED_TRACE(way.name);
      const auto stage = make_analytic(way.options);
      const StageResult result = run(*stage, spec, make_rows(spec, rows));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const Signal signal = signal_of(result, r);
        EXPECT_LE(error_of(signal.in_phase, wanted[r].in_phase, norm(wanted[r].in_phase)), 1e-3) << "row " << r;
        EXPECT_LE(error_of(signal.quadrature, wanted[r].quadrature, norm(wanted[r].quadrature)), 1e-3) << "row " << r;
      }
    }
  }
}

TEST_P(Filters, RefuseWhatTheyCannotFilter) {
  EXPECT_EQ(input_error([&] { (void)make_filter(band_filter(6e6, 3e6)); }),
            "filter stage, band: found 6 to 3 MHz; expected the lower edge first, 0 or more, and a higher one behind it");
  AnalyticSignalOptions options;
  options.filter = band_filter(6e6, 3e6);
  EXPECT_EQ(input_error([&] { (void)make_analytic(options); }),
            "analytic-signal stage, filter band: found 6 to 3 MHz; expected the lower edge first, 0 or more, and a higher one "
            "behind it");
  EXPECT_NE(input_error([&] {
              (void)analytic_signal_stage.state(options, make_spec(ElementType::float32, 1, 8), StageSite(BackendKind::cpu));
            }),
            "");
  const auto stage = make_filter(mean_filter());
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::raw, 1, 8)); }),
            "filter stage, input type: found raw samples; expected float32");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::float32, 1, 1)); }),
            "filter stage, input samples: found 1; expected 2 to 268435456");
}

}  // namespace
}  // namespace echoform::test
