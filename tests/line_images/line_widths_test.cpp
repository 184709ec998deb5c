// How wide a point is across scan lines, at half of its amplitude (-6 dB): against sums of phasors over the elements, which know
// nothing of samples, pulses or interpolation, and against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "settings/reader.hpp"
#include "tests/simulators/line_image.hpp"

namespace echoform::line_widths {
namespace {

constexpr double sound_in_tissue = 1540.0;
constexpr double tone = 5e6;
constexpr double wavelength = sound_in_tissue / tone;
constexpr double radians = std::numbers::pi / 180.0;

enum class Taper : unsigned char { none, hann };

/// Half the amplitude of the greatest, by straight lines between neighbours on both sides of it.
double width_of(const std::vector<double>& places, const std::vector<double>& profile) {
  const auto peak = static_cast<std::size_t>(std::ranges::max_element(profile) - profile.begin());
  const double half = 0.5 * profile[peak];
  std::size_t right = peak;
  while (right + 1 < profile.size() && profile[right] > half) ++right;
  std::size_t left = peak;
  while (left > 0 && profile[left] > half) --left;
  EXPECT_TRUE(profile[right] <= half && profile[left] <= half) << "lines end within the main lobe";
  const auto crossing = [&](std::size_t in, std::size_t out) {
    return places[in] + (places[out] - places[in]) * (profile[in] - half) / (profile[in] - profile[out]);
  };
  return crossing(right - 1, right) - crossing(left + 1, left);
}

struct PlanePlace {
  double x = 0.0;
  double z = 0.0;
  [[nodiscard]] double to(const PlanePlace& other) const { return std::hypot(x - other.x, z - other.z); }
};

/// How strong a line is that is in focus at `wanted` when the echo comes from `point`, of one side: |sum of w exp(j k (|wanted -
/// e| - |point - e|))| over the sum of w.
double directed(const std::vector<double>& elements, const std::vector<double>& weights, const PlanePlace& wanted,
                const PlanePlace& point) {
  std::complex<double> sum;
  double all = 0.0;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const PlanePlace element{elements[e], 0.0};
    sum += weights[e] * std::polar(1.0, 2.0 * std::numbers::pi / wavelength * (wanted.to(element) - point.to(element)));
    all += weights[e];
  }
  return std::abs(sum) / all;
}

/// Elements about the middle of the array.
std::vector<double> array_of(std::size_t count, double pitch) {
  std::vector<double> places;
  for (std::size_t e = 0; e < count; ++e) {
    places.push_back((static_cast<double>(e) - 0.5 * static_cast<double>(count - 1)) * pitch);
  }
  return places;
}

/// Those within `half` of `middle`, and their weights.
struct HeardElements {
  std::vector<double> places;
  std::vector<double> weights;
};
HeardElements heard_about(const std::vector<double>& array, double middle, double half, Taper taper) {
  HeardElements heard;
  for (const double place : array) {
    const double off = place - middle;
    if (std::abs(off) > half) continue;
    heard.places.push_back(place);
    heard.weights.push_back(taper == Taper::hann ? std::pow(std::cos(0.5 * std::numbers::pi * off / half), 2) : 1.0);
  }
  return heard;
}

/// A point that no noise, converter, spreading or directivity changes, of a pulse of many periods.
std::string source_of(std::size_t elements, double pitch, const std::string& keys) {
  return fmt::format(R"(
[filter]
kind = "none"
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[simulator]
elements = {}
pitch = {}
element_width = 0.0
centre_frequency = 5e6
fractional_bandwidth = 0.1
sample_rate = 40e6
longitudinal_velocity = 1540.0
spreading = "none"
directivity = false
noise_rms = 0.0
encoding = "float32"
quantised = false
transmit = "beams"
{}
)",
                     elements, pitch, keys);
}

/// Each line where its range is `range`.
std::vector<double> profile_of(const test::LinesImage& image, double range) {
  const Grid& grid = image.grid;
  const auto k = static_cast<std::size_t>(std::lround((range - grid.x.first.value) / grid.x.spacing().value));
  std::vector<double> profile;
  for (std::size_t line = 0; line < grid.z.count; ++line) profile.push_back(image.at(line, k));
  return profile;
}

struct Widths {
  double found = 0.0;
  double expected = 0.0;
};

/// `expected_at` of the place of a line.
Widths widths_of(const std::string& text, double range, const std::function<double(double)>& expected_at) {
  const Configuration configuration = parse_configuration(text, "width.toml");
  const test::LinesImage image = test::image_lines(configuration, test::frame_of(simulated_source(configuration)));
  std::vector<double> places;
  std::vector<double> expected;
  for (std::size_t line = 0; line < image.grid.z.count; ++line) {
    places.push_back(image.grid.z.at(line).value);
    expected.push_back(expected_at(places.back()));
  }
  return {width_of(places, profile_of(image, range)), width_of(places, expected)};
}

// Of parallel lines a tenth of a millimetre apart.
constexpr std::size_t many = 128;
constexpr double fine_pitch = 0.1e-3;
constexpr double depth = 20e-3;
constexpr double f = 3.1;

