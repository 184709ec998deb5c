#include "operators/spherical_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "operators/spherical_kernels.hpp"
#include "operators/spherical_spectrum.hpp"
#include "operators/spreading_kernel.hpp"
#include "tests/operators/dense_model.hpp"
#include "tests/operators/model_cases.hpp"
#include "tests/operators/on_site.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class SphericalModelOn : public OnSite {};
ECHOFORM_ON_SITES(SphericalModelOn);

// Against the direct sum in double precision: 5e-6 of the kernel of 6 samples, and rounding of single precision.
constexpr double to_direct_sum = 5e-5;

struct NamedOptions {
  std::string name;
  SphericalModelOptions options;
};

std::vector<NamedOptions> option_cases() {
  SphericalModelOptions ringing;
  ringing.impulse_response = {0.2F, 1.0F, -0.7F, 0.1F, 0.3F};
  SphericalModelOptions wide;
  wide.highest_frequency = Hertz(1.7e6);  // of 4 MHz
  SphericalModelOptions rectangles;
  rectangles.rectangular_elements = true;
  rectangles.element_parts = ElementParts{};
  SphericalModelOptions all = rectangles;
  all.impulse_response = ringing.impulse_response;
  all.highest_frequency = Hertz(1.3e6);
  return {{"points", {}}, {"ringing", ringing}, {"wide", wide}, {"rectangles", rectangles}, {"all", all}};
}

TEST_P(SphericalModelOn, HasAnExactAdjoint) {
  ThreadTeam team(2);
  for (const NamedGeometry& of : model_cases()) {
    for (const NamedOptions& by : option_cases()) {
      const auto model = make_spherical_model(of.geometry, by.options, site(team));
      // Rounding of single precision, of sums of random numbers.
      for (unsigned seed = 1; seed <= 3; ++seed) EXPECT_LE(dot_test(*model, seed), 1e-6) << of.name << ", " << by.name;
    }
  }
}

TEST_P(SphericalModelOn, IsTheDirectSum) {
  ThreadTeam team(1);
  double worst = 0.0;
  for (const NamedGeometry& of : model_cases()) {
    for (const NamedOptions& by : option_cases()) {
      const auto model = make_spherical_model(of.geometry, by.options, site(team));
      const DenseModel reference = dense_spherical_model(of.geometry, by.options);
      EXPECT_LE(dot_test(reference, 1), 1e-12) << of.name << ", " << by.name;
      const double off = distance(*model, reference);
      EXPECT_LE(off, to_direct_sum) << of.name << ", " << by.name;
      worst = std::max(worst, off);
    }
  }
  RecordProperty("worst_distance", std::to_string(worst));
}

TEST_P(SphericalModelOn, BallsAreHeardAsTheyAreExactly) {
  // A sphere for a cube errs by (k a)^2 / 10, a half of the spacing: a quarter for voxels of half the size. Images are p0 as they
  // are.
  ThreadTeam team(2);
  const auto error_of = [&](Metres spacing) {
    const ModelGeometry geometry = ball_geometry(spacing);
    return ball_error(*make_spherical_model(geometry, {}, site(team)), geometry);
  };
  const double coarse = error_of(Metres(0.2e-3));
  const double fine = error_of(Metres(0.1e-3));
  RecordProperty("voxels_of_0.2_mm", std::to_string(coarse));
  RecordProperty("voxels_of_0.1_mm", std::to_string(fine));
  EXPECT_LE(coarse, 0.01);
  EXPECT_LE(fine, 0.3 * coarse);
}

