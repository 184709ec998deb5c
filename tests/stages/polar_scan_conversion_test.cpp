#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "tests/stages/interpolation_weights.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double degree = std::numbers::pi / 180.0;

class PolarScanConversion : public StageTest {
 protected:
  std::unique_ptr<Stage> make(const PolarScanConversionOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_polar_scan_conversion_cuda(options, backend());
#endif
    return make_polar_scan_conversion_cpu(options, level());
  }
  /// The float image of P[beam, sample] = f(beam, sample).
  std::vector<float> image_of(const PolarScanConversionOptions& options,
                              const std::function<double(std::size_t, std::size_t)>& f);
};

/// A phased array: beams of 90 degrees from an apex on the probe.
PolarScanConversionOptions sector() {
  PolarScanConversionOptions options;
  options.beams = 45;
  options.angle_pitch = 90.0 / 44.0 * degree;
  options.samples = 130;
  options.sample_spacing = Metres(0.3e-3);
  options.start_depth = Metres(2e-3);
  options.display = {{Metres(-31e-3), Metres(30e-3), 117}, {Metres(-1e-3), Metres(43e-3), 83}, {}};
  return options;
}

/// A convex array of 40 mm radius, its beams to one side, its image narrower than the sector and of odd width.
PolarScanConversionOptions curvilinear() {
  PolarScanConversionOptions options;
  options.beams = 64;
  options.angle_pitch = 0.9 * degree;
  options.first_angle = -20.0 * degree;
  options.samples = 77;
  options.sample_spacing = Metres(0.5e-3);
  options.start_depth = Metres(1e-3);
  options.probe_radius = Metres(40e-3);
  options.display = {{Metres(-25e-3), Metres(52e-3), 98}, {Metres(-12e-3), Metres(41e-3), 61}, {}};
  return options;
}

struct Place {
  double sample;
  double beam;
  bool inside;
  /// Within 1e-9 of the sector's edge: rounding decides.
  bool on_edge;
};

/// By the definition of the geometry.
Place place_of(const PolarScanConversionOptions& options, const Point& at) {
  const double x = at.x.value;
  const double down = at.z.value + options.probe_radius.value;
  const double r = std::sqrt(x * x + down * down);
  const double theta = std::atan2(x, down);
  const double s = (r - options.probe_radius.value - options.start_depth.value) / options.sample_spacing.value;
  const double last_beam = static_cast<double>(options.beams) - 1.0;
  const double last_sample = static_cast<double>(options.samples) - 1.0;
  const double b =
      options.first_angle ? (theta - *options.first_angle) / options.angle_pitch : last_beam / 2.0 + theta / options.angle_pitch;
  const double beyond = std::max({-s, s - last_sample, -b, b - last_beam});
  return {s, b, beyond <= 1e-6, std::abs(beyond - 1e-6) < 1e-9};
}

/// Along depth a cubic gives way to lines.
double weight(ScanInterpolation how, bool lateral, double u, long index, double alpha) {
  const bool lines = how == ScanInterpolation::cubic && !lateral;
  return interpolation_weight(lines ? ScanInterpolation::bilinear : how, u, index, alpha);
}

