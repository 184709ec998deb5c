// Speckle of simulated tissue: its envelope is Rayleigh distributed, where there are enough scatterers to a cell.
//
// What it takes to see that, and what makes it look otherwise:
// - Cells that count for one each: samples are taken as far apart as the point spread's autocorrelation needs to fall.
// - Brightness that is the same in all of them. Beams weaken with range; a trend of 10 % over the samples takes 1 % off the ratio
//   of mean and deviation. It is divided out.
// - Scatterers to a cell. With N of them, as the point spread weighs them, and reflectivities that are normally distributed,
// <I^2>
//   / <I>^2 of the intensity is 2 + 1 / N, and mean over deviation of the envelope falls by 29 % / N (K distribution of shape 2
//   N): 1.91 becomes 1.87 at N = 13.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "settings/reader.hpp"
#include "tests/simulators/line_image.hpp"

namespace echoform::speckle {
namespace {

constexpr std::size_t lines = 9;
constexpr std::size_t frames = 9;
constexpr double step = 0.36e-3;  // of ranges

Configuration tissue_of(std::size_t scatterers, std::size_t seed) {
  // Lines lie lambda / D apart in the sine of their angle, or farther: the field's correlation is 15 %, that of powers 2 %. Along
  // them it is below 1 % for a pulse of 60 %.
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
[material]
longitudinal_velocity = 1540.0
[beams]
depth = [0.030, 0.075]
ranges = 376
delay_filter = "windowed_sinc"
[filter]
kind = "none"
[simulator]
elements = 16
pitch = 0.154e-3
element_width = 0.0
centre_frequency = 5e6
sample_rate = 20e6
samples = 2048
longitudinal_velocity = 1540.0
spreading = "none"
directivity = false
noise_rms = 0.0
encoding = "float32"
quantised = false
transmit = "beams"
focus = inf
events = {}
angles = [-32.0, 32.0]
scatterers = {}
speckle_x = [-0.056, 0.056]
speckle_z = [0.022, 0.078]
seed = {}
)",
                                         lines, scatterers, seed),
                             "tissue.toml");
}

/// Powers of samples a cell apart, [frame, line, range], their trend along the range divided out: of each range the mean over
/// all lines and frames and the four ranges to either side.
struct Cells {
  std::size_t ranges = 0;
  std::vector<double> powers;
  [[nodiscard]] double& at(std::size_t row, std::size_t k) { return powers[row * ranges + k]; }
};

Cells cells_of(std::size_t scatterers) {
  Cells cells;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const Configuration configuration = tissue_of(scatterers, frame + 1);
    const test::LinesImage image = test::image_lines(configuration, test::frame_of(simulated_source(configuration)));
    const auto apart = static_cast<std::size_t>(std::lround(step / image.grid.x.spacing().value));
    cells.ranges = (image.grid.x.count - 1) / apart + 1;
    for (std::size_t line = 0; line < lines; ++line) {
      for (std::size_t k = 0; k < cells.ranges; ++k) cells.powers.push_back(std::pow(image.at(line, k * apart), 2));
    }
  }
  std::vector<double> means(cells.ranges);
  for (std::size_t k = 0; k < cells.ranges; ++k) {
    for (std::size_t row = 0; row < frames * lines; ++row) means[k] += cells.at(row, k) / static_cast<double>(frames * lines);
  }
  for (std::size_t k = 0; k < cells.ranges; ++k) {
    const std::size_t first = k - std::min<std::size_t>(k, 4);
    const std::size_t end = std::min(cells.ranges, k + 5);
    double mean = 0.0;
    for (std::size_t other = first; other < end; ++other) mean += means[other] / static_cast<double>(end - first);
    for (std::size_t row = 0; row < frames * lines; ++row) cells.at(row, k) /= mean;
  }
  return cells;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double mean_over_deviation(const std::vector<double>& powers) {
  double mean = 0.0;
  for (const double power : powers) mean += std::sqrt(power) / static_cast<double>(powers.size());
  return mean / std::sqrt(mean_of(powers) - mean * mean);
}

/// Of powers `rows` and `ranges` farther on.
double correlation(Cells& cells, std::size_t rows, std::size_t ranges) {
  const double mean = mean_of(cells.powers);
  double product = 0.0;
  double square = 0.0;
  for (std::size_t row = 0; row < frames * lines; ++row) {
    if (row % lines + rows >= lines) continue;
    for (std::size_t k = 0; k + ranges < cells.ranges; ++k) {
      product += (cells.at(row, k) - mean) * (cells.at(row + rows, k + ranges) - mean);
      square += std::pow(cells.at(row, k) - mean, 2);
    }
  }
  return product / square;
}