TEST_P(SphericalModelOn, AnElementHearsTheMeanOfItsPoints) {
  ThreadTeam team(1);
  ModelGeometry geometry = ball_geometry(Metres(0.2e-3));
  Detector element = detector_at({}, Metres(30e-3), 60.0, 40.0);
  element.normal = unit(Direction{0.2, -0.6, -0.5});  // looks past the ball: its ends hear it apart
  element.across = unit(across(Direction{0.0, 0.0, 1.0}, element.normal));
  geometry.detectors = {element};
  geometry.start_time = Seconds(16e-6);
  const std::vector<float> image = image_of(off_centre_ball(), geometry.grid);
  std::vector<float> heard(geometry.samples);
  SphericalModelOptions options;
  options.rectangular_elements = true;
  make_spherical_model(geometry, options, site(team))->apply(image, heard);

  std::vector<double> mean(geometry.samples);
  std::vector<float> at_middle(geometry.samples);
  constexpr int across_points = 12;
  constexpr int along_points = 8;
  const Direction along = cross(element.normal, element.across);
  for (int a = 0; a < across_points; ++a) {
    for (int b = 0; b < along_points; ++b) {
      const Metres u = element.width * ((a + 0.5) / across_points - 0.5);
      const Metres v = element.length * ((b + 0.5) / along_points - 0.5);
      const Direction by{u.value * element.across.x + v.value * along.x, u.value * element.across.y + v.value * along.y,
                         u.value * element.across.z + v.value * along.z};
      const Point at{element.centre.x + Metres(by.x), element.centre.y + Metres(by.y), element.centre.z + Metres(by.z)};
      for (std::size_t k = 0; k < mean.size(); ++k) {
        const double time = geometry.start_time.value + static_cast<double>(k) / geometry.sample_rate.value;
        mean[k] += off_centre_ball().signal(at, geometry.velocity, time) / (across_points * along_points);
      }
    }
  }
  make_spherical_model(geometry, {}, site(team))->apply(image, at_middle);
  RecordProperty("element", std::to_string(distance(heard, mean)));
  EXPECT_LE(distance(heard, mean), 0.02);  // the voxels' own error, and the far field's
  EXPECT_GE(distance(at_middle, mean), 0.15);
}

TEST_P(SphericalModelOn, IsLinear) {
  ThreadTeam team(1);
  const auto model = make_spherical_model(model_cases().front().geometry, {}, site(team));
  const std::vector<float> a = drawn(model->image_size(), 1);
  const std::vector<float> b = drawn(model->image_size(), 2);
  std::vector<float> both(a.size());
  for (std::size_t n = 0; n < a.size(); ++n) both[n] = 2.0F * a[n] - 3.0F * b[n];
  std::vector<float> of_a(model->data_size());
  std::vector<float> of_b(model->data_size());
  std::vector<float> of_both(model->data_size());
  model->apply(a, of_a);
  model->apply(b, of_b);
  model->apply(both, of_both);
  std::vector<double> expected;
  for (std::size_t k = 0; k < of_a.size(); ++k)
    expected.push_back(2.0 * static_cast<double>(of_a[k]) - 3.0 * static_cast<double>(of_b[k]));
  EXPECT_LE(distance(of_both, expected), 2e-6);  // rounding
}

TEST_P(SphericalModelOn, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const NamedGeometry& of : model_cases()) {
    for (const NamedOptions& by : option_cases()) {
      std::vector<float> first_data;
      std::vector<float> first_image;
      for (const std::size_t threads : {1U, 2U, 3U}) {
        ThreadTeam team(threads);
        const auto model = make_spherical_model(of.geometry, by.options, site(team));
        std::vector<float> data(model->data_size());
        std::vector<float> image(model->image_size());
        model->adjoint(drawn(data.size(), 3), image);
        model->apply(drawn(image.size(), 4), data);
        if (threads == 1) {
          first_data = data;
          first_image = image;
        }
        EXPECT_TRUE(same_bits(data, first_data)) << of.name << ", " << by.name << ", " << threads;
        EXPECT_TRUE(same_bits(image, first_image)) << of.name << ", " << by.name << ", " << threads;
      }
    }
  }
}

