// Images of several steering angles: speckle is as much smoother as what the angles share allows, points stay where they are,
// and what can change does so between two frames.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/line_image.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::compounding {
namespace {

constexpr double wavelength = 1540.0 / 5e6;
constexpr double pitch = wavelength;
constexpr std::size_t lines = 39;  // of an angle, a pitch apart
constexpr double steered = 4.0;    // degrees
constexpr double f = 6.0;          // eight elements, at the focus
constexpr double focus = 14.8e-3;
constexpr double degree = std::numbers::pi / 180.0;

/// Lines straight ahead and steered to either side.
Configuration steered_lines(const std::string& beams, const std::string& scene) {
  std::string list;
  for (const double angle : {-steered, 0.0, steered}) {
    for (std::size_t line = 0; line < lines; ++line) {
      const double x = (static_cast<double>(line) - 0.5 * static_cast<double>(lines - 1)) * pitch;
      list += fmt::format("[{}, {}, {}], ", x, angle, focus);
    }
  }
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[filter]
kind = "none"
[beams]
depth = [0.0108, 0.0195]
f_number = {}
delay_filter = "windowed_sinc"
{}
[simulator]
elements = 48
pitch = {}
element_width = 0.28e-3
centre_frequency = 5e6
sample_rate = 20e6
samples = 640
longitudinal_velocity = 1540.0
spreading = "none"
noise_rms = 0.0
encoding = "float32"
quantised = false
transmit = "beams"
aperture = 8
receive_aperture = 8
beams = [{}]
{}
)",
                                         f, beams, pitch, list, scene),
                             "steered.toml");
}

std::string tissue_of(std::size_t seed) {
  return fmt::format("scatterers = 40000\nspeckle_x = [-0.0085, 0.0085]\nspeckle_z = [0.009, 0.0215]\nseed = {}\n", seed);
}

/// Variance over squared mean.
double unevenness(const std::vector<double>& values) {
  double mean = 0.0;
  double square = 0.0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
    square += value * value / static_cast<double>(values.size());
  }
  return square / (mean * mean) - 1.0;
}

TEST(Compounding, SmoothsSpeckleByWhatTheAnglesDoNotShare) {
  std::vector<double> plain;
  std::vector<double> compounded;
  for (std::size_t frame = 0; frame < 10; ++frame) {
    const Configuration configuration = steered_lines("", tissue_of(frame + 1));
    const test::SourceFrame source = test::frame_of(simulated_source(configuration));
    const test::LinesImage mean = test::image_lines(configuration, source);
    const test::LinesImage straight = test::image_lines(steered_lines("compound = false", tissue_of(frame + 1)), source);
    ASSERT_EQ(mean.grid.z.count, lines);
    // Where all three cover; samples a cell apart.
    for (std::size_t line = 5; line + 5 < lines; line += 6) {
      for (std::size_t k = 0; k + 6 < mean.grid.x.count; k += 9) {
        plain.push_back(straight.at(line, k));
        compounded.push_back(mean.at(line, k));
      }
    }
  }
  ASSERT_GT(plain.size(), 1000U);
  // Both ways an aperture passes a triangle of lateral frequencies, 1 / F wide on each side, and steering moves it by 2
  // sin(angle): images of neighbouring angles have that triangle's autocorrelation, a cubic B-spline, and envelopes about its
  // square.
  const auto spline = [](double s) {
    s = std::abs(s);
    return s < 1.0 ? 2.0 / 3.0 - s * s + 0.5 * s * s * s : s < 2.0 ? std::pow(2.0 - s, 3) / 6.0 : 0.0;
  };
  const auto shared = [&](double angle) { return std::pow(spline(2.0 * std::sin(angle * degree) * f) / spline(0.0), 2); };
  const double expected = (3.0 + 4.0 * shared(steered) + 2.0 * shared(2.0 * steered)) / 9.0;
  const double found = unevenness(compounded) / unevenness(plain);
  fmt::print("{} samples: mean / deviation {:.3f}, compounded {:.3f}; variances as {:.3f}, {:.3f} expected\n", plain.size(),
             1.0 / std::sqrt(unevenness(plain)), 1.0 / std::sqrt(unevenness(compounded)), found, expected);
  // Two variances of a thousand and more samples: 5 % of their ratio.
  EXPECT_NEAR(found, expected, 0.15 * expected);
  EXPECT_NEAR(1.0 / std::sqrt(unevenness(plain)), 1.91, 0.15);
}

