// On which side of a simulated surface a place lies.
#include "simulators/sampled_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "base/errors.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::simulated {
namespace {

TEST(SampledCurves, TellTheSideOfPlacesAroundGroovesAndSpikes) {
  std::mt19937_64 engine(3);
  const auto random = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); };
  for (const double opening : {0.5, 1.0, 1.6, 2.5}) {  // radians between the walls
    for (const double depth : {4e-3, -4e-3}) {
      const double half = 4e-3 * std::tan(0.5 * opening);
      const CurveShape shape{.kind = CurveKind::profile,
                             .knots = {{-0.05, 0.0}, {-half, 0.0}, {0.0, depth}, {half, 0.0}, {0.05, 0.0}}};
      const SampledCurve curve(shape, {}, 1024);
      for (int k = 0; k < 500; ++k) {
        const Place at{random(-0.02, 0.02), random(-0.01, 0.01)};
        // The front is one depth for each x.
        const double front = std::abs(at.x) < half ? depth * (1.0 - std::abs(at.x) / half) : 0.0;
        ASSERT_EQ(curve.depth_below(at) > 0.0, at.z > front) << opening << ", " << depth << ": " << at.x << ", " << at.z;
      }
    }
  }
}

TEST(SampledCurves, AreReadFromFilesAlone) {
  const test::Scratch scratch;
  const std::string path = (scratch / "marked.csv").string();
  std::ofstream(path) << "\xEF\xBB\xBF-0.1,0.001\n0.1,0\n";
  const auto knots = read_profile_knots(path);
  ASSERT_EQ(knots.size(), 2U) << "the first line is no heading";
  EXPECT_EQ(knots[0].x, -0.1);
  EXPECT_THROW(static_cast<void>(read_profile_knots("/dev/zero")), InputError);
}

}  // namespace
}  // namespace echoform::simulated
