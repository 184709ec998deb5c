// The frozen loops compute what they say: against sums written down in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "benchmarks/reference_scan.hpp"
#include "benchmarks/reference_scan_tables.hpp"
#include "benchmarks/reference_tfm.hpp"
#include "benchmarks/reference_tfm_pairs.hpp"

namespace echoform::reference {
namespace {

/// Random A-scans and delays, some of which lie outside of the A-scan, and some pixels that no ray reaches.
struct Problem {
  static constexpr std::size_t elements = 7;
  static constexpr std::size_t samples = 64;
  static constexpr std::size_t pitch = 80;
  static constexpr std::size_t pixels = 1100;  // more than a block, and no multiple of one
  static constexpr std::size_t pairs = elements * (elements + 1) / 2;

  Problem() : padded(pairs * pitch, {nan, nan}), rows(pairs * samples), delays(elements * pixels), weights(elements * pixels) {
    std::minstd_rand random(11);
    std::uniform_real_distribution<float> level(-1.0F, 1.0F);
    std::uniform_real_distribution<float> delay(-3.0F, 35.0F);
    for (std::size_t row = 0; row < pairs; ++row) {
      for (std::size_t k = 0; k < samples; ++k) {
        rows[row * samples + k] = padded[row * pitch + k] = {level(random), level(random)};
      }
    }
    for (float& value : delays) value = random() % 17 == 0 ? nan : delay(random);
    for (float& value : weights) value = std::abs(level(random));
  }