/// Values of all pixels by the sum over all taps with weight; NaN where rounding may decide between inside and outside, or, for
/// nearest, between two samples.
std::vector<double> reference(const PolarScanConversionOptions& options, const std::vector<float>& image) {
  const auto beams = static_cast<long>(options.beams);
  const auto samples = static_cast<long>(options.samples);
  std::vector<double> out;
  for (std::size_t p = 0; p < options.display.pixels(); ++p) {
    Place at = place_of(options, options.display.at(p));
    double sum = 0.0;
    if (at.inside) {
      at.sample = std::clamp(at.sample, 0.0, static_cast<double>(samples - 1));
      at.beam = std::clamp(at.beam, 0.0, static_cast<double>(beams - 1));
      const auto b0 = static_cast<long>(at.beam);
      const auto s0 = static_cast<long>(at.sample);
      for (long b = b0 - 2; b <= b0 + 3; ++b) {
        for (long s = s0 - 1; s <= s0 + 2; ++s) {
          const double w = weight(options.interpolation, true, at.beam, b, options.cubic_alpha) *
                           weight(options.interpolation, false, at.sample, s, options.cubic_alpha);
          if (w == 0.0) continue;
          sum += w * image[static_cast<std::size_t>(std::clamp(b, 0L, beams - 1) * samples + std::clamp(s, 0L, samples - 1))];
        }
      }
    }
    const auto near_half = [](double u) { return std::abs(u - std::floor(u) - 0.5) < 1e-6; };
    const bool tie = options.interpolation == ScanInterpolation::nearest && (near_half(at.sample) || near_half(at.beam));
    out.push_back(at.on_edge || tie ? std::numeric_limits<double>::quiet_NaN() : sum);
  }
  return out;
}

std::vector<float> PolarScanConversion::image_of(const PolarScanConversionOptions& options,
                                                 const std::function<double(std::size_t, std::size_t)>& f) {
  const BlockSpec spec = make_spec(ElementType::float32, options.beams, options.samples);
  const TestBlock input(spec);
  for (std::size_t b = 0; b < options.beams; ++b) {
    for (std::size_t s = 0; s < options.samples; ++s) input.as<float>()[b * options.samples + s] = static_cast<float>(f(b, s));
  }
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  const float* const out = result.block->as<float>();
  return {out, out + options.display.pixels()};
}

TEST_P(PolarScanConversion, EqualsTheDoubleSum) {
  for (PolarScanConversionOptions options : {sector(), curvilinear()}) {
    std::mt19937 random(4);
    std::uniform_int_distribution<int> levels(0, 255);
    std::vector<float> image(options.beams * options.samples);
    for (float& v : image) v = static_cast<float>(levels(random));
    const BlockSpec float_spec = make_spec(ElementType::float32, options.beams, options.samples, options.samples + 3);
    const BlockSpec level_spec = make_spec(ElementType::uint8, options.beams, options.samples, options.samples + 5);
    const TestBlock floats(float_spec);
    const TestBlock bytes(level_spec);
    for (std::size_t n = 0; n < image.size(); ++n) {
      const std::size_t b = n / options.samples;
      const std::size_t s = n % options.samples;
      floats.as<float>()[b * float_spec.row_stride + s] = image[n];
      bytes.as<std::uint8_t>()[b * level_spec.row_stride + s] = static_cast<std::uint8_t>(image[n]);
    }
    for (const ScanInterpolation how : all_ways) {
      for (const double alpha : {-0.5, -0.75}) {
        options.interpolation = how;
        options.cubic_alpha = alpha;
        const std::vector<double> want = reference(options, image);
        const auto stage = make(options);
        const StageResult as_floats = run(*stage, float_spec, floats);
        ASSERT_EQ(as_floats.spec,
                  make_spec(ElementType::float32, options.display.z.count, options.display.x.count, options.display.x.count));
        const StageResult as_levels = run(*stage, level_spec, bytes);
        double error = 0.0;
        double norm = 0.0;
        std::size_t inside = 0;
        for (std::size_t p = 0; p < want.size(); ++p) {
          if (std::isnan(want[p])) continue;
          inside += want[p] != 0.0 ? 1 : 0;
          // Offsets to 2^-23 times slopes of up to 255 a sample; single-precision weights and sums of 8 terms of up to 255.
          ASSERT_NEAR(as_floats.block->as<float>()[p], want[p], 255.0 * 2e-6) << "pixel " << p << ", method " << int(how);
          ASSERT_NEAR(as_levels.block->as<std::uint8_t>()[p], std::clamp(want[p], 0.0, 255.0), 0.5 + 255.0 * 2e-6);
          error += std::pow(as_floats.block->as<float>()[p] - want[p], 2);
          norm += want[p] * want[p];
        }
        EXPECT_LT(std::sqrt(error / norm), 1e-6);
        EXPECT_GT(inside, want.size() / 5) << "the image shows the sector";
      }
    }
  }
}

