#include "stages/scan_conversion/scan_conversion.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "stages/scan_conversion/scan_conversion_math.hpp"
#include "tests/stages/interpolation_weights.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class ScanConversion : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const ScanConversionOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_scan_conversion_cuda(options, backend());
#endif
    return make_scan_conversion_cpu(options, threads(), level());
  }
  double worst_inside(const std::function<double(double, double)>& f, ScanInterpolation how, double alpha);
};
ECHOFORM_ALL_IMPLEMENTATIONS(ScanConversion);

Grid make_grid(double x0, double x1, std::size_t nx, double z0, double z1, std::size_t nz) {
  return {{Metres(x0), Metres(x1), nx}, {Metres(z0), Metres(z1), nz}, {}};
}

/// The converted image by the double sum over all pixels and two beyond each edge.
std::vector<double> reference(const std::vector<double>& image, const ScanConversionOptions& options) {
  const auto nx = static_cast<long>(options.acoustic.x.count);
  const auto nz = static_cast<long>(options.acoustic.z.count);
  std::vector<double> out;
  for (std::size_t p = 0; p < options.display.pixels(); ++p) {
    const Point at = options.display.at(p);
    const double u = (at.x - options.acoustic.x.first) / options.acoustic.x.spacing();
    const double v = (at.z - options.acoustic.z.first) / options.acoustic.z.spacing();
    double sum = 0.0;
    if (u >= -1e-6 && v >= -1e-6 && u <= static_cast<double>(nx) - 1 + 1e-6 && v <= static_cast<double>(nz) - 1 + 1e-6) {
      for (long z = -2; z < nz + 2; ++z) {
        const double wz = interpolation_weight(options.interpolation, v, z, options.cubic_alpha);
        if (wz == 0.0) continue;
        for (long x = -2; x < nx + 2; ++x) {
          const double wx = interpolation_weight(options.interpolation, u, x, options.cubic_alpha);
          const auto place = std::clamp(z, 0L, nz - 1) * nx + std::clamp(x, 0L, nx - 1);
          sum += wx * wz * image[static_cast<std::size_t>(place)];
        }
      }
    }
    out.push_back(sum);
  }
  return out;
}

TEST_P(ScanConversion, EqualsTheDoubleSum) {
  // Display grids inside, around, finer and coarser than the acoustic one; no two places fall on a half for nearest.
  const Grid acoustic = make_grid(-0.010, 0.010, 37, 0.002, 0.030, 53);
  for (const Grid& display :
       {make_grid(-0.0087, 0.0091, 101, 0.0031, 0.0287, 97), make_grid(-0.013, 0.0121, 64, 0.0007, 0.0333, 33),
        make_grid(0.0011, 0.0012, 1 + 16, 0.004, 0.0041, 2), make_grid(0.001, 0.001, 1, 0.003, 0.003, 1)}) {
    for (const ScanInterpolation how : all_ways) {
      for (const double alpha : {-0.5, -0.75}) {
        const ScanConversionOptions options{acoustic, display, how, alpha};
        std::mt19937 random(4);
        std::uniform_int_distribution<int> levels(0, 255);
        std::vector<double> image(acoustic.pixels());
        for (double& v : image) v = levels(random);
        const std::vector<double> want = reference(image, options);

        const BlockSpec float_spec = make_spec(ElementType::float32, 53, 37, 41);
        const BlockSpec level_spec = make_spec(ElementType::uint8, 53, 37, 40);
        const TestBlock floats(float_spec);
        const TestBlock bytes(level_spec);
        for (std::size_t n = 0; n < image.size(); ++n) {
          floats.as<float>()[n / 37 * 41 + n % 37] = static_cast<float>(image[n]);
          bytes.as<std::uint8_t>()[n / 37 * 40 + n % 37] = static_cast<std::uint8_t>(image[n]);
        }
        const auto stage = make(options);
        const StageResult as_floats = run(*stage, float_spec, floats);
        ASSERT_EQ(as_floats.spec, make_spec(ElementType::float32, display.z.count, display.x.count, display.x.count));
        const StageResult as_levels = run(*stage, level_spec, bytes);
        for (std::size_t p = 0; p < want.size(); ++p) {
          // Single-precision weights and sums of up to 16 terms of 255: 1e-5 of full scale is far above their rounding.
          ASSERT_NEAR(as_floats.block->as<float>()[p], want[p], 255.0 * 1e-6 * 4) << "pixel " << p << ", method " << int(how);
          ASSERT_NEAR(as_levels.block->as<std::uint8_t>()[p], std::clamp(want[p], 0.0, 255.0), 0.5 + 255.0 * 1e-6 * 4);
        }
      }
    }
  }
}

class ScanConversionSweep : public ScanConversion {};
ECHOFORM_ALL_INSTRUCTION_SETS(ScanConversionSweep);