  /// Every pair i <= j, in double precision.
  [[nodiscard]] std::vector<std::complex<double>> image(bool weighted) const {
    std::vector<std::complex<double>> sums(pixels);
    for (std::size_t p = 0; p < pixels; ++p) {
      std::size_t row = 0;
      for (std::size_t i = 0; i < elements; ++i) {
        for (std::size_t j = i; j < elements; ++j, ++row) {
          // The sum as the loops round it: at a sample's edge a double would choose another one.
          const double u = static_cast<double>(delays[i * pixels + p] + delays[j * pixels + p]);
          if (!(u >= 0.0 && u < static_cast<double>(samples - 1))) continue;
          const auto n = static_cast<std::size_t>(u);
          const std::complex<double> a(rows[row * samples + n]);
          const std::complex<double> b(rows[row * samples + n + 1]);
          const double weight = weighted ? static_cast<double>(weights[i * pixels + p]) * weights[j * pixels + p] : 1.0;
          sums[p] += weight * (a + (u - static_cast<double>(n)) * (b - a));
        }
      }
    }
    return sums;
  }

  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::complex<float>> padded;
  std::vector<std::complex<float>> rows;
  std::vector<float> delays;
  std::vector<float> weights;
};

double largest_error(const std::vector<std::complex<float>>& found, const std::vector<std::complex<double>>& truth) {
  double largest = 0.0;
  for (std::size_t p = 0; p < truth.size(); ++p) largest = std::max(largest, std::abs(std::complex<double>(found[p]) - truth[p]));
  return largest;
}

// 28 terms of up to 1.5, each rounded a few times to 24 bits.
constexpr double single_precision = 28 * 1.5 * 8 * 0x1p-24;

TEST(ReferenceLoops, PairMajorSumsWhatTheDirectSumDoes) {
  const Problem problem;
  for (const int threads : {1, 2}) {
    std::vector<std::complex<float>> image(Problem::pixels, {Problem::nan, 0.0F});
    total_focusing_pairs_loop(problem.padded.data(), Problem::pitch, problem.delays.data(), nullptr, image.data(),
                              Problem::elements, Problem::samples, Problem::pixels, threads);
    EXPECT_LT(largest_error(image, problem.image(false)), single_precision);
  }
}

TEST(ReferenceLoops, PairMajorWeighsEachPairAtEachPixel) {
  const Problem problem;
  std::vector<std::complex<float>> image(Problem::pixels);
  total_focusing_pairs_loop(problem.padded.data(), Problem::pitch, problem.delays.data(), problem.weights.data(), image.data(),
                            Problem::elements, Problem::samples, Problem::pixels, 2);
  EXPECT_LT(largest_error(image, problem.image(true)), single_precision);
}

TEST(ReferenceLoops, PixelMajorSumsTheSame) {
  const Problem problem;
  std::vector<float> by_pixel(problem.delays.size());
  for (std::size_t p = 0; p < Problem::pixels; ++p) {
    for (std::size_t i = 0; i < Problem::elements; ++i) {
      by_pixel[p * Problem::elements + i] = problem.delays[i * Problem::pixels + p];
    }
  }
  std::vector<std::complex<float>> image(Problem::pixels);
  total_focusing_loop(problem.rows.data(), by_pixel.data(), image.data(), Problem::elements, Problem::samples, Problem::pixels,
                      2);
  EXPECT_LT(largest_error(image, problem.image(false)), single_precision);
}

PolarScan sector() {
  PolarScan scan;
  scan.beams = 24;
  scan.samples = 50;
  scan.angle_pitch = 0.05F;
  scan.first_angle = -0.5F * 23.0F * scan.angle_pitch;
  scan.probe_radius = 0.02F;
  scan.sample_spacing = 1e-3F;
  scan.rows = 71;
  scan.columns = 83;
  scan.first_x = -0.045F;
  scan.x_spacing = 0.09F / 82.0F;
  scan.first_z = -0.01F;
  scan.z_spacing = 0.07F / 70.0F;
  return scan;
}

double keys(double x) {
  x = std::abs(x);
  if (x < 1.0) return 1.5 * x * x * x - 2.5 * x * x + 1.0;
  if (x < 2.0) return -0.5 * x * x * x + 2.5 * x * x - 4.0 * x + 2.0;
  return 0.0;
}

/// In levels, in double precision; negative outside of the sector and so near to its edge that single precision may differ.
double level_at(const PolarScan& scan, const std::vector<std::uint8_t>& data, std::size_t row, std::size_t column) {
  const double x = scan.first_x + static_cast<double>(column) * scan.x_spacing;
  const double z = scan.first_z + static_cast<double>(row) * scan.z_spacing + scan.probe_radius;
  const double s = (std::hypot(x, z) - scan.probe_radius - scan.start_depth) / scan.sample_spacing;
  const double b = (std::atan2(x, z) - scan.first_angle) / scan.angle_pitch;
  constexpr double edge = 1e-3;  // of a sample: single precision keeps some 1e-5 of these places
  const double last_sample = static_cast<double>(scan.samples - 1);
  const double last_beam = static_cast<double>(scan.beams - 1);
  if (s < edge || s > last_sample - edge || b < edge || b > last_beam - edge) return -1.0;
  const auto s0 = static_cast<std::size_t>(s);
  double value = 0.0;
  for (int k = -1; k <= 2; ++k) {
    const double beam = std::clamp(std::floor(b) + k, 0.0, last_beam);
    const std::uint8_t* line = data.data() + static_cast<std::size_t>(beam) * scan.samples;
    const double along = line[s0] + (s - static_cast<double>(s0)) * (line[s0 + 1] - line[s0]);
    value += keys(b - std::floor(b) - k) * along;
  }
  return std::clamp(value, 0.0, 255.0);
}

TEST(ReferenceLoops, ScanFromTablesAndWithoutMakeTheImageOfTheDirectFormula) {
  const PolarScan scan = sector();
  std::vector<std::uint8_t> data(scan.beams * scan.samples);
  std::minstd_rand random(5);
  for (std::uint8_t& value : data) value = static_cast<std::uint8_t>(random() % 256);
  std::vector<std::uint8_t> plain(scan.rows * scan.columns);
  std::vector<std::uint8_t> tabled(plain.size());
  polar_scan_loop(scan, data.data(), plain.data(), 2);
  polar_scan_tables_loop(scan, polar_scan_tables(scan).data(), data.data(), tabled.data(), 2);
  std::size_t inside = 0;
  for (std::size_t row = 0; row < scan.rows; ++row) {
    for (std::size_t column = 0; column < scan.columns; ++column) {
      const double truth = level_at(scan, data, row, column);
      if (truth < 0.0) continue;
      ++inside;
      // Half a level of rounding, and 1e-5 of a sample or beam times slopes of up to 255 levels (times 1.5 across beams).
      EXPECT_NEAR(plain[row * scan.columns + column], truth, 0.51) << row << ", " << column;
      EXPECT_NEAR(tabled[row * scan.columns + column], truth, 0.51) << row << ", " << column;
    }
  }
  EXPECT_GT(inside, plain.size() / 3);
}

}  // namespace
}  // namespace echoform::reference