class PolarScanSweep : public PolarScanConversion {};
ECHOFORM_ALL_INSTRUCTION_SETS(PolarScanSweep);

/// White noise in sectors of as many beams and samples as fill groups, words and tiles or one more, pixels a twentieth of a
/// sample to eight samples apart, about the sector's sides and beside it.
TEST_P(PolarScanSweep, EqualsTheDoubleSumAtEverySizeAndSpacing) {
  std::mt19937 random(14);
  std::normal_distribution<float> noise;
  for (const auto& [beams, samples] :
       {std::pair<std::size_t, std::size_t>{2, 2}, {3, 65}, {31, 33}, {32, 64}, {33, 2}, {65, 131}, {130, 17}}) {
    std::vector<float> image(beams * samples);
    for (float& v : image) v = noise(random);
    const BlockSpec spec = make_spec(ElementType::float32, beams, samples, samples + 1);
    const TestBlock input(spec);
    for (std::size_t n = 0; n < image.size(); ++n) input.as<float>()[n / samples * (samples + 1) + n % samples] = image[n];
    for (const double spacing : {0.05, 0.31, 1.0, 2.7, 8.0}) {
      for (const auto& [nx, nz] : {std::pair<std::size_t, std::size_t>{31, 17}, {32, 16}, {70, 5}, {1, 33}}) {
        PolarScanConversionOptions options = sector();
        options.beams = beams;
        options.samples = samples;
        options.angle_pitch = 61.0 / static_cast<double>(beams - 1) * degree;
        const double pixel = spacing * options.sample_spacing.value;
        const double middle = 2e-3 + 0.5 * 0.3e-3 * static_cast<double>(samples);
        const double wide = pixel * static_cast<double>(nx - 1);
        const double high = pixel * static_cast<double>(nz - 1);
        options.display = {
            {Metres(-0.3 * wide), Metres(0.7 * wide), nx}, {Metres(middle - 0.6 * high), Metres(middle + 0.4 * high), nz}, {}};
        for (const ScanInterpolation how : all_ways) {
          options.interpolation = how;
          const std::vector<double> want = reference(options, image);
          const auto stage = make(options);
          const StageResult result = run(*stage, spec, input);
          for (std::size_t p = 0; p < want.size(); ++p) {
            if (std::isnan(want[p])) continue;
            // Offsets to 2^-23 of a cell and weights of single precision, of noise below 5.
            ASSERT_NEAR(result.block->as<float>()[p], want[p], 5.0 * 2e-6)
                << "pixel " << p << ", method " << int(how) << ", " << beams << " x " << samples << ", " << spacing;
          }
        }
      }
    }
  }
}

TEST_P(PolarScanConversion, IsTheSameBitsEverywhere) {
  for (PolarScanConversionOptions options : {sector(), curvilinear()}) {
    for (const ElementType type : {ElementType::float32, ElementType::uint8}) {
      const BlockSpec spec = make_spec(type, options.beams, options.samples);
      const TestBlock input(spec);
      std::mt19937 random(9);
      for (std::size_t n = 0; n < options.beams * options.samples; ++n) {
        if (type == ElementType::uint8) {
          input.as<std::uint8_t>()[n] = static_cast<std::uint8_t>(random());
        } else {
          input.as<float>()[n] = std::uniform_real_distribution<float>(0.0F, 1.0F)(random);
        }
      }
      for (const ScanInterpolation how : all_ways) {
        options.interpolation = how;
        const auto stage = make(options);
        const StageResult result = run(*stage, spec, input, 2);
        const auto plain = make_polar_scan_conversion_cpu(options, SimdLevel::portable);
        const StageResult want = run_on_one_thread(*plain, spec, input);
        EXPECT_EQ(std::memcmp(result.block->as<char>(), want.block->as<char>(), result.spec.bytes()), 0) << int(how);
      }
    }
  }
}