Widths of_parallel_lines(std::size_t firing, Taper taper) {
  const PlanePlace point{0.02e-3, depth};
  const std::string text = source_of(many, fine_pitch,
                                     fmt::format(R"(
samples = 1200
events = 37
origins = [-1.8e-3, 1.8e-3]
aperture = {}
focus = 0.02
points = [[{}, {}, 1.0]]
[beams]
depth = [0.019, 0.021]
f_number = {}
window = "{}"
)",
                                                 firing, point.x, point.z, f, taper == Taper::hann ? "hann" : "none"));
  const std::vector<double> array = array_of(many, fine_pitch);
  return widths_of(text, depth, [&](double x) {
    const PlanePlace focus{x, depth};
    const HeardElements sent = heard_about(array, x, 0.5 * static_cast<double>(firing) * fine_pitch, Taper::none);
    EXPECT_EQ(sent.places.size(), firing);
    const HeardElements heard = heard_about(array, x, depth / (2.0 * f), taper);
    return directed(sent.places, sent.weights, focus, point) * directed(heard.places, heard.weights, focus, point);
  });
}

/// In wavelengths times the F-number, as closed forms of a continuous aperture have it at -6 dB.
struct ClosedForm {
  std::size_t firing;
  Taper taper;
  double width;
};

TEST(LineWidths, OfParallelLinesAreThoseOfTheAperture) {
  // One way: a single element fires. Both ways: as many as hear.
  for (const ClosedForm& one : {ClosedForm{1, Taper::none, 1.2067}, ClosedForm{1, Taper::hann, 2.000},
                                ClosedForm{64, Taper::none, 0.8859}, ClosedForm{64, Taper::hann, 1.0561}}) {
    const Widths widths = of_parallel_lines(one.firing, one.taper);
    const std::string text = fmt::format("{} fire, {} taper: {:.4f} mm, {:.4f} expected, closed form {:.4f}", one.firing,
                                         one.taper == Taper::hann ? "Hann" : "no", 1e3 * widths.found, 1e3 * widths.expected,
                                         1e3 * one.width * wavelength * f);
    fmt::print("{}\n", text);
    EXPECT_NEAR(widths.found, widths.expected, 0.03 * widths.expected) << text;
    // Exact distances instead of Fresnel's and 64 elements instead of a continuum: 1 to 4 % at such F-numbers.
    EXPECT_NEAR(widths.found, one.width * wavelength * f, 0.04 * one.width * wavelength * f) << text;
  }
}

// Of a sector.
constexpr std::size_t phased = 64;
constexpr double phased_pitch = 0.5 * wavelength;
constexpr double focus_range = 30e-3;

Widths of_a_sector(double degrees, bool both_ways, Taper taper) {
  const PlanePlace point{focus_range * std::sin(degrees * radians), focus_range * std::cos(degrees * radians)};
  const std::string text = source_of(phased, phased_pitch,
                                     fmt::format(R"(
samples = 1900
events = 57
angles = [{}, {}]
{}
focus = 0.03
points = [[{}, {}, 1.0]]
[beams]
depth = [0.029, 0.031]
window = "{}"
)",
                                                 degrees - 3.5, degrees + 3.5, both_ways ? "" : "aperture = 1", point.x, point.z,
                                                 taper == Taper::hann ? "hann" : "none"));
  const std::vector<double> array = array_of(phased, phased_pitch);
  // A single element stands half a pitch beside the middle, and so do the lines.
  const double origin = both_ways ? 0.0 : 0.5 * phased_pitch;
  return widths_of(text, focus_range, [&](double angle) {
    PlanePlace focus{focus_range * std::sin(angle), focus_range * std::cos(angle)};
    const HeardElements sent = heard_about(array, 0.0, 0.5 * static_cast<double>(phased) * phased_pitch, Taper::none);
    const double transmitted = both_ways ? directed(sent.places, sent.weights, focus, point) : 1.0;
    focus.x += origin;
    const HeardElements heard = heard_about(array, 0.0, 0.5 * static_cast<double>(phased) * phased_pitch, taper);
    EXPECT_EQ(heard.places.size(), phased);
    return transmitted * directed(heard.places, heard.weights, focus, point);
  });
}

TEST(LineWidths, OfASectorAreThoseOfTheApertureAsItIsSeen) {
  for (const double degrees : {0.0, 20.0}) {
    for (const auto& [both_ways, taper, width] : {std::tuple(false, Taper::none, 1.2067), std::tuple(false, Taper::hann, 2.000),
                                                  std::tuple(true, Taper::none, 0.8859), std::tuple(true, Taper::hann, 1.0561)}) {
      const Widths widths = of_a_sector(degrees, both_ways, taper);
      const double closed =
          width * wavelength / (static_cast<double>(phased) * phased_pitch * std::cos(degrees * radians)) / radians;
      const std::string text = fmt::format("{} degrees, {}, {} taper: {:.4f} degrees, {:.4f} expected, closed form {:.4f}",
                                           degrees, both_ways ? "both ways" : "one way", taper == Taper::hann ? "Hann" : "no",
                                           widths.found / radians, widths.expected / radians, closed);
      fmt::print("{}\n", text);
      EXPECT_NEAR(widths.found, widths.expected, 0.03 * widths.expected) << text;
      EXPECT_NEAR(widths.found / radians, closed, 0.04 * closed) << text;
    }
  }
}

}  // namespace
}  // namespace echoform::line_widths
