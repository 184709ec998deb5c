// What `echoform plan` says of a point's size (methods/point_spread.hpp) against images of simulated points.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "methods/point_spread.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

/// An image between its pixels.
class Surroundings {
 public:
  Surroundings(const Grid& grid, const std::vector<float>& envelope) : grid_(grid), envelope_(envelope) {}

  [[nodiscard]] double at(double x, double z) const {
    const double u = (x - grid_.x.first.value) / grid_.x.spacing().value;
    const double v = (z - grid_.z.first.value) / grid_.z.spacing().value;
    if (!(u >= 0.0 && v >= 0.0 && u < static_cast<double>(grid_.x.count - 1) && v < static_cast<double>(grid_.z.count - 1))) {
      ADD_FAILURE() << "the spot goes on beyond the image";
      return 0.0;
    }
    const auto i = static_cast<std::size_t>(u);
    const auto k = static_cast<std::size_t>(v);
    const double a = u - static_cast<double>(i);
    const auto along = [&](std::size_t row) {
      const float* const pixel = envelope_.data() + row * grid_.x.count + i;
      return (1.0 - a) * static_cast<double>(pixel[0]) + a * static_cast<double>(pixel[1]);
    };
    const double b = v - static_cast<double>(k);
    return (1.0 - b) * along(k) + b * along(k + 1);
  }

  /// Width at half the peak along a direction in radians.
  [[nodiscard]] double width(const test::ScenePeak& peak, double angle) const {
    constexpr double step = 5e-6;
    double whole = 0.0;
    for (const double side : {step, -step}) {
      double way = 0.0;
      while (at(peak.x + way * std::cos(angle), peak.z + way * std::sin(angle)) > 0.5 * static_cast<double>(peak.value))
        way += side;
      whole += std::abs(way);
    }
    return whole;
  }

 private:
  const Grid& grid_;
  const std::vector<float>& envelope_;
};

struct Case {
  const char* name;
  const char* example;
  const char* view;
  const char* modes;  ///< that the source has: echoes of others would stand in the image too
  double x;
  double z;
};

class SpotSizes : public testing::TestWithParam<Case> {};

TEST_P(SpotSizes, AreThoseOfAnImagedPoint) {
  const Case& of = GetParam();
  Configuration configuration = load_configuration(test::source_directory() / "examples" / (std::string(of.example) + ".toml"));
  configuration.imaging.backend = BackendWish::cpu;
  tfm(configuration).views = {of.view};
  // Pixels of 0.05 mm, a twelfth of the shortest wavelength.
  configuration.grid.x = {Metres(of.x - 1.5e-3), Metres(of.x + 1.5e-3)};
  configuration.grid.z = {Metres(of.z - 1.5e-3), Metres(of.z + 1.5e-3)};
  configuration.grid.pixels = {61, 61};
  SimulatorConfiguration source = simulator_configuration(configuration);
  source.noise_rms = 0.0;
  source.quantised = false;
  source.encoding = SampleEncoding::float32;
  source.scene.wall_echoes = false;
  source.scene.modes = of.modes;
  source.phantom = {};
  source.phantom.points = {{"point", {Metres(of.x), Metres(), Metres(of.z)}, 1.0, {}}};
  const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(source));
  const ImagingPlan& plan = *imaged.plan;

  const Point place{Metres(of.x), Metres(), Metres(of.z)};
  const Probe& probe = plan.acquisition.probe;
  const ElementRoles living = living_roles(plan.acquisition);
  const auto out = rays_to(*plan.laws[0].transmit, living.transmit, place, Metres(12e-6));
  const auto back = rays_to(*plan.laws[0].receive, living.receive, place, Metres(12e-6));
  const auto spectrum = pulse_spectrum(probe.centre_frequency, probe.bandwidth, response_of(plan.filter));
  const Spot spot = spot_of({out, back, spectrum});
  ASSERT_TRUE(spot.lateral.width && spot.axial.width);

  const Surroundings around(plan.grid, imaged.envelopes[0]);
  const test::ScenePeak peak = test::peak_of(imaged, 0, of.x, of.z, 0.3e-3);
  double longest = 0.0;
  double degrees = 0.0;
  for (int k = 0; k < 90; ++k) {
    const double width = around.width(peak, 2.0 * k * std::numbers::pi / 180.0);
    if (width > longest) {
      longest = width;
      degrees = 2.0 * k;
    }
  }
  const double across = around.width(peak, (degrees + 90.0) * std::numbers::pi / 180.0);
  std::printf("%-8s %.2f x %.2f mm at %3.0f degrees; lateral %.2f at %3.0f, axial %.2f\n", of.name, 1e3 * longest, 1e3 * across,
              degrees, 1e3 * spot.lateral.width->value, spot.lateral.degrees, 1e3 * spot.axial.width->value);
  // Elements weigh alike in the one and by their directivity, their ways' lengths and what interfaces let through in the other.
  EXPECT_NEAR(spot.lateral.width->value / longest, 1.0, 0.25);
  EXPECT_NEAR(spot.axial.width->value / across, 1.0, 0.25);
  // The spot is longer than wide by half or less: its axis is no sharper than that.
  EXPECT_LT(std::abs(std::remainder(spot.lateral.degrees - degrees, 180.0)), 12.0);
}

INSTANTIATE_TEST_SUITE_P(Examples, SpotSizes,
                         testing::Values(Case{"contact", "contact_modes", "LL", "L", 0.0, 19e-3},
                                         Case{"wedge", "wedge_shear", "TT", "T", 33e-3, 11.2e-3},
                                         Case{"half", "half_skip", "TT-T", "T", 10e-3, 14e-3}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace echoform