TEST_P(SphericalModelOn, MoreDetectorsThanAreHeldAtATimeAllCount) {
  ThreadTeam team(2);
  ModelGeometry geometry = model_cases().front().geometry;
  geometry.samples = 20;
  geometry.detectors.clear();
  for (int q = 0; q < 70; ++q) geometry.detectors.push_back(detector_at({}, Metres(8.5e-3), 2.5 * q, 37.0 * q));
  const auto model = make_spherical_model(geometry, {}, site(team));
  EXPECT_LE(distance(*model, dense_spherical_model(geometry)), to_direct_sum);
}

TEST_P(SphericalModelOn, AnotherModelOfSmallerWindowsChangesNothing) {
  ThreadTeam team(1);
  ModelGeometry wide = model_cases().front().geometry;
  wide.sample_rate = 40.0 * wide.sample_rate;  // a GPU's windows are as much longer
  wide.samples *= 40;
  const auto model = make_spherical_model(wide, {}, site(team));
  const std::vector<float> image = drawn(model->image_size(), 4);
  std::vector<float> alone(model->data_size());
  model->apply(image, alone);
  std::vector<float> of_alone(image.size());
  model->adjoint(alone, of_alone);
  const auto other = make_spherical_model(model_cases().front().geometry, {}, site(team));
  std::vector<float> beside(alone.size());
  model->apply(image, beside);
  EXPECT_EQ(beside, alone);
  std::vector<float> of_beside(image.size());
  model->adjoint(alone, of_beside);
  EXPECT_EQ(of_beside, of_alone);
}

