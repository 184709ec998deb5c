#include "stages/polar_volume_conversion/polar_volume_conversion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/stages/interpolation_weights.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double one_degree = std::numbers::pi / 180.0;

class PolarVolumeConversion : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const PolarVolumeConversionOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_polar_volume_conversion_cuda(options, backend());
#endif
    return make_polar_volume_conversion_cpu(options);
  }
};

/// A flat matrix array, more azimuths than elevations, the volume off the middle.
PolarVolumeConversionOptions pyramid() {
  PolarVolumeConversionOptions options;
  options.azimuths = {13, -30.0 * one_degree, 5.0 * one_degree};
  options.elevations = {9, -15.0 * one_degree, 4.0 * one_degree};
  options.samples = 41;
  options.sample_spacing = Metres(0.5e-3);
  options.start_depth = Metres(3e-3);
  options.display = {{Metres(-13e-3), Metres(12e-3), 33}, {Metres(-1e-3), Metres(25e-3), 21}, {Metres(-7e-3), Metres(9e-3), 18}};
  return options;
}

/// An array on a ball; elevations to one side, a volume of odd width.
PolarVolumeConversionOptions ball() {
  PolarVolumeConversionOptions options;
  options.azimuths = {6, -20.0 * one_degree, 8.0 * one_degree};
  options.elevations = {5, 2.0 * one_degree, 6.0 * one_degree};
  options.samples = 30;
  options.sample_spacing = Metres(0.7e-3);
  options.start_depth = Metres(0.0);
  options.probe_radius = Metres(20e-3);
  options.display = {{Metres(-14e-3), Metres(15e-3), 23}, {Metres(-3e-3), Metres(21e-3), 17}, {Metres(0.0), Metres(20e-3), 15}};
  return options;
}

struct BeamPlace {
  double sample;
  double azimuth;
  double elevation;
  bool inside;
  bool on_edge;  ///< within 1e-9 of an end: rounding decides
};

/// By the direction of the voxel from the apex.
BeamPlace beam_place(const PolarVolumeConversionOptions& options, const Point& at) {
  const double down = at.z.value + options.probe_radius.value;
  const double r = std::sqrt(at.x.value * at.x.value + at.y.value * at.y.value + down * down);
  const double elevation = std::asin(at.y.value / r);
  const double azimuth = std::atan2(at.x.value, down);
  BeamPlace place{};
  place.sample = (r - options.probe_radius.value - options.start_depth.value) / options.sample_spacing.value;
  place.azimuth = (azimuth - options.azimuths.first) / options.azimuths.pitch;
  place.elevation = (elevation - options.elevations.first) / options.elevations.pitch;
  const double beyond = std::max({-place.sample, place.sample - static_cast<double>(options.samples - 1), -place.azimuth,
                                  place.azimuth - static_cast<double>(options.azimuths.count - 1), -place.elevation,
                                  place.elevation - static_cast<double>(options.elevations.count - 1)});
  place.inside = beyond <= 1e-6;
  place.on_edge = std::abs(beyond - 1e-6) < 1e-9 || !(r > 0.0);
  return place;
}

/// The sum over all taps with weight, taps beyond an end repeating it; NaN where rounding may decide.
double plain_voxel(const PolarVolumeConversionOptions& options, const std::vector<float>& beams, const Point& point) {
  const BeamPlace at = beam_place(options, point);
  const auto near_half = [](double u) { return std::abs(u - std::floor(u) - 0.5) < 1e-6; };
  const ScanInterpolation how = options.interpolation;
  const bool tie =
      how == ScanInterpolation::nearest && (near_half(at.sample) || near_half(at.azimuth) || near_half(at.elevation));
  if (at.on_edge || tie) return std::numeric_limits<double>::quiet_NaN();
  if (!at.inside) return 0.0;
  const ScanInterpolation along = how == ScanInterpolation::cubic ? ScanInterpolation::bilinear : how;
  const auto azimuths = static_cast<long>(options.azimuths.count);
  const auto elevations = static_cast<long>(options.elevations.count);
  const auto samples = static_cast<long>(options.samples);
  double sum = 0.0;
  for (long e = -3; e < elevations + 3; ++e) {
    const double of_elevation = interpolation_weight(how, at.elevation, e, options.cubic_alpha);
    for (long a = -3; a < azimuths + 3 && of_elevation != 0.0; ++a) {
      const double of_azimuth = interpolation_weight(how, at.azimuth, a, options.cubic_alpha);
      for (long s = -1; s < samples + 1 && of_azimuth != 0.0; ++s) {
        const double weight = of_elevation * of_azimuth * interpolation_weight(along, at.sample, s, 0.0);
        const long beam = std::clamp(e, 0L, elevations - 1) * azimuths + std::clamp(a, 0L, azimuths - 1);
        sum += weight * beams[static_cast<std::size_t>(beam * samples + std::clamp(s, 0L, samples - 1))];
      }
    }
  }
  return sum;
}

