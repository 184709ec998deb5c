#include "operators/model_geometry.hpp"

#include <gtest/gtest.h>

#include "base/errors.hpp"

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
  try {
    validate(geometry, "model");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
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

}  // namespace
}  // namespace echoform::test
