#include "operators/interpolated_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.hpp"
#include "operators/half_sample_difference.hpp"
#include "operators/interpolated_kernels.hpp"
#include "tests/operators/dense_model.hpp"
#include "tests/operators/model_cases.hpp"
#include "tests/operators/on_site.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class InterpolatedModelOn : public OnSite {};
ECHOFORM_ON_SITES(InterpolatedModelOn);

void set_turns(interpolated::Ring& ring) {
  for (std::size_t a = 0; a < 3; ++a) {
    ring.size[a] = std::hypot(ring.cosine[a], ring.sine[a]);
    ring.phase[a] = std::atan2(ring.sine[a], ring.cosine[a]);
  }
}

TEST_P(InterpolatedModelOn, HasAnExactAdjoint) {
  ThreadTeam team(2);
  for (const NamedGeometry& of : model_cases()) {
    const auto model = make_interpolated_model(of.geometry, site(team));
    // Rounding of single precision, of sums of random numbers.
    for (unsigned seed = 1; seed <= 3; ++seed) EXPECT_LE(dot_test(*model, seed), 1e-6) << of.name;
  }
}

TEST_P(InterpolatedModelOn, IsWhatItsDefinitionSays) {
  ThreadTeam team(1);
  for (const NamedGeometry& of : model_cases()) {
    const auto model = make_interpolated_model(of.geometry, site(team));
    const DenseModel reference = dense_interpolated_model(of.geometry);
    EXPECT_LE(dot_test(reference, 1), 1e-12) << of.name;
    // Places to 1e-6 voxels of single precision, in differences of spheres half a sample apart: tens of times as much.
    EXPECT_LE(distance(*model, reference), 1e-4) << of.name;
    RecordProperty("distance_" + of.name, std::to_string(distance(*model, reference)));
  }
}

TEST_P(InterpolatedModelOn, BallsAreHeardAsTheyAreExactly) {
  // In every quadrant: frames that are turned wrongly hear the ball elsewhere. Linear interpolation errs by the square of
  // spacing.
  ThreadTeam team(2);
  const auto error_of = [&](Metres spacing) {
    const ModelGeometry geometry = ball_geometry(spacing);
    return ball_error(*make_interpolated_model(geometry, site(team)), geometry);
  };
  const double coarse = error_of(Metres(0.2e-3));
  const double fine = error_of(Metres(0.1e-3));
  RecordProperty("voxels_of_0.2_mm", std::to_string(coarse));
  RecordProperty("voxels_of_0.1_mm", std::to_string(fine));
  EXPECT_LE(coarse, 0.06);
  EXPECT_LE(fine, 0.3 * coarse);
}

TEST_P(InterpolatedModelOn, IsLinear) {
  ThreadTeam team(1);
  const auto model = make_interpolated_model(model_cases().front().geometry, site(team));
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
  EXPECT_LE(distance(of_both, expected), 2e-5);  // rounding, and that of differences
}

TEST_P(InterpolatedModelOn, HidesNoDataThatAreNotFinite) {
  ThreadTeam team(1);
  const ModelGeometry geometry = model_cases().front().geometry;
  const auto model = make_interpolated_model(geometry, site(team));
  std::vector<float> image(model->image_size());
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> data = drawn(model->data_size(), 5);
    data[geometry.samples / 2] = value;
    model->adjoint(data, image);
    EXPECT_FALSE(std::all_of(image.begin(), image.end(), [](float of) { return std::isfinite(of); })) << value;
    // Nothing of it is left.
    data[geometry.samples / 2] = 0.0F;
    model->adjoint(data, image);
    EXPECT_TRUE(std::all_of(image.begin(), image.end(), [](float of) { return std::isfinite(of); })) << value;
  }
}

TEST_P(InterpolatedModelOn, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const NamedGeometry& of : model_cases()) {
    std::vector<float> first_data;
    std::vector<float> first_image;
    for (const std::size_t threads : {1U, 2U, 3U}) {
      ThreadTeam team(threads);
      const auto model = make_interpolated_model(of.geometry, site(team));
      std::vector<float> data(model->data_size());
      std::vector<float> image(model->image_size());
      // The adjoint first: nothing of it is left for what follows.
      model->adjoint(drawn(data.size(), 3), image);
      model->apply(drawn(image.size(), 4), data);
      if (threads == 1) {
        first_data = data;
        first_image = image;
      }
      EXPECT_TRUE(same_bits(data, first_data)) << of.name << ", " << threads;
      EXPECT_TRUE(same_bits(image, first_image)) << of.name << ", " << threads;
    }
  }
}