TEST(Compounding, LeavesAPointWhereItIs) {
  const std::string point = "points = [[0.5e-3, 15e-3, 1.0]]\n";
  const Configuration configuration = steered_lines("", point);
  const test::SourceFrame source = test::frame_of(simulated_source(configuration));
  const test::LinesImage mean = test::image_lines(configuration, source);
  const test::LinesImage straight = test::image_lines(steered_lines("compound = false", point), source);
  const auto brightest = [](const test::LinesImage& image) {
    return static_cast<std::size_t>(std::ranges::max_element(image.envelope) - image.envelope.begin());
  };
  const std::size_t of_mean = brightest(mean);
  const std::size_t of_straight = brightest(straight);
  EXPECT_EQ(of_mean / mean.grid.x.count, of_straight / mean.grid.x.count);
  // To a step of the range.
  EXPECT_NEAR(static_cast<double>(of_mean % mean.grid.x.count), static_cast<double>(of_straight % mean.grid.x.count), 1.0);
  EXPECT_NEAR(mean.grid.z.at(of_mean / mean.grid.x.count).value, 0.5e-3, 0.5 * pitch);
  EXPECT_NEAR(mean.grid.x.at(of_mean % mean.grid.x.count).value, 15e-3, 0.25 * wavelength);
  // Steered waves see it from elements that are a little less sensitive that way, and straight lines between samples cut its top.
  EXPECT_GT(mean.envelope[of_mean], 0.9 * straight.envelope[of_straight]);
  EXPECT_LT(mean.envelope[of_mean], 1.01 * straight.envelope[of_straight]);
}

TEST(Compounding, AndLateralGainChangeBetweenFrames) {
  const std::string point = "points = [[0.5e-3, 15e-3, 1.0], [-3e-3, 13e-3, 1.0]]\n";
  const Configuration configuration = steered_lines("lateral_gain = [0.0]", point);
  const test::SourceFrame source = test::frame_of(simulated_source(configuration));
  const Method& method = *find_method("beams");
  const auto setup = resolve_imaging({.configuration = configuration,
                                      .acquisition = source.acquisition,
                                      .stated = {source.material, {}},
                                      .wish = {.display = false}});
  const auto engine = make_engine(setup, {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), source.bytes.data(), source.bytes.size());
  const auto image = [&] {
    EXPECT_TRUE(image_now(*engine, slot));
    const auto* const envelope = static_cast<const float*>(slot.outputs.front().data.data());
    return std::vector<float>(envelope, envelope + setup->recipe.outputs.front().description.grid.pixels());
  };
  const std::vector<float> before = image();
  const std::string keys = "compound = false\nlateral_gain = [-20.0, 0.0, 20.0]\n";
  const auto wanted = method.retuned(*setup, steered_lines(keys, point), 2);
  ASSERT_NE(wanted, nullptr);
  ASSERT_TRUE(engine->retune(*wanted));
  const std::vector<float> after = image();
  const test::LinesImage straight = test::image_lines(steered_lines("compound = false", point), source);
  const std::size_t ranges = straight.grid.x.count;
  double changed = 0.0;
  for (std::size_t line = 0; line < lines; ++line) {
    const double gain = std::pow(10.0, (-20.0 + 40.0 * static_cast<double>(line) / static_cast<double>(lines - 1)) / 20.0);
    for (std::size_t k = 0; k < ranges; ++k) {
      const double expected = gain * straight.at(line, k);
      // A product in single precision.
      ASSERT_NEAR(after[line * ranges + k], expected, 1e-6 * expected + 1e-12);
      changed = std::max(changed, std::abs(before[line * ranges + k] - straight.at(line, k)));
    }
  }
  EXPECT_GT(changed, 0.0);
  // Where a step comes or goes, the engine is made anew.
  EXPECT_EQ(method.retuned(*setup, steered_lines("", point), 2), nullptr);
}

TEST(Compounding, OfBlendedLinesIsRefused) {
  const Configuration configuration = steered_lines("lines = 2\nblend = true", "points = [[0.0, 15e-3, 1.0]]\n");
  const test::SourceFrame source = test::frame_of(simulated_source(configuration));
  EXPECT_EQ(test::input_error([&] { static_cast<void>(test::image_lines(configuration, source)); }),
            "steered.toml: [beams] blend: found lines of 3 steering angles; expected lines of one, or blend = false");
}

}  // namespace
}  // namespace echoform::compounding
