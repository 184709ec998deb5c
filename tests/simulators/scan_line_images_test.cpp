// Images of scan lines, from a configuration through its own simulated source: against a plain beamformer in double precision,
// and the points of every example where they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <numbers>

#include "methods/display_settings.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/line_image.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

using test::image_lines;
using test::LinesImage;
using test::plain_envelope;

constexpr double pi = std::numbers::pi;

constexpr std::size_t channels = 16;
constexpr std::size_t beams = 9;
constexpr std::size_t samples = 640;
constexpr double velocity = 1540.0;
constexpr double pitch = 0.3e-3;
constexpr double rate = 20e6;
constexpr double focus = 0.011;
constexpr double widest = 24.0 * pi / 180.0;
constexpr double f_number = 1.3;

Configuration small_sector(std::size_t of_event) {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.002, 0.021]
window = "hann"
f_number = 1.3
lines = {}
[filter]
kind = "none"
[simulator]
elements = 16
pitch = 0.3e-3
element_width = 0.25e-3
centre_frequency = 2.5e6
sample_rate = 20e6
samples = 640
longitudinal_velocity = 1540.0
transmit = "beams"
events = 9
angles = [-24.0, 24.0]
focus = 0.011
scatterers = 300
speckle_x = [-0.009, 0.009]
speckle_z = [0.001, 0.022]
points = [[0.001, 0.009, 1.0], [-0.004, 0.016, 1.0]]
)",
                                         of_event),
                             "sector.toml");
}

/// From what the configuration says alone: geometry, delays, weights, sums, envelopes.
std::vector<double> plain_image(const std::vector<double>& data, std::size_t of_event, const Grid& grid) {
  const double step = 2.0 * widest / (beams - 1);
  std::vector<double> image;
  for (std::size_t line = 0; line < beams * of_event; ++line) {
    const std::size_t event = line / of_event;
    const double centre = -widest + static_cast<double>(event) * step;
    const double of = static_cast<double>(of_event);
    const double angle = centre + (static_cast<double>(line % of_event) - 0.5 * (of - 1.0)) * step / of;
    // The beam's focus; its farthest element fires first, at 0.
    const double fx = focus * std::sin(centre);
    const double fz = focus * std::cos(centre);
    double farthest = 0.0;
    const auto place = [](std::size_t e) { return (static_cast<double>(e) - 0.5 * (channels - 1)) * pitch; };
    for (std::size_t e = 0; e < channels; ++e) farthest = std::max(farthest, std::hypot(place(e) - fx, fz));
    std::vector<double> row;
    for (std::size_t k = 0; k < grid.x.count; ++k) {
      const double r = grid.x.at(k).value;
      const double x = r * std::sin(angle);
      const double z = r * std::cos(angle);
      const double ahead = (x - fx) * std::sin(centre) + (z - fz) * std::cos(centre);
      const double transmit = (farthest + std::copysign(std::hypot(x - fx, z - fz), ahead)) / velocity;
      const double half = std::min(r / (2.0 * f_number), 0.5 * channels * pitch);
      double sum = 0.0;
      double weights = 0.0;
      for (std::size_t e = 0; e < channels; ++e) {
        if (std::abs(place(e)) > half) continue;
        const double w = std::pow(std::cos(0.5 * pi * place(e) / half), 2);
        weights += w;
        const double u = (transmit + std::hypot(x - place(e), z) / velocity) * rate;
        if (u < 0.0 || u >= samples - 1.0) continue;
        const auto n = static_cast<std::size_t>(u);
        const double f = u - static_cast<double>(n);
        const double* const s = data.data() + (event * channels + e) * samples;
        sum += w * ((1.0 - f) * s[n] + f * s[n + 1]);
      }
      row.push_back(weights > 0.0 ? sum / weights : 0.0);
    }
    const std::vector<double> envelope = plain_envelope(row);
    image.insert(image.end(), envelope.begin(), envelope.end());
  }
  return image;
}

TEST(ScanLineImages, EqualAPlainBeamformerInDoublePrecision) {
  for (const std::size_t of_event : {1, 3}) {
    const Configuration configuration = small_sector(of_event);
    const test::SourceFrame frame = test::frame_of(simulated_source(configuration));
    ASSERT_EQ(frame.acquisition.a_scans(), beams * channels);
    std::vector<double> data;
    for (std::size_t n = 0; n < beams * channels * samples; ++n) {
      std::int16_t value = 0;
      std::memcpy(&value, frame.bytes.data() + 2 * n, 2);
      data.push_back(value * frame.acquisition.sample_scale);
    }
    const LinesImage image = image_lines(configuration, frame);
    ASSERT_EQ(image.grid.z.count, beams * of_event);
    const std::vector<double> expected = plain_image(data, of_event, image.grid);
    double error = 0.0;
    double norm = 0.0;
    for (std::size_t p = 0; p < expected.size(); ++p) {
      error += std::pow(image.envelope[p] - expected[p], 2);
      norm += expected[p] * expected[p];
    }
    EXPECT_LT(std::sqrt(error / norm), 1e-4) << of_event << " lines of an event";
  }
}