TEST_P(PolarScanConversion, KeepsConstantsInsideAndIsZeroOutside) {
  for (PolarScanConversionOptions options : {sector(), curvilinear()}) {
    for (const ScanInterpolation how : all_ways) {
      for (const double alpha : {-0.25, -0.5, -0.75, -1.0, -3.0}) {
        options.interpolation = how;
        options.cubic_alpha = alpha;
        const std::vector<float> image = image_of(options, [](std::size_t, std::size_t) { return 1.0; });
        for (std::size_t p = 0; p < image.size(); ++p) {
          const Place at = place_of(options, options.display.at(p));
          if (at.on_edge) continue;
          if (at.inside) {
            ASSERT_NEAR(image[p], 1.0, 2e-6) << "rounding of weights of up to 3";
          } else {
            ASSERT_EQ(image[p], 0.0F);
          }
        }
      }
    }
  }
}

TEST_P(PolarScanConversion, ReproducesRampsAsEachMethodMust) {
  // Where no tap is clamped.
  const auto worst = [&](PolarScanConversionOptions options, ScanInterpolation how, double alpha, double along, double across) {
    options.interpolation = how;
    options.cubic_alpha = alpha;
    const std::vector<float> image = image_of(
        options, [&](std::size_t b, std::size_t s) { return along * static_cast<double>(s) + across * static_cast<double>(b); });
    double most = 0.0;
    for (std::size_t p = 0; p < image.size(); ++p) {
      const Place at = place_of(options, options.display.at(p));
      if (!at.inside || at.beam < 1.0 || at.beam > static_cast<double>(options.beams) - 2.0) continue;
      most = std::max(most, std::abs(image[p] - along * at.sample - across * at.beam));
    }
    return most;
  };
  // Values up to 130, offsets and weights in single precision.
  constexpr double rounding = 130.0 * 1e-6;
  for (const PolarScanConversionOptions& options : {sector(), curvilinear()}) {
    EXPECT_LT(worst(options, ScanInterpolation::bilinear, -0.5, 1.0, 1.0), rounding);
    EXPECT_LT(worst(options, ScanInterpolation::cubic, -0.5, 0.0, 1.0), rounding);
    EXPECT_LT(worst(options, ScanInterpolation::cubic, -0.75, 1.0, 0.0), rounding) << "linear along the beam, whatever alpha is";
    // Any other alpha bends a ramp across beams: by 0.048 and 0.096 of a beam at most.
    EXPECT_NEAR(worst(options, ScanInterpolation::cubic, -0.75, 0.0, 1.0), 0.048, 1e-3);
    EXPECT_NEAR(worst(options, ScanInterpolation::cubic, -1.0, 0.0, 1.0), 0.096, 1e-3);
    EXPECT_NEAR(worst(options, ScanInterpolation::nearest, -0.5, 1.0, 0.0), 0.5, 0.02);
  }
}

TEST_P(PolarScanConversion, SamplesOfABeamStandWhereTheyWereTaken) {
  // Three beams at -90, 0 and 90 degrees: places on the axes are samples, in whole numbers.
  PolarScanConversionOptions options;
  options.beams = 3;
  options.angle_pitch = 90.0 * degree;
  options.samples = 8;
  options.sample_spacing = Metres(1.0);
  options.start_depth = Metres(2.0);
  options.display = {{Metres(-10.0), Metres(10.0), 21}, {Metres(-3.0), Metres(10.0), 14}, {}};
  for (const double radius : {0.0, 1.0}) {
    options.probe_radius = Metres(radius);
    for (const ScanInterpolation how : all_ways) {
      options.interpolation = how;
      const std::vector<float> image =
          image_of(options, [](std::size_t b, std::size_t s) { return 100.0 * static_cast<double>(b) + static_cast<double>(s); });
      const auto at = [&](int x, int z) { return image[static_cast<std::size_t>((z + 3) * 21 + x + 10)]; };
      for (int s = 0; s < 8; ++s) {
        const int range = 2 + s + static_cast<int>(radius);  // from the apex
        EXPECT_FLOAT_EQ(at(0, 2 + s), static_cast<float>(100 + s));
        if (range > 10) continue;
        EXPECT_FLOAT_EQ(at(-range, -static_cast<int>(radius)), static_cast<float>(s));
        EXPECT_FLOAT_EQ(at(range, -static_cast<int>(radius)), static_cast<float>(200 + s));
      }
      EXPECT_EQ(at(0, 1), 0.0F) << "above the first sample";
      EXPECT_EQ(at(0, 10), 0.0F) << "below the last";
      EXPECT_EQ(at(5, -1 - static_cast<int>(radius)), 0.0F) << "behind the probe";
    }
  }
}

