// How dark an empty cyst in simulated tissue is, plain and with each adaptive weight: the program's image and one in double
// precision that is made from the samples by definitions alone have the same contrast and gCNR. Prints them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "settings/reader.hpp"
#include "tests/scan_lines/adaptive_reference.hpp"
#include "tests/simulators/line_image.hpp"

namespace echoform::cyst_contrast {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double velocity = 1540.0;
constexpr double rate = 20e6;
constexpr double tone = 4e6;
constexpr double bandwidth = 0.6 * tone;
constexpr std::size_t elements = 32;
constexpr double pitch = 0.19e-3;
constexpr std::size_t lines = 25;
constexpr double widest = 14.0 * pi / 180.0;
constexpr double focus = 0.020;
constexpr std::size_t samples = 768;
constexpr double f_number = 4.0;
constexpr double first_range = 0.0145;
constexpr double last_range = 0.0255;
constexpr std::size_t ranges = 380;
constexpr double cyst_depth = 0.020;
constexpr double cyst_radius = 0.0025;

Configuration tissue_with(std::string_view kind) {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [{}, {}]
ranges = {}
f_number = {}
window = "hann"
adaptive = "{}"
subarray = 0.25
[filter]
kind = "none"
[simulator]
elements = {}
pitch = {}
element_width = 0.17e-3
centre_frequency = 4e6
sample_rate = 20e6
samples = {}
longitudinal_velocity = 1540.0
encoding = "float32"
quantised = false
transmit = "beams"
events = {}
angles = [-14.0, 14.0]
focus = {}
scatterers = 16000
speckle_x = [-0.009, 0.009]
speckle_z = [0.012, 0.028]
cysts = [[0.0, {}, {}, -inf]]
)",
                                         first_range, last_range, ranges, f_number, kind, elements, pitch, samples, lines, focus,
                                         cyst_depth, cyst_radius),
                             "cyst.toml");
}

double range_at(std::size_t k) {
  return first_range + (last_range - first_range) * static_cast<double>(k) / static_cast<double>(ranges - 1);
}
double angle_at(std::size_t line) {
  return widest * (2.0 * static_cast<double>(line) / static_cast<double>(lines - 1) - 1.0);
}

/// H{s} of a row that repeats, of an even number of samples: the sum with (2 / M) cot(pi n / M) over odd n, which is what taking
/// negative frequencies away comes to.
std::vector<double> quadrature_of(const std::vector<double>& s) {
  const std::size_t m = s.size();
  EXPECT_EQ(m % 2, 0U);
  std::vector<double> kernel(m, 0.0);
  for (std::size_t n = 1; n < m; n += 2) {
    kernel[n] = 2.0 / static_cast<double>(m) / std::tan(pi * static_cast<double>(n) / static_cast<double>(m));
  }
  std::vector<double> quadrature(m, 0.0);
  for (std::size_t n = 0; n < m; ++n) {
    for (std::size_t k = (n + 1) % 2; k < m; k += 2) quadrature[n] += s[k] * kernel[(n + m - k) % m];
  }
  return quadrature;
}

/// A row that repeats, times a box with Gaussian edges from `low` to `high` whose skirts are `skirt` wide from 1 % to 99 %.
std::vector<double> banded(const std::vector<double>& s, double sample_rate, double low, double high, double skirt) {
  const std::size_t m = s.size();
  std::vector<std::complex<double>> roots;
  for (std::size_t n = 0; n < m; ++n) {
    roots.push_back(std::polar(1.0, 2.0 * pi * static_cast<double>(n) / static_cast<double>(m)));
  }
  std::vector<double> out(m, 0.0);
  for (std::size_t k = 1; k <= m / 2; ++k) {
    const double frequency = static_cast<double>(k) / static_cast<double>(m) * sample_rate;
    const double to_edge = 3.29 / skirt;
    const double passes = 0.5 * (std::erf((frequency - low) * to_edge) - std::erf((frequency - high) * to_edge));
    std::complex<double> bin;
    for (std::size_t n = 0; n < m; ++n) bin += s[n] * std::conj(roots[k * n % m]);
    const double twice = 2 * k == m ? 1.0 : 2.0;
    for (std::size_t n = 0; n < m; ++n) {
      out[n] += twice / static_cast<double>(m) * passes * (bin * roots[k * n % m]).real();
    }
  }
  return out;
}