TEST_P(PolarVolumeConversion, EqualsTheDoubleSum) {
  for (PolarVolumeConversionOptions options : {pyramid(), ball()}) {
    const std::size_t rows = options.azimuths.count * options.elevations.count;
    std::mt19937 random(4);
    std::uniform_int_distribution<int> levels(0, 255);
    std::vector<float> beams(rows * options.samples);
    for (float& v : beams) v = static_cast<float>(levels(random));
    const BlockSpec float_spec = make_spec(ElementType::float32, rows, options.samples, options.samples + 3);
    const BlockSpec level_spec = make_spec(ElementType::uint8, rows, options.samples, options.samples + 5);
    const TestBlock floats(float_spec);
    const TestBlock bytes(level_spec);
    for (std::size_t n = 0; n < beams.size(); ++n) {
      const std::size_t row = n / options.samples;
      const std::size_t s = n % options.samples;
      floats.as<float>()[row * float_spec.row_stride + s] = beams[n];
      bytes.as<std::uint8_t>()[row * level_spec.row_stride + s] = static_cast<std::uint8_t>(beams[n]);
    }
    for (const ScanInterpolation how : all_ways) {
      for (const double alpha : {-0.5, -0.75}) {
        options.interpolation = how;
        options.cubic_alpha = alpha;
        const auto stage = make(options);
        const StageResult as_floats = run(*stage, float_spec, floats, 2);
        EXPECT_EQ(as_floats.spec.rows, options.display.z.count * options.display.y.count);
        EXPECT_EQ(as_floats.spec.sub_blocks, options.display.y.count);
        const StageResult as_levels = run(*stage, level_spec, bytes, 2);
        std::size_t inside = 0;
        for (std::size_t p = 0; p < options.display.pixels(); ++p) {
          const double want = plain_voxel(options, beams, options.display.at(p));
          if (std::isnan(want)) continue;
          inside += want != 0.0 ? 1 : 0;
          // Offsets to 2^-23 and weights in single precision; the weights of a cubic each way add to 1.6 in magnitude at most.
          ASSERT_NEAR(as_floats.block->as<float>()[p], want, 255.0 * 3e-6) << "voxel " << p << ", method " << int(how);
          ASSERT_NEAR(as_levels.block->as<std::uint8_t>()[p], std::clamp(want, 0.0, 255.0), 0.5 + 255.0 * 3e-6);
        }
        EXPECT_GT(inside, options.display.pixels() / 10) << "the volume shows the beams";
        EXPECT_LT(inside, options.display.pixels()) << "and what lies beside them";
      }
    }
  }
}

class PolarVolumeSweep : public PolarVolumeConversion {};
ECHOFORM_ALL_INSTRUCTION_SETS(PolarVolumeSweep);

/// White noise of few beams and many, voxels a twentieth of a sample to eight samples apart, about the beams' ends and beside
/// them.
TEST_P(PolarVolumeSweep, EqualsTheDoubleSumAtEverySizeAndSpacing) {
  std::mt19937 random(15);
  std::normal_distribution<float> noise;
  for (const auto& [azimuths, elevations, samples] :
       {std::tuple<std::size_t, std::size_t, std::size_t>{2, 2, 2}, {3, 5, 33}, {9, 4, 16}, {17, 2, 7}}) {
    PolarVolumeConversionOptions options = pyramid();
    options.azimuths = {azimuths, -20.0 * one_degree, 40.0 / static_cast<double>(azimuths - 1) * one_degree};
    options.elevations = {elevations, -15.0 * one_degree, 30.0 / static_cast<double>(elevations - 1) * one_degree};
    options.samples = samples;
    const std::size_t rows = azimuths * elevations;
    std::vector<float> beams(rows * samples);
    for (float& v : beams) v = noise(random);
    const BlockSpec spec = make_spec(ElementType::float32, rows, samples);
    const TestBlock input(spec);
    std::copy(beams.begin(), beams.end(), input.as<float>());
    for (const double spacing : {0.05, 0.7, 2.7, 8.0}) {
      const double voxel = spacing * options.sample_spacing.value;
      const double middle = 3e-3 + 0.5 * 0.5e-3 * static_cast<double>(samples);
      options.display = {{Metres(-9.0 * voxel), Metres(8.0 * voxel), 18},
                         {Metres(middle - 3.3 * voxel), Metres(middle + 3.7 * voxel), 8},
                         {Metres(-2.2 * voxel), Metres(2.8 * voxel), 6}};
      for (const ScanInterpolation how : all_ways) {
        options.interpolation = how;
        const auto stage = make(options);
        const StageResult result = run(*stage, spec, input);
        for (std::size_t p = 0; p < options.display.pixels(); ++p) {
          const double want = plain_voxel(options, beams, options.display.at(p));
          if (std::isnan(want)) continue;
          // As above, of noise below 5.
          ASSERT_NEAR(result.block->as<float>()[p], want, 5.0 * 3e-6)
              << "voxel " << p << ", method " << int(how) << ", " << azimuths << " x " << elevations << ", " << spacing;
        }
      }
    }
  }
}