TEST_P(SphericalModelOn, DeadElementsMayBeOfAnySize) {
  ThreadTeam team(1);
  SphericalModelOptions options;
  options.rectangular_elements = true;
  ModelGeometry geometry = model_cases().front().geometry;
  ASSERT_TRUE(geometry.detectors[1].dead);
  const auto data_of = [&] {
    const auto model = make_spherical_model(geometry, options, site(team));
    std::vector<float> data(model->data_size());
    model->apply(drawn(model->image_size(), 4), data);
    return data;
  };
  const std::vector<float> expected = data_of();
  for (const double size : {0.0, 0.5, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    geometry.detectors[1].width = Metres(size);
    EXPECT_EQ(data_of(), expected) << size;
  }
}

TEST_P(SphericalModelOn, IsTheDirectSumFarAwayAndInLongRecords) {
  ThreadTeam team(1);
  ModelGeometry geometry;
  geometry.grid = {{Metres(-10e-3), Metres(-10e-3 + 69 * 0.14e-3), 70}, {Metres(20e-3), Metres(20e-3), 1}, {}};
  geometry.samples = 1022;
  geometry.sample_rate = Hertz(20e6);
  geometry.start_time = Seconds(16e-6);
  geometry.velocity = MetresPerSecond(1540.0);
  geometry.detectors = {detector_at({}, Metres(65e-3), 70.0, 100.0)};
  const auto model = make_spherical_model(geometry, {}, site(team));
  EXPECT_LE(distance(*model, dense_spherical_model(geometry)), to_direct_sum);
}

TEST_P(SphericalModelOn, DetectorsThatTouchVoxelsHearNumbers) {
  ThreadTeam team(1);
  ModelGeometry geometry = model_cases().front().geometry;
  geometry.start_time = Seconds(0.0);
  geometry.detectors.resize(1);
  geometry.detectors.front().centre = {geometry.grid.x.last + Metres(1e-12), geometry.grid.y.first, geometry.grid.z.first};
  for (const NamedOptions& by : option_cases()) {
    const auto model = make_spherical_model(geometry, by.options, site(team));
    EXPECT_LE(dot_test(*model, 1), 1e-6) << by.name;
    std::vector<float> data(model->data_size());
    model->apply(drawn(model->image_size(), 1), data);
    for (const float value : data) EXPECT_TRUE(std::isfinite(value)) << by.name;
  }
}

TEST_P(SphericalModelOn, WhatIsHeardFarFromTheRecordIsLeftOut) {
  ThreadTeam team(1);
  ModelGeometry geometry = ball_geometry(Metres(0.2e-3));
  geometry.samples = 24;  // the middle of the signal
  geometry.start_time = Seconds(7.4e-6);
  const auto model = make_spherical_model(geometry, {}, site(team));
  EXPECT_LE(dot_test(*model, 1), 1e-6);
  std::vector<float> data(model->data_size());
  model->apply(image_of(off_centre_ball(), geometry.grid), data);
  const std::vector<double> exact = signals_of(off_centre_ball(), geometry);
  double size = 0.0;
  double off = 0.0;
  for (std::size_t k = 0; k < data.size(); ++k) {
    size = std::max(size, std::abs(exact[k]));
    off = std::max(off, std::abs(static_cast<double>(data[k]) - exact[k]));
  }
  EXPECT_LE(off, 0.25 * size);  // there is no frequency 0 in a short period
}

TEST(SphericalModel, KernelsOfAllLevelsGiveTheSameBits) {
  spherical::PieceTask task;
  const spherical::Listener listener{{10.0, 300.0, -700.0}, {5.0, 7.0, 2.0}, {-3.0, 0.2, 4.0}};
  const spherical::Lattice lattice{{-30.0, -20.0, 10.0}, 1.7};
  const std::int64_t at[3] = {3, 4, 5};
  task.count = 51;
  task.heard = spherical::heard_by(listener, lattice, at, task.count, 700.0);
  const std::vector<float> table = spreading::make_table();
  task.table = table.data();
  task.stride = 256;
  task.first = 10;
  task.last = 240;
  const std::vector<float> image = drawn(64, 1);
  const std::vector<float> grids = drawn(4 * task.stride, 2);
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;
    const auto compare = [&](const spherical::PieceKernels& a, const spherical::PieceKernels& b) {
      std::vector<float> spread_a(grids.size());
      std::vector<float> spread_b(grids.size());
      std::vector<float> sums_a(64 * 8);
      std::vector<float> sums_b(64 * 8);
      a.spread(task, image.data(), spread_a.data());
      b.spread(task, image.data(), spread_b.data());
      a.gather(task, grids.data(), sums_a.data());
      b.gather(task, grids.data(), sums_b.data());
      EXPECT_NE(spread_a, std::vector<float>(grids.size()));
      EXPECT_TRUE(same_bits(spread_a, spread_b));
      EXPECT_TRUE(same_bits(sums_a, sums_b));
    };
    compare(spherical::spherical_kernels(level).points, spherical::spherical_kernels(SimdLevel::portable).points);
    compare(spherical::spherical_kernels(level).rectangles, spherical::spherical_kernels(SimdLevel::portable).rectangles);
  }
}

TEST(SphericalVoxelSpectrum, KeepsItsDigitsAtLowFrequencies) {
  const Metres spacing(0.14e-3);
  const MetresPerSecond velocity(1540.0);
  // Low frequencies: that of a point of the cube's volume, j w V / (4 pi c^2), to (wT)^2 / 10.
  for (const double f : {1.0, 9785.0, 100e3}) {
    const std::complex<double> value = spherical_voxel_spectrum(Hertz(f), spacing, velocity);
    const double w = 2.0 * std::numbers::pi * f;
    const double expected = w * std::pow(spacing.value, 3) / (4.0 * std::numbers::pi * velocity.value * velocity.value);
    const double angle = 0.5 * w * spacing.value / velocity.value;
    EXPECT_EQ(value.real(), 0.0);
    EXPECT_NEAR(value.imag() / expected, 1.0 - angle * angle / 10.0, std::pow(angle, 4) / 200.0 + 1e-14);
  }
  EXPECT_EQ(spherical_voxel_spectrum(Hertz(0.0), spacing, velocity), 0.0);
  // Where the series ends: the same from both sides.
  const double limit = 0.1 * velocity.value / (std::numbers::pi * spacing.value);
  const double below = spherical_voxel_spectrum(Hertz(limit * (1.0 - 1e-9)), spacing, velocity).imag();
  const double above = spherical_voxel_spectrum(Hertz(limit * (1.0 + 1e-9)), spacing, velocity).imag();
  EXPECT_NEAR(above / below, 1.0, 1e-8);
}

