// Elements too large for their far field: against the exact mean of a ball's sound over them.
#include "operators/element_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/directions.hpp"
#include "operators/spherical_model.hpp"
#include "tests/operators/dense_model.hpp"
#include "tests/operators/model_cases.hpp"
#include "tests/operators/on_site.hpp"

namespace echoform::test {
namespace {

class ElementPartsOn : public OnSite {};
ECHOFORM_ON_SITES(ElementPartsOn);

/// The box of balls, and elements of 3 x 3 mm whose middles are 20 mm from its middle, which look at it and past it.
ModelGeometry large_elements() {
  ModelGeometry geometry = ball_geometry(Metres(0.2e-3));
  geometry.start_time = Seconds(9e-6);
  geometry.samples = 200;
  geometry.detectors.clear();
  for (const auto& [polar, azimuth] : {std::pair(60.0, 40.0), {115.0, 225.0}, {0.0, 0.0}}) {
    Detector detector = detector_at({}, Metres(20e-3), polar, azimuth);
    detector.width = Metres(3e-3);
    detector.length = Metres(3e-3);
    geometry.detectors.push_back(detector);
  }
  const Direction& n = geometry.detectors[1].normal;
  geometry.detectors[1].normal = unit(Direction{n.x + 0.2, n.y + 0.1, n.z - 0.1});
  geometry.detectors[1].across = unit(across(geometry.detectors[1].across, geometry.detectors[1].normal));
  return geometry;
}

/// The mean of a ball's exact sound over each element, by a lattice of places: the middle-point rule, whose error is some 1e-3 of
/// the mean where waves are ten places long.
std::vector<double> mean_signals(const BlurredBall& ball, const ModelGeometry& geometry) {
  constexpr int places = 24;
  std::vector<double> data;
  for (const Detector& element : geometry.detectors) {
    const Direction along = cross(element.normal, element.across);
    std::vector<double> mean(geometry.samples);
    for (int a = 0; a < places; ++a) {
      for (int b = 0; b < places; ++b) {
        const double u = element.width.value * ((a + 0.5) / places - 0.5);
        const double v = element.length.value * ((b + 0.5) / places - 0.5);
        const Point at{element.centre.x + Metres(u * element.across.x + v * along.x),
                       element.centre.y + Metres(u * element.across.y + v * along.y),
                       element.centre.z + Metres(u * element.across.z + v * along.z)};
        for (std::size_t k = 0; k < mean.size(); ++k) {
          const double time = geometry.start_time.value + static_cast<double>(k) / geometry.sample_rate.value;
          mean[k] += ball.signal(at, geometry.velocity, time) / (places * places);
        }
      }
    }
    data.insert(data.end(), mean.begin(), mean.end());
  }
  return data;
}

/// A ball small enough that its sound fills the band.
BlurredBall small_ball() {
  return {{Metres(0.55e-3), Metres(0.62e-3), Metres(-0.35e-3)}, Metres(0.6e-3), Metres(0.15e-3)};
}

std::vector<float> simulated(const ModelGeometry& geometry, const SphericalModelOptions& options, const OperatorSite& site) {
  const auto model = make_spherical_model(geometry, options, site);
  EXPECT_EQ(model->data_size(), geometry.detectors.size() * geometry.samples);
  std::vector<float> data(model->data_size());
  model->apply(image_of(small_ball(), geometry.grid), data);
  return data;
}

TEST_P(ElementPartsOn, LargeElementsHearTheMeanOverThem) {
  ThreadTeam team(2);
  const ModelGeometry geometry = large_elements();
  const std::vector<double> mean = mean_signals(small_ball(), geometry);
  SphericalModelOptions options;
  options.rectangular_elements = true;
  const double by_itself = distance(simulated(geometry, options, site(team)), mean);
  RecordProperty("parts", std::to_string(by_itself));
  // The voxels' own error is 0.01 to 0.02 of points, and the far field's less than 0.03.
  EXPECT_LE(by_itself, 0.04);
  // As one part it is what it was; so is an element taken for a point.
  options.element_parts = ElementParts{};
  const double far_field = distance(simulated(geometry, options, site(team)), mean);
  RecordProperty("far_field", std::to_string(far_field));
  EXPECT_GE(far_field, 0.1);
  const double points = distance(simulated(geometry, {}, site(team)), mean);
  RecordProperty("points", std::to_string(points));
  EXPECT_GE(points, 0.1);
}

TEST_P(ElementPartsOn, HaveAnExactAdjoint) {
  ThreadTeam team(2);
  SphericalModelOptions options;
  options.rectangular_elements = true;
  for (const ElementParts& parts : {ElementParts{2, 3}, ElementParts{4, 1}}) {
    options.element_parts = parts;
    for (const NamedGeometry& of : model_cases()) {
      const auto model = make_spherical_model(of.geometry, options, site(team));
      // As of the models that they are made of.
      EXPECT_LE(dot_test(*model, 1), 1e-6) << of.name;
      if (GetParam() == BackendKind::cuda) {
        ASSERT_NE(model->on_device(), nullptr) << "images of several devices are added up there";
      }
    }
  }
}

TEST_P(ElementPartsOn, AreTheMeanOfTheirModels) {
  ThreadTeam team(2);
  SphericalModelOptions options;
  options.rectangular_elements = true;
  options.element_parts = ElementParts{2, 3};
  for (const NamedGeometry& of : model_cases()) {
    const auto model = make_spherical_model(of.geometry, options, site(team));
    const ModelGeometry parts = divided(of.geometry, {2, 3});
    ASSERT_EQ(parts.detectors.size(), 6 * of.geometry.detectors.size());
    SphericalModelOptions whole = options;
    whole.element_parts = ElementParts{};
    const DenseModel reference = dense_spherical_model(parts, whole);
    const std::vector<float> image = drawn(model->image_size(), 7);
    const std::vector<double> rows = reference.apply(image);
    std::vector<double> mean(model->data_size());
    for (std::size_t row = 0; row < of.geometry.detectors.size(); ++row) {
      for (std::size_t part = 0; part < 6; ++part) {
        for (std::size_t k = 0; k < of.geometry.samples; ++k)
          mean[row * of.geometry.samples + k] += rows[(6 * row + part) * of.geometry.samples + k] / 6.0;
      }
    }
    std::vector<float> data(model->data_size());
    model->apply(image, data);
    // As of the spherical model.
    EXPECT_LE(distance(data, mean), 5e-5) << of.name;
  }
}

TEST(ElementParts, TileTheirElement) {
  ModelGeometry geometry = large_elements();
  geometry.detectors.resize(2);
  geometry.detectors[1].dead = true;
  geometry.detectors[1].width = Metres(std::nan(""));
  const Detector whole = geometry.detectors[0];
  const ModelGeometry parts = divided(geometry, {3, 2});
  ASSERT_EQ(parts.detectors.size(), 12U);
  Direction middle{0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_DOUBLE_EQ(parts.detectors[k].width.value, 1e-3);
    EXPECT_DOUBLE_EQ(parts.detectors[k].length.value, 1.5e-3);
    const Direction from = between(whole.centre, parts.detectors[k].centre);
    EXPECT_NEAR(dot(from, whole.normal), 0.0, 1e-17);
    EXPECT_NEAR(std::abs(dot(from, cross(whole.normal, whole.across))), 0.75e-3, 1e-15);
    middle = {middle.x + from.x / 6.0, middle.y + from.y / 6.0, middle.z + from.z / 6.0};
  }
  EXPECT_NEAR(length(middle), 0.0, 1e-17);
  for (std::size_t k = 6; k < 12; ++k)
    EXPECT_TRUE(parts.detectors[k].dead && parts.detectors[k].centre == geometry.detectors[1].centre);
}

TEST(ElementParts, AreAsManyAsTheFarFieldWants) {
  ModelGeometry geometry = large_elements();
  const Hertz highest(5e6);
  // Of 3 mm at 17 mm from the nearest voxel, at 2.5 MHz: the root of the mean square phase, by the formula and summed here.
  const Detector& ahead = geometry.detectors[2];
  const double d = ahead.centre.z.value - geometry.grid.z.last.value - 0.1e-3;
  double square = 0.0;
  constexpr int places = 200;
  for (int a = 0; a < places; ++a) {
    for (int b = 0; b < places; ++b) {
      const double u = 3e-3 * ((a + 0.5) / places - 0.5);
      const double v = 3e-3 * ((b + 0.5) / places - 0.5);
      square += std::pow(2.0 * std::numbers::pi * 2.5e6 / 1500.0 * (u * u + v * v) / (2.0 * d), 2) / (places * places);
    }
  }
  geometry.detectors = {ahead};
  EXPECT_NEAR(far_field_error(geometry, highest, {}), std::sqrt(square), 1e-3 * std::sqrt(square));
  const ElementParts parts = parts_for_far_field(geometry, highest);
  EXPECT_LE(far_field_error(geometry, highest, parts), 0.03);
  EXPECT_GT(far_field_error(geometry, highest, {parts.across - 1, parts.along - 1}), 0.03);
  // Long ones are cut along their lengths, and small ones not at all.
  geometry.detectors[0].width = Metres(0.3e-3);
  geometry.detectors[0].length = Metres(10e-3);
  const ElementParts of_long = parts_for_far_field(geometry, highest);
  EXPECT_EQ(of_long.across, 1U);
  EXPECT_GT(of_long.along, 5U);
  geometry.detectors[0].length = Metres(0.3e-3);
  EXPECT_EQ(parts_for_far_field(geometry, highest), ElementParts{});
  // Beside the grid no number would do.
  geometry.detectors[0] = ahead;
  geometry.detectors[0].centre.z = geometry.grid.z.last + Metres(0.2e-3);
  EXPECT_EQ(parts_for_far_field(geometry, highest).across, ElementParts::maximum);
}

}  // namespace
}  // namespace echoform::test