TEST_P(PolarScanConversion, ParallelBeamsStandBesideEachOther) {
  // Five beams that begin at x = 0, 0.5 ... 2 mm and point 30 degrees aside.
  PolarScanConversionOptions options;
  options.beams = 5;
  options.line_pitch = Metres(0.5e-3);
  options.first_angle = 30.0 * degree;
  options.samples = 41;
  options.sample_spacing = Metres(0.1e-3);
  options.start_depth = Metres(1e-3);
  options.display = {{Metres(-1e-3), Metres(5e-3), 61}, {Metres(0.0), Metres(5e-3), 51}, {}};
  options.interpolation = ScanInterpolation::bilinear;
  const std::vector<float> image = image_of(
      options, [](std::size_t b, std::size_t s) { return 1.0 + 100.0 * static_cast<double>(b) + static_cast<double>(s); });
  std::size_t inside = 0;
  for (std::size_t p = 0; p < image.size(); ++p) {
    const Point at = options.display.at(p);
    const double range = at.z.value / std::cos(30.0 * degree);
    const double begins = at.x.value - range * std::sin(30.0 * degree);
    const double sample = (range - 1e-3) / 0.1e-3;
    const double beam = begins / 0.5e-3;
    if (std::min({sample, 40.0 - sample, beam, 4.0 - beam}) < -1e-5) {
      EXPECT_EQ(image[p], 0.0F);
    } else if (std::min({sample, 40.0 - sample, beam, 4.0 - beam}) > 1e-5) {
      ++inside;
      EXPECT_NEAR(image[p], 1.0 + 100.0 * beam + sample, 500.0 * 1e-6);
    }
  }
  EXPECT_GT(inside, 500U);
  options.angle_pitch = 0.1;
  EXPECT_EQ(input_error([&] { (void)make_polar_scan_conversion_cpu(options); }),
            "polar-scan-conversion stage, angle pitch: found 0.1; expected 0 of parallel beams");
}

TEST_P(PolarScanConversion, CubicOvershootIsClamped) {
  PolarScanConversionOptions options = sector();
  options.cubic_alpha = -1.0;
  const BlockSpec spec = make_spec(ElementType::uint8, options.beams, options.samples);
  const TestBlock input(spec);
  for (std::size_t n = 0; n < spec.bytes(); ++n) input.as<std::uint8_t>()[n] = n / options.samples < 22 ? 0 : 255;
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  for (std::size_t p = 0; p < options.display.pixels(); ++p) {
    const Place at = place_of(options, options.display.at(p));
    if (!at.inside || at.on_edge) continue;
    if (at.beam < 21.0) {
      ASSERT_EQ(result.block->as<std::uint8_t>()[p], 0) << "undershoot";
    } else if (at.beam > 22.0) {
      ASSERT_EQ(result.block->as<std::uint8_t>()[p], 255) << "overshoot";
    }
  }
}