TEST(InterpolatedModel, KernelsOfAllLevelsGiveTheSameBits) {
  using interpolated::RingTask;
  RingTask task;
  task.row = 12;
  task.plane = 120;
  for (int a = 0; a < 3; ++a) task.high[a] = 8.0F;
  task.ring = {{4.0F, 3.5F, 5.2F}, {3.3F, -1.0F, 2.0F}, {1.0F, 4.1F, 0.5F}, 277, 1.0, {}, {}};
  set_turns(task.ring);
  task.pieces = interpolated::pieces_within(task.ring, task.low, task.high);
  const std::vector<float> image = drawn(1200, 1);
  const interpolated::RingKernels portable = interpolated::ring_kernels(SimdLevel::portable);
  std::vector<float> expected(image.size());
  portable.scatter(task, 0.7F, expected.data(), 0, 10);
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;
    const interpolated::RingKernels kernels = interpolated::ring_kernels(level);
    EXPECT_EQ(kernels.gather(task, image.data()), portable.gather(task, image.data()));
    std::vector<float> added(image.size());
    kernels.scatter(task, 0.7F, added.data(), 0, 10);
    EXPECT_TRUE(same_bits(added, expected));
  }
}

TEST(InterpolatedModel, PiecesOfRingsHoldAllOfItsSamplesWithin) {
  const float low[3] = {0.0F, 0.0F, 0.0F};
  const float high[3] = {90.0F, 60.0F, 70.0F};
  std::size_t left_out = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<float> numbers = drawn(10, seed);
    interpolated::Ring ring{};
    for (std::size_t a = 0; a < 3; ++a) {
      ring.centre[a] = 40.0F + 60.0F * numbers[a];
      ring.cosine[a] = 90.0F * numbers[3 + a] * (seed % 4 == 0 && a == 1 ? 0.0F : 1.0F);
      ring.sine[a] = 90.0F * numbers[6 + a] * (seed % 4 == 0 && a == 1 ? 0.0F : 1.0F);
    }
    set_turns(ring);
    ring.count = 40 + static_cast<std::int32_t>(seed) * 60;
    const interpolated::Pieces pieces = interpolated::pieces_within(ring, low, high);
    for (std::int32_t k = 0; k < ring.count; ++k) {
      const double angle = 2.0 * interpolated::pi * (static_cast<double>(k) + 0.5) / ring.count;
      bool within = true;
      for (std::size_t a = 0; a < 3; ++a) {
        const double place = ring.centre[a] + ring.cosine[a] * std::cos(angle) + ring.sine[a] * std::sin(angle);
        within = within && place >= low[a] && place < high[a];
      }
      const bool held = pieces.bits != 0 && ((pieces.bits >> (k / pieces.piece)) & 1U) != 0;
      EXPECT_TRUE(held || !within) << seed << ", " << k;
      left_out += held ? 0 : 1;
    }
  }
  EXPECT_GT(left_out, 20000U);  // it is worth while
}

TEST(HalfSampleDifference, HasValuesAtBothEndsAndItsTranspose) {
  const std::vector<double> edges{1.0, 3.0, 2.0, 7.0};
  std::vector<float> samples(3);
  half_sample_difference(edges, samples);
  EXPECT_EQ(samples, (std::vector<float>{2.0F, -1.0F, 5.0F}));
  std::vector<float> back(4);
  half_sample_difference_adjoint(std::vector<float>{1.0F, 10.0F, 100.0F}, back);
  EXPECT_EQ(back, (std::vector<float>{-1.0F, -9.0F, -90.0F, 100.0F}));
  std::vector<float> of_one(2);
  half_sample_difference_adjoint(std::vector<float>{4.0F}, of_one);
  EXPECT_EQ(of_one, (std::vector<float>{-4.0F, 4.0F}));
}

TEST_P(InterpolatedModelOn, RefusesWhatItCannotModel) {
  ThreadTeam team(1);
  const auto refusal_of = [&](const ModelGeometry& geometry) {
    return input_error([&] { (void)make_interpolated_model(geometry, site(team)); });
  };
  ModelGeometry geometry = model_cases().front().geometry;
  // A part of a job's detectors may hear nothing.
  geometry.velocity = MetresPerSecond(15000.0);
  EXPECT_EQ(refusal_of(geometry), "");
  geometry = model_cases().front().geometry;
  geometry.start_time = Seconds(std::nan(""));
  EXPECT_EQ(refusal_of(geometry), "interpolated model, start time: found nan s; expected a time");
  geometry = model_cases().front().geometry;
  geometry.samples = 0;
  EXPECT_EQ(refusal_of(geometry), "interpolated model, samples: found none; expected one at least");
}

}  // namespace
}  // namespace echoform::test
