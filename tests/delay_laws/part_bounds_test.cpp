// Between which surfaces pixels lie: to a nanometre, by the curve itself.
#include "delay_laws/part_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "rays/surface_kind.hpp"

namespace echoform::part_bounds_test {
namespace {

constexpr double pi = std::numbers::pi;

std::shared_ptr<const Surface> cylinder(double radius, const std::string& side, double z) {
  return make_surface(
      {.where = "[surface]", .kind = "cylinder", .numbers = {{"radius", radius}, {"z", z}}, .words = {{"side", side}}});
}

PartSide side_of(const PartBounds& bounds, double x, double z) {
  const Point point{Metres(x), Metres(0.0), Metres(z)};
  PartSide side{};
  bounds.sides(std::span(&point, 1), std::span(&side, 1));
  return side;
}

TEST(PartBounds, FollowCylindersToANanometre) {
  // Pixels are on the surface from 1 nm above to 10 nm below. Places of half a metre are rounded to 1e-16 m.
  for (const double radius : {0.05, 0.5, 5.0}) {
    const PartBounds rod{cylinder(radius, "outside", 0.0), nullptr};
    const PartBounds bore{cylinder(radius, "inside", 0.0), nullptr};
    const PartBounds in_bore{nullptr, cylinder(radius, "inside", 0.01)};
    for (int k = 0; k < 997; ++k) {
      const double angle = (0.01 + 0.98 * k / 997.0) * pi;
      const double x = std::cos(angle), z = std::sin(angle);
      for (const auto& [depth, expected] : {std::pair{10.1e-9, PartSide::within},
                                            {9.9e-9, PartSide::on_surface},
                                            {0.5e-9, PartSide::on_surface},
                                            {-0.9e-9, PartSide::on_surface},
                                            {-1.1e-9, PartSide::outside},
                                            {3e-5, PartSide::within},
                                            {-3e-5, PartSide::outside}}) {
        ASSERT_EQ(side_of(rod, (radius - depth) * x, radius - (radius - depth) * z), expected)
            << radius << ", " << angle << ", " << depth;
        ASSERT_EQ(side_of(bore, (radius + depth) * x, (radius + depth) * z - radius), expected)
            << radius << ", " << angle << ", " << depth;
        ASSERT_EQ(side_of(in_bore, (radius - depth) * x, (radius - depth) * z - radius + 0.01), expected)
            << radius << ", " << angle << ", " << depth;
      }
    }
  }
}

TEST(PartBounds, PointsOnASurfaceMoveTwentyNanometresIntoThePart) {
  const double radius = 0.05;
  const PartBounds rod{cylinder(radius, "outside", 0.0), nullptr};
  const PartBounds in_bore{nullptr, cylinder(radius, "inside", 0.01)};
  for (int k = 0; k < 97; ++k) {
    const double angle = (0.01 + 0.98 * k / 97.0) * pi;
    const double x = std::cos(angle), z = std::sin(angle);
    for (const double depth : {9e-9, 0.0, -0.9e-9}) {
      const auto depth_of_moved = [&](const PartBounds& bounds, double centre, double side) {
        const Point at{Metres((radius - depth) * x), Metres(3e-3), Metres(centre + side * (radius - depth) * z)};
        const Point moved = bounds.moved_inside(at);
        EXPECT_EQ(moved.y, at.y);
        return radius - std::hypot(moved.x.value, moved.z.value - centre);
      };
      // To rounding of places of 0.1 m.
      EXPECT_NEAR(depth_of_moved(rod, radius, -1.0), 20e-9, 1e-15) << angle << ", " << depth;
      EXPECT_NEAR(depth_of_moved(in_bore, 0.01 - radius, 1.0), 20e-9, 1e-15) << angle << ", " << depth;
    }
  }
}

}  // namespace
}  // namespace echoform::part_bounds_test