/// The greatest distance of the powers' distribution from 1 - exp(-power / mean), which is Rayleigh's of envelopes.
double distance_from_rayleigh(std::vector<double> powers) {
  const double mean = mean_of(powers);
  std::ranges::sort(powers);
  const auto count = static_cast<double>(powers.size());
  double distance = 0.0;
  for (std::size_t n = 0; n < powers.size(); ++n) {
    const double expected = 1.0 - std::exp(-powers[n] / mean);
    distance = std::max(
        {distance, std::abs(expected - static_cast<double>(n) / count), std::abs(expected - static_cast<double>(n + 1) / count)});
  }
  return distance;
}

/// 1 / N as the mean over all cells, from the program's own image h of one point: N is the scatterers to an area times the
/// integral of h^2, squared, over that of h^4. It grows as the range and, in angle, as 1 / cos.
double one_over_scatterers_of_a_cell(std::size_t scatterers) {
  constexpr double at = 45e-3;
  Configuration configuration = tissue_of(0, 1);
  SimulatorConfiguration source = simulated_source(configuration);
  source.transmit.events = 65;
  source.transmit.beams.angles = {-16.0, 16.0};
  source.phantom = {};
  source.phantom.points = {{"", {Metres(0.0), Metres(0.0), Metres(at)}, 1.0, {}}};
  const test::LinesImage image = test::image_lines(configuration, test::frame_of(source));
  double squares = 0.0;
  double fourths = 0.0;
  for (std::size_t line = 0; line < image.grid.z.count; ++line) {
    for (std::size_t k = 0; k < image.grid.x.count; ++k) {
      const double area = image.grid.x.at(k).value * image.grid.x.spacing().value * image.grid.z.spacing().value;
      squares += std::pow(image.at(line, k), 2) * area;
      fourths += std::pow(image.at(line, k), 4) * area;
    }
  }
  const double density = static_cast<double>(scatterers) / (0.112 * 0.056);
  const double ranges = at / 45e-3 * std::log(75.0 / 30.0);  // mean of 45 mm / r from 30 to 75 mm
  const double half = 32.0 * std::numbers::pi / 180.0;
  return ranges * std::sin(half) / half / (density * squares * squares / fourths);
}

TEST(Speckle, IsRayleighDistributed) {
  constexpr std::size_t scatterers = 320'000;
  Cells cells = cells_of(scatterers);
  ASSERT_GE(cells.powers.size(), 5000U);
  const double count = static_cast<double>(cells.powers.size());
  fmt::print("{} cells: mean / deviation {:.4f}, distance {:.5f} of {:.5f}, correlation across {:.3f}, along {:.3f}\n", count,
             mean_over_deviation(cells.powers), distance_from_rayleigh(cells.powers), 1.63 / std::sqrt(count),
             correlation(cells, 1, 0), correlation(cells, 0, 1));
  // Of independent cells it is 0, to four deviations of what so many show.
  EXPECT_LT(correlation(cells, 1, 0), 0.023 + 4.0 / std::sqrt(count));
  EXPECT_LT(correlation(cells, 0, 1), 4.0 / std::sqrt(count));
  // sqrt(pi / (4 - pi)); its deviation is 0.71 of it over the root of the cells, 0.014 of 9,000.
  EXPECT_NEAR(mean_over_deviation(cells.powers), 1.91, 0.05);
  // Kolmogorov's and Smirnov's limit, which one of a hundred samples exceeds.
  EXPECT_LT(distance_from_rayleigh(cells.powers), 1.63 / std::sqrt(count));
}

TEST(Speckle, OfFewScatterersIsAsUnevenAsTheyAreFew) {
  constexpr std::size_t scatterers = 20'000;
  const Cells cells = cells_of(scatterers);
  double squares = 0.0;
  for (const double power : cells.powers) squares += power * power / static_cast<double>(cells.powers.size());
  const double expected = 2.0 + 3.0 * one_over_scatterers_of_a_cell(scatterers);
  fmt::print("<I^2> / <I>^2 {:.3f}, {:.3f} expected; mean / deviation {:.4f}\n", squares, expected,
             mean_over_deviation(cells.powers));
  // Of 10,000 cells it has a deviation of 0.03: four of them, a third of what is to be seen.
  EXPECT_NEAR(squares, expected, 0.12);
  EXPECT_GT(expected, 2.3);
  EXPECT_NEAR(mean_over_deviation(cells.powers), 1.913 * (1.0 - 0.29 * (squares - 2.0)), 0.05);
}

}  // namespace
}  // namespace echoform::speckle