TEST(SpreadingKernel, OfImpulsesBetweenSamplesHasTheirSpectrum) {
  const std::vector<float> table = spreading::make_table();
  for (const double place : {0.0, 0.1234, 0.5, 0.98765}) {
    for (const double f : {0.0, 0.05, 0.13, 0.25}) {
      std::complex<double> sum = 0.0;
      for (int lane = 0; lane < spreading::lanes; ++lane) {
        const double n = lane - spreading::lead;
        const double scaled_place = place * spreading::places;
        const auto row = static_cast<std::size_t>(scaled_place);
        const float* const shares = table.data() + row * spreading::table_row;
        const double share = static_cast<double>(shares[lane]) +
                             (scaled_place - static_cast<double>(row)) * static_cast<double>(shares[spreading::lanes + lane]);
        EXPECT_NEAR(share, spreading::kernel(n - place), 2e-6);
        sum += share * std::polar(1.0, -2.0 * std::numbers::pi * f * n);
      }
      sum /= spreading::kernel_transform(f);
      // 6 samples at twice the rate; worst at the end of the band.
      EXPECT_LE(std::abs(sum - std::polar(1.0, -2.0 * std::numbers::pi * f * place)), 4e-5) << place << ", " << f;
    }
  }
}

TEST_P(SphericalModelOn, RefusesWhatItCannotModel) {
  ThreadTeam team(1);
  const ModelGeometry geometry = model_cases().front().geometry;
  const auto refusal_of = [&](const ModelGeometry& of, const SphericalModelOptions& options) {
    return input_error([&] { (void)make_spherical_model(of, options, site(team)); });
  };
  SphericalModelOptions options;
  options.highest_frequency = Hertz(2.5e6);
  EXPECT_EQ(refusal_of(geometry, options),
            "spherical model, highest frequency: found 2.5 MHz; expected above 0 and at most 2 MHz, half of the sample rate");
  options.highest_frequency = Hertz(10e3);
  EXPECT_EQ(refusal_of(geometry, options),
            "spherical model, highest frequency: found 0.01 MHz; expected at least 0.0625 MHz, one wave in the grid's period");
  options = {};
  options.impulse_response = {1.0F, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(refusal_of(geometry, options), "spherical model, impulse response: found nan; expected numbers");
  options = {};
  options.rectangular_elements = true;
  ModelGeometry points = geometry;
  points.detectors[2].width = Metres(0.0);
  points.detectors[2].length = Metres(0.0);
  EXPECT_EQ(refusal_of(points, options),
            "spherical model, detector 2: found 0 x 0 mm; expected a size, for rectangular elements");
}

TEST(SphericalModel, OfAPartOfTheDetectorsHasTheGridInTimeOfAll) {
  ModelGeometry all = model_cases().front().geometry;
  all.detectors[0].width = Metres(9e-3);
  ModelGeometry part = all;
  part.detectors.erase(part.detectors.begin());
  SphericalModelOptions options;
  options.rectangular_elements = true;
  const SphericalTimeGrid of_all = spherical_time_grid(all, options, "model");
  EXPECT_NE(spherical_time_grid(part, options, "model").transit, of_all.transit);
  options.largest_half_diagonal = largest_half_diagonal(all.detectors);
  const SphericalTimeGrid of_part = spherical_time_grid(part, options, "model");
  EXPECT_EQ(of_part.transit, of_all.transit);
  EXPECT_EQ(of_part.period, of_all.period);
  EXPECT_EQ(of_part.bands, of_all.bands);
}

}  // namespace
}  // namespace echoform::test
