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

std::uint8_t holds(const PartBounds& bounds, double x, double z) {
  const Point point{Metres(x), Metres(0.0), Metres(z)};
  std::uint8_t inside = 2;
  bounds.holds(std::span(&point, 1), std::span(&inside, 1));
  return inside;
}

TEST(PartBounds, FollowCylindersToANanometre) {
  // Pixels 1.1 nm to either side; half a nanometre counts as on the surface. Places of half a metre are rounded to 1e-16 m.
  for (const double radius : {0.05, 0.5, 5.0}) {
    const PartBounds rod{cylinder(radius, "outside", 0.0), nullptr};
    const PartBounds bore{cylinder(radius, "inside", 0.0), nullptr};
    const PartBounds in_bore{nullptr, cylinder(radius, "inside", 0.01)};
    for (int k = 0; k < 997; ++k) {
      const double angle = (0.01 + 0.98 * k / 997.0) * pi;
      const double x = std::cos(angle), z = std::sin(angle);
      for (const auto& [depth, expected] : {std::pair{1.1e-9, 1}, {0.5e-9, 0}, {-1.1e-9, 0}, {3e-5, 1}, {-3e-5, 0}}) {
        ASSERT_EQ(holds(rod, (radius - depth) * x, radius - (radius - depth) * z), expected)
            << radius << ", " << angle << ", " << depth;
        ASSERT_EQ(holds(bore, (radius + depth) * x, (radius + depth) * z - radius), expected)
            << radius << ", " << angle << ", " << depth;
        ASSERT_EQ(holds(in_bore, (radius - depth) * x, (radius - depth) * z - radius + 0.01), expected)
            << radius << ", " << angle << ", " << depth;
      }
    }
  }
}

}  // namespace
}  // namespace echoform::part_bounds_test
