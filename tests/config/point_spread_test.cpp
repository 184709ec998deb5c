// The spot of a point against closed forms, and slownesses against those of straight rays.
#include "config/point_spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace echoform {
namespace {

constexpr double velocity = 6320.0;
constexpr double frequency = 5e6;

/// Straight rays in one medium; the last source has none.
class StraightLeg final : public Leg {
 public:
  explicit StraightLeg(Probe probe) : probe_(std::move(probe)) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point& from = probe_.elements[source].centre;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      seconds[k] = source + 1 == sources() ? std::numeric_limits<double>::quiet_NaN()
                                           : std::hypot((pixels[k].x - from.x).value, (pixels[k].z - from.z).value) / velocity;
    }
  }

 private:
  Probe probe_;
};

TEST(Slownesses, AreThoseOfStraightRays) {
  Probe probe = make_linear_probe(6, Metres(4e-3), Metres(0.0), Hertz(frequency), Hertz(3e6));
  probe.elements[1].dead = true;
  const Point pixel{Metres(3e-3), Metres(), Metres(11e-3)};
  const auto found = slownesses_at(StraightLeg(probe), probe, pixel, Metres(20e-6));
  ASSERT_EQ(found.size(), 4U);  // without the dead element and the one without rays
  std::size_t k = 0;
  for (const std::size_t source : {0U, 2U, 3U, 4U}) {
    const Point& from = probe.elements[source].centre;
    const double way = std::hypot((pixel.x - from.x).value, pixel.z.value);
    // Central differences of t over h: s h^2 / (2 R^2) at most, 2e-6 of s.
    EXPECT_NEAR(found[k].x * velocity, (pixel.x - from.x).value / way, 4e-6);
    EXPECT_NEAR(found[k].z * velocity, pixel.z.value / way, 4e-6);
    ++k;
  }
}

/// Of `count` rays whose directions have sines from -greatest to greatest about z.
std::vector<Vector2> fan(std::size_t count, double greatest, double turned = 0.0) {
  std::vector<Vector2> all;
  for (std::size_t k = 0; k < count; ++k) {
    const double sine = greatest * (2.0 * (static_cast<double>(k) + 0.5) / static_cast<double>(count) - 1.0);
    const double angle = std::asin(sine) + turned;
    all.push_back((1.0 / velocity) * Vector2{std::sin(angle), std::cos(angle)});
  }
  return all;
}

TEST(Spot, OfALinearArrayIsAsWideAsTheoryHasIt) {
  // 0.8859 lambda / (2 sin theta): sinc^2 at one half (Goodman, Introduction to Fourier Optics, section 4.4, both ways). One
  // frequency; 64 rays in place of a continuum make it wider by 2 / 64^2 at most.
  const auto rays = fan(64, 0.3);
  const Spot spot = spot_of(rays, rays, Hertz(frequency), Hertz(0.0));
  EXPECT_NEAR(spot.lateral.width.value().value / (0.8859 * velocity / frequency / 0.6), 1.0, 1e-3);
  EXPECT_NEAR(spot.lateral.degrees, 0.0, 0.1);
  EXPECT_FALSE(spot.blind);
  // A tenth of an aperture and a Gaussian pulse: 0.88254 / B / (2 / c), and cos(0.03) of that is within 1e-3.
  const auto narrow = fan(64, 0.03);
  const Spot pulse = spot_of(narrow, narrow, Hertz(frequency), Hertz(3e6));
  EXPECT_NEAR(pulse.axial.width.value().value / (4.0 * std::numbers::ln2 / std::numbers::pi / 3e6 * velocity / 2.0), 1.0, 2e-3);
  EXPECT_NEAR(pulse.axial.degrees, 90.0, 0.1);
}

TEST(Spot, TurnsWithItsRays) {
  const Spot upright = spot_of(fan(32, 0.3), fan(32, 0.3), Hertz(frequency), Hertz(3e6));
  // Rays that go towards greater x as they go down: the spot is long across them.
  const double turn = std::numbers::pi / 6.0;
  const Spot turned = spot_of(fan(32, 0.3, turn), fan(32, 0.3, turn), Hertz(frequency), Hertz(3e6));
  EXPECT_NEAR(turned.axial.degrees, 60.0, 1e-6);
  EXPECT_NEAR(turned.lateral.degrees, 150.0, 1e-6);
  EXPECT_NEAR(turned.lateral.width.value().value, upright.lateral.width.value().value, 1e-9);
  EXPECT_NEAR(turned.axial.width.value().value, upright.axial.width.value().value, 1e-9);
}

TEST(Spot, OfOppositeWaysIsBlindAlongThem) {
  const auto down = fan(32, 0.3);
  const auto up = fan(32, 0.3, std::numbers::pi);
  const Spot spot = spot_of(up, down, Hertz(frequency), Hertz(3e6));
  EXPECT_TRUE(spot.blind);
  EXPECT_NEAR(spot.axial.degrees, 90.0, 1e-6);
  // The aperture alone tells depth: cosines from 0.954 to 1 in place of sines from -0.3 to 0.3.
  EXPECT_GT(spot.axial.width.value().value, 5.0 * spot.lateral.width.value().value);
  // A single ray each way tells nothing.
  const Spot line = spot_of(fan(1, 0.0), fan(1, 0.0, std::numbers::pi), Hertz(frequency), Hertz(3e6));
  EXPECT_TRUE(line.blind);
  EXPECT_FALSE(line.axial.width);
  EXPECT_FALSE(line.lateral.width);
}

}  // namespace
}  // namespace echoform
