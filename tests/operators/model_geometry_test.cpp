#include "operators/model_geometry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/errors.hpp"
#include "operators/arrivals.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

ModelGeometry box_with_a_detector() {
  ModelGeometry geometry;
  geometry.grid = {{Metres(-1e-3), Metres(1e-3), 11}, {Metres(0.0), Metres(2e-3), 11}, {Metres(-1e-3), Metres(1e-3), 11}};
  geometry.detectors.resize(1);
  geometry.detectors.front().centre = {Metres(0.0), Metres(0.0), Metres(-5e-3)};
  geometry.samples = 100;
  geometry.sample_rate = Hertz(20e6);
  geometry.velocity = MetresPerSecond(1500.0);
  return geometry;
}

std::string refusal_of(const ModelGeometry& geometry) {
  return input_error([&] { validate(geometry, "model"); });
}

TEST(ModelGeometry, IsAsItsVoxelsAndDetectorsMayBe) {
  EXPECT_EQ(refusal_of(box_with_a_detector()), "");
  ModelGeometry geometry = box_with_a_detector();
  geometry.detectors.front().centre = {Metres(0.0), Metres(0.0), Metres(1e-3)};
  EXPECT_EQ(refusal_of(geometry), "model, detector 0: found (0, 0, 1) mm, within the grid; expected detectors around it");
  geometry = box_with_a_detector();
  geometry.grid.x.count = 21;
  EXPECT_EQ(refusal_of(geometry), "model, grid: found voxels 0.1 and 0.2 mm apart; expected as far along each axis");
  geometry = box_with_a_detector();
  geometry.detectors.clear();
  EXPECT_EQ(refusal_of(geometry), "model, detectors: found none; expected one at least");
}

TEST(ModelGeometry, IsOfNumbers) {
  for (const double wrong : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const std::string found = fmt::format("{}", wrong);
    ModelGeometry geometry = box_with_a_detector();
    geometry.sample_rate = Hertz(wrong);
    EXPECT_EQ(refusal_of(geometry), fmt::format("model, sample rate: found {} Hz; expected above 0", found));
    geometry = box_with_a_detector();
    geometry.velocity = MetresPerSecond(wrong);
    EXPECT_EQ(refusal_of(geometry), fmt::format("model, velocity: found {} m/s; expected above 0", found));
    geometry = box_with_a_detector();
    geometry.start_time = Seconds(wrong);
    EXPECT_EQ(refusal_of(geometry), fmt::format("model, start time: found {} s; expected a time", found));
    geometry = box_with_a_detector();
    geometry.detectors.front().centre.y = Metres(wrong);
    EXPECT_EQ(refusal_of(geometry), fmt::format("model, detector 0: found (0, {}, -0.005) m; expected a place", found));
  }
}

TEST(Arrivals, OfTheGridAreWithinTheRecordOfOneDetectorAtLeast) {
  const auto silence_of = [](const ModelGeometry& geometry) { return input_error([&] { require_sound(geometry, "job"); }); };
  ModelGeometry geometry = box_with_a_detector();
  EXPECT_EQ(silence_of(geometry), "");
  // Ways of 5 to 7.14 mm take 3.333 to 4.761 us.
  EXPECT_EQ(text_of(arrivals_of(geometry)), "3.333 to 4.761 us");
  EXPECT_EQ(text_of(record_of(geometry)), "0 to 4.95 us");
  geometry.start_time = Seconds(5e-6);
  EXPECT_EQ(
      silence_of(geometry),
      "job: found sound that comes after 3.333 to 4.761 us at 1500 m/s; expected some of it within the record, 5 to 9.95 us");
  // One is too near for this record and another too far away, though what is between them is within it.
  Detector far;
  far.centre = {Metres(0.0), Metres(0.0), Metres(-50e-3)};
  geometry.detectors.push_back(far);
  EXPECT_NE(silence_of(geometry), "");
  geometry.detectors.back().centre.z = Metres(-12e-3);
  EXPECT_EQ(silence_of(geometry), "");
  geometry.detectors.back().dead = true;
  EXPECT_NE(silence_of(geometry), "");
  geometry.detectors.front().dead = true;
  EXPECT_EQ(silence_of(geometry), "");
}

}  // namespace
}  // namespace echoform::test