/// White noise, display pixels a twentieth of a pixel to eight pixels apart, images of odd sizes, about and beside each other's
/// ends.
TEST_P(ScanConversionSweep, EqualsTheDoubleSumAtEverySizeAndSpacing) {
  std::mt19937 random(16);
  std::normal_distribution<float> noise;
  for (const auto& [nx, nz] : {std::pair<std::size_t, std::size_t>{2, 2}, {3, 17}, {33, 4}, {16, 31}}) {
    const Grid acoustic = make_grid(0.0, 1e-3 * static_cast<double>(nx - 1), nx, 1e-3, 1e-3 * static_cast<double>(nz), nz);
    std::vector<double> image(acoustic.pixels());
    const BlockSpec spec = make_spec(ElementType::float32, nz, nx);
    const TestBlock input(spec);
    for (std::size_t n = 0; n < image.size(); ++n) image[n] = input.as<float>()[n] = noise(random);
    for (const double spacing : {0.05, 0.31, 1.0, 2.7, 8.0}) {
      for (const auto& [mx, mz] : {std::pair<std::size_t, std::size_t>{1, 33}, {31, 5}, {32, 8}, {67, 3}}) {
        // Off the pixels by what no spacing makes a half.
        const auto axis = [&](double middle, std::size_t count) {
          const double first = middle - 0.5e-3 * spacing * static_cast<double>(count - 1) + 0.0137e-3;
          return std::pair{first, first + 1e-3 * spacing * static_cast<double>(count - 1)};
        };
        const auto [x0, x1] = axis(0.4e-3 * static_cast<double>(nx), mx);
        const auto [z0, z1] = axis(0.6e-3 * static_cast<double>(nz), mz);
        for (const ScanInterpolation how : all_ways) {
          const ScanConversionOptions options{acoustic, make_grid(x0, x1, mx, z0, z1, mz), how, -0.5};
          const std::vector<double> want = reference(image, options);
          const auto stage = make(options);
          const StageResult result = run(*stage, spec, input);
          for (std::size_t p = 0; p < want.size(); ++p) {
            // Weights and sums of single precision, of noise below 5.
            ASSERT_NEAR(result.block->as<float>()[p], want[p], 5.0 * 4e-6)
                << "pixel " << p << ", method " << int(how) << ", " << nx << " x " << nz << ", " << spacing;
          }
        }
      }
    }
  }
}

TEST_P(ScanConversion, TheSameGridIsACopyBitForBit) {
  const Grid grid = make_grid(-0.0123, 0.0077, 35, 0.001, 0.0311, 19);
  for (const ScanInterpolation how : all_ways) {
    const BlockSpec spec = make_spec(ElementType::float32, 19, 35);
    const TestBlock input(spec);
    std::mt19937 random(2);
    std::uniform_real_distribution<float> value(0.0F, 1e-3F);
    for (std::size_t n = 0; n < 19 * 35; ++n) input.as<float>()[n] = value(random);
    const auto stage = make({grid, grid, how, -0.5});
    const StageResult result = run(*stage, spec, input);
    EXPECT_EQ(std::memcmp(result.block->as<float>(), input.as<float>(), spec.bytes()), 0) << "method " << int(how);
  }
}

/// Converts samples of f(x, z) and returns the worst error over display pixels whose taps need no clamping.
double ScanConversion::worst_inside(const std::function<double(double, double)>& f, ScanInterpolation how, double alpha) {
  const Grid acoustic = make_grid(0.0, 0.020, 21, 0.0, 0.024, 25);
  const Grid display = make_grid(0.0015, 0.0185, 83, 0.0015, 0.0225, 91);
  const BlockSpec spec = make_spec(ElementType::float32, 25, 21);
  const TestBlock input(spec);
  for (std::size_t p = 0; p < acoustic.pixels(); ++p) {
    input.as<float>()[p] = static_cast<float>(f(acoustic.at(p).x.value, acoustic.at(p).z.value));
  }
  const auto stage = make({acoustic, display, how, alpha});
  const StageResult result = run(*stage, spec, input);
  double worst = 0.0;
  for (std::size_t p = 0; p < display.pixels(); ++p) {
    worst = std::max(worst, std::abs(result.block->as<float>()[p] - f(display.at(p).x.value, display.at(p).z.value)));
  }
  return worst;
}