TEST_P(PolarVolumeConversion, IsTheSameBitsEverywhere) {
  for (PolarVolumeConversionOptions options : {pyramid(), ball()}) {
    const std::size_t rows = options.azimuths.count * options.elevations.count;
    const BlockSpec spec = make_spec(ElementType::float32, rows, options.samples);
    const TestBlock input(spec);
    std::mt19937 random(9);
    std::uniform_real_distribution<float> values(0.0F, 1.0F);
    for (std::size_t n = 0; n < rows * options.samples; ++n) input.as<float>()[n] = values(random);
    for (const ScanInterpolation how : all_ways) {
      options.interpolation = how;
      const auto stage = make(options);
      const StageResult result = run(*stage, spec, input);
      const auto plain = make_polar_volume_conversion_cpu(options);
      const StageResult want = run_on_one_thread(*plain, spec, input);
      EXPECT_EQ(std::memcmp(result.block->as<char>(), want.block->as<char>(), result.spec.bytes()), 0) << int(how);
    }
  }
}

TEST_P(PolarVolumeConversion, KeepsRampsAcrossBeams) {
  // Keys' kernel with alpha = -1/2 keeps straight lines where no tap is clamped; along the beam lines are kept everywhere.
  PolarVolumeConversionOptions options = pyramid();
  const std::size_t azimuths = options.azimuths.count;
  const std::size_t rows = azimuths * options.elevations.count;
  const BlockSpec spec = make_spec(ElementType::float32, rows, options.samples);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < rows * options.samples; ++n) {
    const std::size_t row = n / options.samples;
    input.as<float>()[n] = static_cast<float>(n % options.samples) + 3.0F * static_cast<float>(row % azimuths) +
                           7.0F * static_cast<float>(row / azimuths);
  }
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  std::size_t compared = 0;
  for (std::size_t p = 0; p < options.display.pixels(); ++p) {
    const BeamPlace at = beam_place(options, options.display.at(p));
    const double last_azimuth = static_cast<double>(azimuths) - 2.0;
    const double last_elevation = static_cast<double>(options.elevations.count) - 2.0;
    if (!at.inside || at.azimuth < 1.0 || at.azimuth > last_azimuth || at.elevation < 1.0 || at.elevation > last_elevation) {
      continue;
    }
    ++compared;
    // Values up to 150 in single precision.
    ASSERT_NEAR(result.block->as<float>()[p], at.sample + 3.0 * at.azimuth + 7.0 * at.elevation, 150.0 * 2e-6);
  }
  EXPECT_GT(compared, 300U);
}

TEST_P(PolarVolumeConversion, RefusesWhatDoesNotFit) {
  const auto message = [&](const std::function<void(PolarVolumeConversionOptions&)>& spoil) {
    PolarVolumeConversionOptions options = pyramid();
    spoil(options);
    return input_error([&] { (void)make(options); });
  };
  const std::string stage = "polar-volume-conversion stage, ";
  EXPECT_EQ(message([](auto& o) { o.azimuths.count = 1; }), stage + "azimuths: found 1; expected 2 to 4096");
  EXPECT_EQ(message([](auto& o) { o.elevations.pitch = 0.0; }), stage + "elevation pitch: found 0; expected above 0 rad");
  EXPECT_EQ(message([](auto& o) { o.azimuths.pitch = std::nan(""); }), stage + "azimuth pitch: found nan; expected above 0 rad");
  EXPECT_EQ(message([](auto& o) {
              o.elevations = {3, 0.0, 1.0};
            }),
            stage + "elevations: found 0 to 2 rad; expected within -pi / 2 to pi / 2");
  EXPECT_EQ(message([](auto& o) { o.samples = 1; }), stage + "samples: found 1; expected 2 to 65535");
  EXPECT_EQ(message([](auto& o) { o.sample_spacing = Metres(0.0); }), stage + "sample spacing: found 0; expected above 0 m");
  EXPECT_EQ(message([](auto& o) { o.start_depth = Metres(-1.0); }), stage + "start depth: found -1; expected 0 m or more");
  EXPECT_EQ(message([](auto& o) { o.probe_radius = Metres(-0.5); }), stage + "probe radius: found -0.5; expected 0 m or more");
  EXPECT_EQ(message([](auto& o) { o.cubic_alpha = 0.5; }), stage + "cubic alpha: found 0.5; expected -3 to 0");
  const auto good = make(pyramid());
  EXPECT_EQ(input_error([&] { (void)good->prepare(make_spec(ElementType::uint8, 13, 41)); }),
            stage + "input shape: found 13 x 41; expected 117 x 41, beams by samples");
}

ECHOFORM_ALL_IMPLEMENTATIONS(PolarVolumeConversion);

}  // namespace
}  // namespace echoform::test