/// Channels of every line, delayed: from the samples of the gate and the geometry that the configuration states.
std::vector<test::AlignedLine> aligned(const std::vector<float>& data, std::size_t gate_first, std::size_t gate_count) {
  const auto place = [](std::size_t e) { return (static_cast<double>(e) - 0.5 * static_cast<double>(elements - 1)) * pitch; };
  std::vector<test::AlignedLine> all;
  for (std::size_t line = 0; line < lines; ++line) {
    test::AlignedLine& to = all.emplace_back();
    to.values.assign(ranges, std::vector<test::Complex>(elements));
    to.weights.assign(ranges, std::vector<double>(elements));
    const double angle = angle_at(line);
    const double fx = focus * std::sin(angle);
    const double fz = focus * std::cos(angle);
    double farthest = 0.0;
    for (std::size_t e = 0; e < elements; ++e) farthest = std::max(farthest, std::hypot(place(e) - fx, fz));
    for (std::size_t e = 0; e < elements; ++e) {
      const auto from = data.begin() + static_cast<std::ptrdiff_t>((line * elements + e) * samples + gate_first);
      const std::vector<double> row(from, from + static_cast<std::ptrdiff_t>(gate_count));
      const std::vector<double> quadrature = quadrature_of(row);
      for (std::size_t k = 0; k < ranges; ++k) {
        const double r = range_at(k);
        const double half = std::min(r / (2.0 * f_number), 0.5 * static_cast<double>(elements) * pitch);
        if (std::abs(place(e)) > half) continue;
        to.weights[k][e] = std::pow(std::cos(0.5 * pi * place(e) / half), 2);
        const double back = std::hypot(r * std::sin(angle) - place(e), r * std::cos(angle));
        const double u = (farthest + r - focus + back) / velocity * rate - static_cast<double>(gate_first);
        if (u < 0.0 || u >= static_cast<double>(gate_count) - 1.0) continue;
        const auto n = static_cast<std::size_t>(u);
        const double f = u - static_cast<double>(n);
        to.values[k][e] = {(1.0 - f) * row[n] + f * row[n + 1], (1.0 - f) * quadrature[n] + f * quadrature[n + 1]};
      }
    }
  }
  return all;
}

/// As plain_low_frequencies() has it, each range's sums worked out once.
std::vector<double> low_frequency_line(const AdaptiveOptions& options, const test::AlignedLine& line) {
  std::vector<double> low(ranges, 0.0);
  std::vector<double> total(ranges, 0.0);
  for (std::size_t k = 0; k < ranges; ++k) {
    const std::vector<std::size_t> heard = test::heard_at(line, k);
    const auto count = static_cast<double>(heard.size());
    const auto most = static_cast<int>(options.low_frequencies);
    for (int m = -most; m <= most; ++m) {
      test::Complex sum;
      for (std::size_t n = 0; n < heard.size(); ++n) {
        sum += line.values[k][heard[n]].real() * std::polar(1.0, -2.0 * pi * m * static_cast<double>(n) / count);
      }
      low[k] += std::norm(sum);
    }
    for (const std::size_t n : heard) total[k] += count * std::pow(line.values[k][n].real(), 2);
  }
  std::vector<double> out;
  for (std::size_t k = 0; k < ranges; ++k) {
    double coherent = 0.0;
    double all = 0.0;
    for (const std::size_t near : test::about(line, k, options.half_window)) {
      coherent += low[near];
      all += total[near];
    }
    out.push_back(test::plain_sums(line, k).mean * (all > 0.0 ? coherent / all : 0.0));
  }
  return out;
}

std::vector<double> reference_image(std::string_view kind, const std::vector<test::AlignedLine>& channels) {
  // A range is a sample of there and back.
  const double line_rate = 0.5 * velocity / (range_at(1) - range_at(0));
  AdaptiveOptions options;
  options.kind = kind;
  options.subarray = 0.25;
  const bool over_a_period =
      kind == "coherence_factor" || kind == "generalised_coherence_factor" || kind == "short_lag_spatial_coherence";
  options.half_window = over_a_period ? static_cast<std::size_t>(std::lround(0.5 * line_rate / tone)) : 0;
  std::vector<double> image;
  for (const test::AlignedLine& line : channels) {
    std::vector<double> row;
    if (kind == "generalised_coherence_factor") {
      row = low_frequency_line(options, line);
    } else {
      for (std::size_t k = 0; k < ranges; ++k) row.push_back(test::plain_adaptive(options, line, k, true));
    }
    if (kind == "f_dmas") {
      const double low = std::max(tone, 2.0 * tone - bandwidth);
      const double high = std::min(3.0 * tone, 2.0 * tone + bandwidth);
      row = banded(row, line_rate, low, high, std::min(0.5 * (high - low), low));
    }
    if (kind != "short_lag_spatial_coherence") {
      const std::vector<double> quadrature = quadrature_of(row);
      for (std::size_t k = 0; k < ranges; ++k) row[k] = std::hypot(row[k], quadrature[k]);
    }
    image.insert(image.end(), row.begin(), row.end());
  }
  return image;
}