TEST_P(PolarScanConversion, ImagesOfAllWidthsAndBesideTheSector) {
  PolarScanConversionOptions options = sector();
  const BlockSpec spec = make_spec(ElementType::uint8, options.beams, options.samples);
  const TestBlock input(spec);
  std::fill_n(input.as<std::uint8_t>(), spec.bytes(), std::uint8_t{200});
  for (const std::size_t columns : {1, 2, 3, 5, 31, 32, 33, 64, 70}) {
    for (const std::size_t rows : {1, 15, 16, 17, 40}) {
      const double half = columns == 1 ? 0.0 : 35e-3;
      const double low = rows == 1 ? 20e-3 : 0.0;
      options.display = {{Metres(-half), Metres(half), columns}, {Metres(low), Metres(rows == 1 ? low : 45e-3), rows}, {}};
      const auto stage = make(options);
      const StageResult result = run(*stage, spec, input);
      for (std::size_t p = 0; p < options.display.pixels(); ++p) {
        const Place at = place_of(options, options.display.at(p));
        if (at.on_edge) continue;
        ASSERT_EQ(result.block->as<std::uint8_t>()[p], at.inside ? 200 : 0) << rows << " x " << columns;
      }
    }
  }
  options.display = {{Metres(1.0), Metres(1.1), 30}, {Metres(1.0), Metres(1.2), 20}, {}};
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input);
  for (std::size_t p = 0; p < 600; ++p) ASSERT_EQ(result.block->as<std::uint8_t>()[p], 0);
}

TEST_P(PolarScanConversion, RefusesWhatDoesNotFit) {
  const auto message = [&](const std::function<void(PolarScanConversionOptions&)>& spoil) {
    PolarScanConversionOptions options = sector();
    spoil(options);
    return input_error([&] { (void)make(options); });
  };
  const std::string stage = "polar-scan-conversion stage, ";
  EXPECT_EQ(message([](auto& o) { o.beams = 1; }), stage + "beams: found 1; expected 2 to 65535");
  EXPECT_EQ(message([](auto& o) { o.samples = 65536; }), stage + "samples: found 65536; expected 2 to 65535");
  EXPECT_EQ(message([](auto& o) { o.angle_pitch = 0.0; }), stage + "angle pitch: found 0; expected above 0 rad");
  EXPECT_EQ(message([](auto& o) { o.angle_pitch = std::nan(""); }), stage + "angle pitch: found nan; expected above 0 rad");
  EXPECT_EQ(message([](auto& o) {
              o.angle_pitch = 0.1;
              o.first_angle = 0.0;
            }),
            stage + "angles of the beams: found 0 to 4.4 rad; expected within -pi to pi");
  EXPECT_EQ(message([](auto& o) { o.sample_spacing = Metres(0.0); }), stage + "sample spacing: found 0; expected above 0 m");
  EXPECT_EQ(message([](auto& o) { o.start_depth = Metres(-1.0); }), stage + "start depth: found -1; expected 0 m or more");
  EXPECT_EQ(message([](auto& o) { o.probe_radius = Metres(-0.5); }), stage + "probe radius: found -0.5; expected 0 m or more");
  EXPECT_EQ(message([](auto& o) { o.cubic_alpha = 0.5; }), stage + "cubic alpha: found 0.5; expected -3 to 0");
  EXPECT_EQ(message([](auto& o) { o.display.y.count = 2; }), stage + "display grid y: found [0, 0] m; expected first < last");
  EXPECT_EQ(message([](auto& o) {
              o.display.y = {Metres(0.0), Metres(1.0), 2};
            }),
            stage + "display grid: found 2 pixels along y; expected 1: an image, not a volume");
  const auto good = make(sector());
  EXPECT_EQ(input_error([&] { (void)good->prepare(make_spec(ElementType::uint8, 130, 45)); }),
            stage + "input shape: found 130 x 45 in 1 sub-blocks; expected 45 x 130 in one, beams by samples");
  EXPECT_EQ(input_error([&] { (void)good->prepare(make_spec(ElementType::raw, 45, 130)); }),
            stage + "input type: found raw samples; expected uint8 or float32");
}

ECHOFORM_ALL_IMPLEMENTATIONS(PolarScanConversion);

}  // namespace
}  // namespace echoform::test
