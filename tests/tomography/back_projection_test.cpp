#include "stages/back_projection/back_projection.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class BackProjection : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const BackProjectionOptions& options) {
    if (on_cuda()) return make_stage(back_projection_stage, options, backend());
    return make_back_projection_cpu(options, level());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(BackProjection);

constexpr std::size_t row_samples = 600;

/// Detectors here and there around the origin, facing it more or less.
std::vector<ProjectionDetector> some_detectors(std::size_t count) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<ProjectionDetector> detectors;
  for (std::size_t q = 0; q < count; ++q) {
    double d[3];
    for (double& v : d) v = normal(random);
    const double size = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double radius = 0.03 + 0.002 * normal(random);
    const Point at{Metres(radius * d[0] / size), Metres(radius * d[1] / size), Metres(radius * d[2] / size)};
    double n[3];
    for (int k = 0; k < 3; ++k) n[k] = -d[k] / size + 0.3 * normal(random);
    const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    detectors.push_back({count - 1 - q, at, {n[0] / length, n[1] / length, n[2] / length}, 0.5 + 0.01 * static_cast<double>(q)});
  }
  return detectors;
}

BackProjectionOptions options_with(const Grid& grid, std::size_t detectors) {
  BackProjectionOptions options;
  options.grid = grid;
  options.detectors = std::make_shared<const std::vector<ProjectionDetector>>(some_detectors(detectors));
  options.velocity = MetresPerSecond(1500.0);
  options.sample_rate = Hertz(20e6);
  options.start_time = Seconds(9e-6);
  return options;
}

/// Samples that change slowly, so that single precision of a time is no error worth a word.
double slow_sample(std::size_t row, double u) {
  return std::sin(0.05 * u + 0.3 * static_cast<double>(row));
}

/// The part of a way inside of an ellipsoid, by searching where it is deepest and bisecting to either side of that.
double searched_part(const SoundInclusion& inclusion, const std::array<double, 3>& from, const std::array<double, 3>& to) {
  const std::array<double, 3> centre{inclusion.centre.x.value, inclusion.centre.y.value, inclusion.centre.z.value};
  const auto depth = [&](double t) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double place = (from[k] + t * (to[k] - from[k]) - centre[k]) / inclusion.radii[k].value;
      sum += place * place;
    }
    return 1.0 - sum;
  };
  double low = 0.0;
  double high = 1.0;
  for (int n = 0; n < 100; ++n) {
    const double a = low + (high - low) / 3.0;
    const double b = high - (high - low) / 3.0;
    depth(a) < depth(b) ? low = a : high = b;
  }
  const double deepest = 0.5 * (low + high);
  if (!(depth(deepest) > 0.0)) return 0.0;
  const auto edge = [&](double inside, double outside) {
    if (depth(outside) > 0.0) return outside;
    for (int n = 0; n < 60; ++n) {
      const double t = 0.5 * (inside + outside);
      depth(t) > 0.0 ? inside = t : outside = t;
    }
    return inside;
  };
  return edge(deepest, 1.0) - edge(deepest, 0.0);
}