struct Cyst {
  double contrast = 0.0;  // dB of mean powers, inside over outside
  double gcnr =
      0.0;  // 1 - the overlap of both distributions; A. Rodriguez-Molares and others, IEEE Trans. UFFC 67(4), 745 (2020)
};

/// Inside and about the cyst, a main lobe's half width off its wall.
Cyst measured(const std::vector<double>& image) {
  std::vector<double> inside;
  std::vector<double> outside;
  double powers[2] = {};
  for (std::size_t n = 0; n < image.size(); ++n) {
    const double angle = angle_at(n / ranges);
    const double r = range_at(n % ranges);
    const double distance = std::hypot(r * std::sin(angle), r * std::cos(angle) - cyst_depth);
    if (distance < 0.65 * cyst_radius) {
      inside.push_back(image[n]);
      powers[0] += image[n] * image[n];
    } else if (distance > 1.3 * cyst_radius && distance < 2.0 * cyst_radius) {
      outside.push_back(image[n]);
      powers[1] += image[n] * image[n];
    }
  }
  EXPECT_GT(inside.size(), 500U);
  EXPECT_GT(outside.size(), 500U);
  Cyst cyst;
  cyst.contrast =
      10.0 * std::log10(powers[0] / static_cast<double>(inside.size()) / (powers[1] / static_cast<double>(outside.size())));
  // Bins that hold a hundredth of all samples each: the scale of amplitudes does not matter.
  std::vector<double> all = inside;
  all.insert(all.end(), outside.begin(), outside.end());
  for (std::vector<double>* const values : {&all, &inside, &outside}) std::ranges::sort(*values);
  const auto part_below = [](const std::vector<double>& values, double edge) {
    return static_cast<double>(std::ranges::lower_bound(values, edge) - values.begin()) / static_cast<double>(values.size());
  };
  constexpr std::size_t bins = 100;
  double overlap = 0.0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double from = all[bin * all.size() / bins];
    const double to = bin + 1 < bins ? all[(bin + 1) * all.size() / bins] : 2.0 * all.back();
    overlap += std::min(part_below(inside, to) - part_below(inside, from), part_below(outside, to) - part_below(outside, from));
  }
  cyst.gcnr = 1.0 - overlap;
  return cyst;
}

TEST(CystContrast, OfEachAdaptiveWeightIsTheReferences) {
  test::SourceFrame frame;
  std::vector<test::AlignedLine> channels;
  fmt::print("{:<32}{:>12}{:>12}{:>10}{:>12}\n", "adaptive", "contrast", "reference", "gCNR", "reference");
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    const Configuration configuration = tissue_with(kind.name);
    if (frame.bytes.empty()) frame = test::frame_of(simulated_source(configuration));
    const test::LinesImage image = test::image_lines(configuration, frame);
    ASSERT_EQ(image.grid.x.count, ranges);
    ASSERT_EQ(image.grid.z.count, lines);
    if (channels.empty()) {
      std::vector<float> data(frame.bytes.size() / sizeof(float));
      std::memcpy(data.data(), frame.bytes.data(), frame.bytes.size());
      ASSERT_EQ(data.size(), lines * elements * samples);
      channels = aligned(data, image.setup->gate.first, image.setup->gate.count);
    }
    const std::vector<double> reference = reference_image(kind.name, channels);
    const Cyst found = measured({image.envelope.begin(), image.envelope.end()});
    const Cyst expected = measured(reference);
    fmt::print("{:<32}{:>9.2f} dB{:>9.2f} dB{:>10.4f}{:>12.4f}\n", kind.name, found.contrast, expected.contrast, found.gcnr,
               expected.gcnr);
    // Single precision is off by 1e-5 of the speckle, 1e-3 of what is 40 dB below it: 0.01 dB.
    EXPECT_NEAR(found.contrast, expected.contrast, 0.02) << kind.name;
    // A hundred edges that each may have a few of thousands of samples on their other side.
    EXPECT_NEAR(found.gcnr, expected.gcnr, 0.005) << kind.name;
  }
}

}  // namespace
}  // namespace echoform::cyst_contrast