/// Tissue about an empty cyst.
constexpr const char* tissue = R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.016, 0.034]
f_number = 1.0
window = "hann"
[filter]
kind = "none"
[simulator]
elements = 64
pitch = 0.154e-3
element_width = 0.14e-3
centre_frequency = 5e6
sample_rate = 20e6
samples = 960
longitudinal_velocity = 1540.0
transmit = "beams"
events = 48
angles = [-20.0, 20.0]
focus = 0.025
scatterers = 40000
speckle_x = [-0.015, 0.015]
speckle_z = [0.010, 0.040]
cysts = [[0.0, 0.025, 0.004, -inf]]
)";

TEST(ScanLineImages, OfAnEmptyCystAreDark) {
  const Configuration configuration = parse_configuration(tissue, "tissue.toml");
  const LinesImage image = image_lines(configuration, test::frame_of(simulated_source(configuration)));
  double inside = 0.0;
  double outside = 0.0;
  std::size_t of_inside = 0;
  std::size_t of_outside = 0;
  for (std::size_t n = 0; n < image.envelope.size(); ++n) {
    const double angle = image.grid.z.at(n / image.grid.x.count).value;
    const double range = image.grid.x.at(n % image.grid.x.count).value;
    const double distance = std::hypot(range * std::sin(angle), range * std::cos(angle) - 0.025);
    const double power = std::pow(static_cast<double>(image.envelope[n]), 2);
    // Well within, where no main lobe reaches the wall, and in a ring about it.
    if (distance < 0.0025) {
      inside += power;
      ++of_inside;
    } else if (distance > 0.0055 && distance < 0.008) {
      outside += power;
      ++of_outside;
    }
  }
  ASSERT_GT(of_inside, 1000U);
  // Side lobes of two Hann windows, and what the rounding of samples leaves.
  EXPECT_LT(10.0 * std::log10(inside / static_cast<double>(of_inside) / (outside / static_cast<double>(of_outside))), -35.0);
}

std::vector<std::string> examples_of_lines() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "examples")) {
    if (entry.path().extension() != ".toml") continue;
    const Configuration configuration = load_configuration(entry.path());
    if (configuration.imaging.method != "beams" || simulated_source(configuration).phantom.points.empty()) continue;
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ScanLineExamples : public testing::TestWithParam<std::string> {};

TEST_P(ScanLineExamples, ShowTheirPoints) {
  Configuration configuration = load_configuration(test::source_directory() / "examples" / (GetParam() + ".toml"));
  configuration.imaging.backend = BackendWish::cpu;
  SimulatorConfiguration source = simulated_source(configuration);
  // Points stand still: three soundings of each line, as many as a wall filter of first order needs, show them as all would.
  source.transmit.repeats = std::min<std::size_t>(source.transmit.repeats, 3);
  const LinesImage image = image_lines(configuration, test::frame_of(source));
  const auto& description = image.setup->recipe.outputs.front().description;
  const double radius = source.radius.value;
  const double wavelength = source.material.longitudinal_velocity.value / source.centre_frequency.value;
  ASSERT_FALSE(source.phantom.points.empty());
  for (const PointScatterer& point : source.phantom.points) {
    const double x = point.centre.x.value;
    const double y = point.centre.y.value;
    const double z = point.centre.z.value;
    const bool angles = description.z.unit == "rad";
    const bool volume = image.grid.y.count > 1;
    const double range = angles ? std::hypot(x, y, z + radius) - radius : z;
    const double across = angles ? std::atan2(x, z + radius) : x;
    const double elevation = std::asin(y / (range + radius));
    const Axis& lines = volume ? image.grid.y : image.grid.z;
    // The strongest pixel around the point, as far as a point is wide there.
    const double wide = volume ? 3e-3 : 2e-3;
    double found_range = 0.0;
    double found_across = 0.0;
    double found_above = 0.0;
    float strongest = -1.0F;
    for (std::size_t line = 0; line < image.grid.z.count * image.grid.y.count; ++line) {
      const double beside = (lines.at(line % lines.count).value - across) * (angles ? range + radius : 1.0);
      const double above = volume ? (image.grid.z.at(line / lines.count).value - elevation) * (range + radius) : 0.0;
      if (std::hypot(beside, above) > wide) continue;
      for (std::size_t k = 0; k < image.grid.x.count; ++k) {
        const double r = image.grid.x.at(k).value;
        const float value = image.envelope[line * image.grid.x.count + k];
        if (std::abs(r - range) > 1.5e-3 || !(value > strongest)) continue;
        strongest = value;
        found_range = r;
        found_across = beside;
        found_above = above;
      }
    }
    EXPECT_NEAR(found_range, range, 0.25 * wavelength) << x << ' ' << z;
    // No nearer than the lines lie: half of their distance, and a quarter of a wavelength.
    const double apart = lines.spacing().value * (angles ? range + radius : 1.0);
    EXPECT_NEAR(found_across, 0.0, 0.5 * apart + 0.25 * wavelength) << x << ' ' << z;
    if (volume) {
      const double rows_apart = image.grid.z.spacing().value * (range + radius);
      EXPECT_NEAR(found_above, 0.0, 0.5 * rows_apart + 0.25 * wavelength) << x << ' ' << y << ' ' << z;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, ScanLineExamples, testing::ValuesIn(examples_of_lines()),
                         [](const auto& found) { return found.param; });

}  // namespace
}  // namespace echoform