/// Voxel and magnitude that its rounding is measured by.
std::pair<double, double> plain_sum(const BackProjectionOptions& options, const Point& voxel) {
  double sum = 0.0;
  double magnitude = 0.0;
  double weights = 0.0;
  for (const ProjectionDetector& detector : *options.detectors) {
    const std::array<double, 3> from{detector.centre.x.value, detector.centre.y.value, detector.centre.z.value};
    const std::array<double, 3> to{voxel.x.value, voxel.y.value, voxel.z.value};
    const double v[3]{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    const double distance = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double facing = std::max(0.0, detector.normal.x * v[0] + detector.normal.y * v[1] + detector.normal.z * v[2]);
    double weight = detector.weight;
    if (options.law == ProjectionLaw::inverse_cube) weight *= facing / std::pow(distance, 3.0);
    if (options.law == ProjectionLaw::inverse_square) weight *= facing / std::pow(distance, 2.0);
    const double cosine = facing / distance;
    weight *= std::pow(cosine, options.cosine_power);
    if (cosine < options.least_cosine) weight = 0.0;
    double time = distance / options.velocity.value;
    if (options.inclusion) {
      const double inside = searched_part(*options.inclusion, from, to);
      time += inside * distance * (1.0 / options.inclusion->velocity.value - 1.0 / options.velocity.value);
    }
    const double u = (time - options.start_time.value) * options.sample_rate.value;
    weights += weight;
    if (!(u >= 0.0 && u < static_cast<double>(row_samples - 1))) continue;
    const double n = std::floor(u);
    const auto sample = static_cast<std::size_t>(n);
    const double a = slow_sample(detector.row, n);
    const double b = slow_sample(detector.row, n + 1.0);
    EXPECT_LT(sample + 1, row_samples);
    sum += weight * (a + (u - n) * (b - a));
    magnitude += std::abs(weight);
  }
  if (!options.normalise) return {sum, magnitude};
  return weights != 0.0 ? std::pair{sum / weights, magnitude / std::abs(weights)} : std::pair{0.0, 0.0};
}

class BackProjectionOf : public BackProjection {
 protected:
  /// `tolerance` of the sum of magnitudes.
  void expect_the_plain_sum(const BackProjectionOptions& options, double tolerance) {
    const std::size_t rows = options.detectors->size();
    const BlockSpec spec = make_spec(ElementType::float32, rows, row_samples, 608);
    const TestBlock input(spec);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t n = 0; n < row_samples; ++n) {
        input.as<float>()[row * 608 + n] = static_cast<float>(slow_sample(row, static_cast<double>(n)));
      }
    }
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    const Grid& grid = options.grid;
    ASSERT_EQ(result.spec.rows, grid.z.count * grid.y.count);
    ASSERT_EQ(result.spec.columns, grid.x.count);
    ASSERT_EQ(result.spec.sub_blocks, grid.y.count);
    for (std::size_t k = 0; k < grid.pixels(); ++k) {
      const auto [want, magnitude] = plain_sum(options, grid.at(k));
      ASSERT_NEAR(result.block->as<float>()[k], want, tolerance * magnitude) << "voxel " << k;
    }
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(BackProjectionOf);

const Axis few{Metres(-0.004), Metres(0.005), 7};
const Axis many{Metres(-0.006), Metres(0.004), 37};
const Axis fine{Metres(-0.002), Metres(0.003), 70};
const Axis one{Metres(0.001), Metres(0.001), 1};

// A time is to 2e-4 of a sample, over which samples change by 1e-5 at most; sums of 40 numbers add their rounding.
constexpr double rounding = 1.5e-5;

TEST_P(BackProjectionOf, EqualsThePlainSumForEveryLaw) {
  for (const ProjectionLaw law : {ProjectionLaw::constant, ProjectionLaw::inverse_cube, ProjectionLaw::inverse_square}) {
    BackProjectionOptions options = options_with({many, few, few}, 40);
    options.law = law;
    expect_the_plain_sum(options, rounding);
    options.normalise = true;
    expect_the_plain_sum(options, rounding);
    options.cosine_power = 3;
    expect_the_plain_sum(options, rounding);
    options.normalise = false;
    options.least_cosine = 0.9;
    expect_the_plain_sum(options, rounding);
  }
}

/// Voxels close to and far from each other, whose samples are taken from registers or gathered; lanes along any axis.
TEST_P(BackProjectionOf, EqualsThePlainSumOnGridsOfAnyShape) {
  for (const Grid& grid : {Grid{many, many, one}, Grid{fine, few, one}, Grid{one, many, few}, Grid{few, one, many},
                           Grid{few, few, one}, Grid{one, one, one}, Grid{fine, few, few}}) {
    BackProjectionOptions options = options_with(grid, 21);
    options.law = ProjectionLaw::inverse_cube;
    expect_the_plain_sum(options, rounding);
  }
}

TEST_P(BackProjectionOf, LooksUpNothingBeyondTheRecord) {
  BackProjectionOptions options = options_with({fine, few, few}, 33);
  // Sound of voxels arrives at samples -170 to 130, and 470 to 760.
  for (const double start : {21e-6, -9e-6}) {
    options.start_time = Seconds(start);
    expect_the_plain_sum(options, rounding);
    options.normalise = true;
    expect_the_plain_sum(options, rounding);
  }
}

/// So far from each other that a GPU looks samples up where they are.
TEST_P(BackProjectionOf, EqualsThePlainSumOfVoxelsFarApart) {
  const Axis wide{Metres(-0.015), Metres(0.015), 9};
  BackProjectionOptions options = options_with({wide, wide, wide}, 20);
  for (const ProjectionLaw law : {ProjectionLaw::constant, ProjectionLaw::inverse_cube, ProjectionLaw::inverse_square}) {
    options.law = law;
    expect_the_plain_sum(options, rounding);
  }
  options.normalise = true;
  options.cosine_power = 2;
  expect_the_plain_sum(options, rounding);
}

/// So many detectors that a GPU sums them in groups, which are added.
TEST_P(BackProjectionOf, EqualsThePlainSumOfManyDetectors) {
  BackProjectionOptions options = options_with({few, one, many}, 333);
  expect_the_plain_sum(options, rounding);
  options.law = ProjectionLaw::inverse_square;
  options.normalise = true;
  expect_the_plain_sum(options, rounding);
}

/// A detector among the voxels of the same spacing beyond the grid's end, where a GPU's threads have nothing to do.
TEST_P(BackProjectionOf, MindsNoDetectorBesideTheGrid) {
  const Axis nine{Metres(0.0), Metres(0.0008), 9};
  BackProjectionOptions options = options_with({nine, nine, nine}, 40);
  auto detectors = *options.detectors;
  detectors[3].centre = {Metres(0.001), Metres(0.0004), Metres(0.0004)};
  detectors[4].centre = {Metres(0.0004), Metres(0.0005), Metres(0.0011)};
  options.detectors = std::make_shared<const std::vector<ProjectionDetector>>(detectors);
  options.start_time = Seconds(0.0);
  for (const ProjectionLaw law : {ProjectionLaw::constant, ProjectionLaw::inverse_cube}) {
    options.law = law;
    expect_the_plain_sum(options, rounding);
  }
}

TEST_P(BackProjectionOf, TakesStraightRaysThroughAnInclusion) {
  BackProjectionOptions options = options_with({many, few, one}, 15);
  // Where a ray only just touches the ellipsoid, rounding of the root moves a time by up to 4e-3 of a sample.
  for (const double velocity : {1600.0, 1350.0}) {
    options.inclusion = SoundInclusion{
        {Metres(0.001), Metres(-0.002), Metres(0.0)}, {Metres(0.006), Metres(0.004), Metres(0.009)}, MetresPerSecond(velocity)};
    expect_the_plain_sum(options, 2e-4);
    options.law = ProjectionLaw::inverse_cube;
    expect_the_plain_sum(options, 2e-4);
  }
}

TEST_P(BackProjection, IsTheSameBitsForEveryTeamAndRun) {
  // So many detectors that a GPU sums them in groups.
  const BackProjectionOptions options = options_with({many, many, few}, 70);
  const BlockSpec spec = make_spec(ElementType::float32, 70, row_samples);
  const TestBlock input(spec);
  std::mt19937 random(11);
  std::normal_distribution<float> noise;
  for (std::size_t n = 0; n < 70 * row_samples; ++n) input.as<float>()[n] = noise(random);
  const auto stage = make(options);
  const StageResult result = run(*stage, spec, input, 3);
  const auto alone = make(options);
  const StageResult want = on_cuda() ? run(*alone, spec, input) : run_on_one_thread(*alone, spec, input);
  EXPECT_EQ(std::memcmp(result.block->as<float>(), want.block->as<float>(), result.spec.bytes()), 0);
}

TEST_P(BackProjection, RefusesWhatItCannotTake) {
  const auto refusal = [&](auto change) {
    BackProjectionOptions options = options_with({few, few, one}, 3);
    change(options);
    return input_error([&] { static_cast<void>(make(options)->prepare(make_spec(ElementType::float32, 3, 50))); });
  };
  using Options = BackProjectionOptions;
  EXPECT_EQ(refusal([](Options&) {}), "");
  EXPECT_EQ(refusal([](Options& o) { o.detectors = nullptr; }),
            "back-projection stage, detectors: found none; expected one at least");
  EXPECT_EQ(refusal([](Options& o) { o.velocity = MetresPerSecond(0.0); }),
            "back-projection stage, velocity: found 0 m/s; expected above 0");
  EXPECT_EQ(refusal([](Options& o) { o.cosine_power = 9; }), "back-projection stage, cosine power: found 9; expected 0 to 8");
  EXPECT_EQ(refusal([](Options& o) { o.least_cosine = 2.0; }), "back-projection stage, least cosine: found 2; expected -1 to 1");
  EXPECT_EQ(refusal([](Options& o) {
              o.inclusion = SoundInclusion{{}, {Metres(1), Metres(0), Metres(1)}, MetresPerSecond(1)};
            }),
            "back-projection stage, radius of the inclusion: found 0 m; expected above 0");
  EXPECT_EQ(refusal([](Options& o) {
              auto detectors = *o.detectors;
              detectors[1].row = 7;
              o.detectors = std::make_shared<const std::vector<ProjectionDetector>>(detectors);
            }),
            "back-projection stage, detectors: found one of row 7; expected of 0 to 2");
  const auto stage = make(options_with({few, few, one}, 3));
  EXPECT_EQ(input_error([&] { (void)stage->prepare(make_spec(ElementType::complex64, 3, 8)); }),
            "back-projection stage, input type: found complex64; expected float32");
}

}  // namespace
}  // namespace echoform::test