TEST_P(ScanConversion, ReproducesWhatEachMethodMust) {
  const auto constant = [](double, double) { return 1.0; };
  const auto plane = [](double x, double z) { return 1.0 + 40.0 * x - 25.0 * z; };
  const auto parabola = [](double x, double z) { return 1.0 + 2000.0 * x * x - 1500.0 * z * z + 1000.0 * x * z; };
  const auto worst = [&](const auto& f, ScanInterpolation how, double alpha) { return worst_inside(f, how, alpha); };
  constexpr double rounding = 2e-6;  // of values up to 2 in single precision
  for (const ScanInterpolation how : all_ways) EXPECT_LE(worst(constant, how, -0.5), rounding) << int(how);
  for (const double alpha : {-0.25, -0.75, -1.0}) EXPECT_LE(worst(constant, ScanInterpolation::cubic, alpha), rounding) << alpha;
  EXPECT_LE(worst(plane, ScanInterpolation::bilinear, -0.5), rounding);
  EXPECT_LE(worst(plane, ScanInterpolation::cubic, -0.5), rounding);
  EXPECT_LE(worst(parabola, ScanInterpolation::cubic, -0.5), rounding);
  // On a unit ramp alpha = -0.75 errs by 0.048 and alpha = -1 by 0.096; here a pixel is 0.04 of the ramp.
  const auto ramp = [](double x, double) { return 40.0 * x; };
  EXPECT_NEAR(worst(ramp, ScanInterpolation::cubic, -0.75), 0.04 * 0.048, 0.04 * 1e-3);
  EXPECT_NEAR(worst(ramp, ScanInterpolation::cubic, -1.0), 0.04 * 0.096, 0.04 * 1e-3);
}

TEST_P(ScanConversion, IsTheSameBitsEverywhere) {
  const Grid acoustic = make_grid(-0.010, 0.010, 37, 0.002, 0.030, 53);
  const Grid display = make_grid(-0.0123, 0.0091, 101, 0.0031, 0.0387, 97);
  const BlockSpec spec = make_spec(ElementType::float32, 53, 37);
  const TestBlock input(spec);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> value(0.0F, 1.0F);
  for (std::size_t n = 0; n < 53 * 37; ++n) input.as<float>()[n] = value(random);
  for (const ScanInterpolation how : all_ways) {
    const auto stage = make({acoustic, display, how, -0.6});
    const StageResult result = run(*stage, spec, input);
    const auto plain = make_scan_conversion_cpu({acoustic, display, how, -0.6}, 1, SimdLevel::portable);
    const StageResult want = run_on_one_thread(*plain, spec, input);
    EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0) << int(how);
  }
}

TEST_P(ScanConversion, CubicOvershootIsClamped) {
  const Grid acoustic = make_grid(0.0, 0.007, 8, 0.0, 0.007, 8);
  const Grid display = make_grid(0.0, 0.007, 57, 0.0, 0.007, 57);
  const BlockSpec spec = make_spec(ElementType::uint8, 8, 8);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < 64; ++n) input.as<std::uint8_t>()[n] = n % 8 < 4 ? 0 : 255;
  const auto stage = make({acoustic, display, ScanInterpolation::cubic, -1.0});
  const StageResult result = run(*stage, spec, input);
  for (std::size_t p = 0; p < display.pixels(); ++p) {
    const int value = result.block->as<std::uint8_t>()[p];
    // Between the fourth and the fifth column the step is crossed.
    if (p % 57 <= 24) {
      ASSERT_EQ(value, 0) << "undershoot at " << p;
    } else if (p % 57 >= 32) {
      ASSERT_EQ(value, 255) << "overshoot at " << p;
    }
  }
}

TEST_P(ScanConversion, RefusesWhatDoesNotFit) {
  const Grid grid = make_grid(0.0, 0.01, 8, 0.0, 0.01, 4);
  const auto stage = make({grid, grid, ScanInterpolation::cubic, -0.5});
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::uint8, 8, 4)); }),
            "scan-conversion stage, input shape: found 8 x 4 in 1 sub-blocks; expected 4 x 8 in one, the acoustic grid");
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::complex64, 4, 8)); }),
            "scan-conversion stage, input type: found complex64; expected uint8 or float32");
  EXPECT_EQ(input_error([&] {
              (void)make({grid, grid, ScanInterpolation::cubic, 1.0});
            }),
            "scan-conversion stage, cubic alpha: found 1; expected -3 to 0");
  Grid volume = grid;
  volume.y = {Metres(0.0), Metres(0.01), 3};
  EXPECT_EQ(input_error([&] {
              (void)make({volume, grid, ScanInterpolation::cubic, -0.5});
            }),
            "scan-conversion stage, acoustic grid: found 3 pixels along y; expected 1: an image, not a volume");
}

TEST(AxisTapsTable, SinglePixelAxesMatchOnlyTheirOwnPlace) {
  const Axis one{Metres(0.005), Metres(0.005), 1};
  for (const ScanInterpolation how : all_ways) {
    const AxisTaps taps = make_axis_taps(one, {Metres(0.004), Metres(0.006), 3}, how, -0.5);
    EXPECT_EQ(taps.begin, 1u);
    EXPECT_EQ(taps.end, 2u);
  }
  const AxisTaps none = make_axis_taps(one, {Metres(0.1), Metres(0.2), 3}, ScanInterpolation::cubic, -0.5);
  EXPECT_EQ(none.begin, none.end);
}

}  // namespace
}  // namespace echoform::test
