// Images whose first row of pixels lies on the front surface below a couplant: on every engine the limit of rows below it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "rays/surface_kind.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr double c_w = 1480.0;
constexpr double c_l = 6320.0;
constexpr double c_t = 3130.0;
constexpr double height = 6e-3;

class SurfaceRowImages : public EnginesAt {
 protected:
  /// Immersion with legs in tables, as configurations make them.
  static std::shared_ptr<ImagingPlan> plan_below(std::shared_ptr<const Surface> surface, const Grid& grid) {
    auto plan = make_plan(GetParam(), SampleEncoding::float32, MatrixKind::full, {}, 640, 8);
    plan->acquisition.sample_scale = 1.0;
    for (Element& element : plan->acquisition.probe.elements) element.centre.z = Metres(-height);
    plan->acquisition.start_time = Seconds(7e-6);
    plan->grid = grid;
    plan->scene.couplant = MetresPerSecond(c_w);
    plan->scene.surface = std::move(surface);
    for (const char* view : {"LL", "TT"}) {
      DelayLaw law = make_delay_law("immersion", {plan->acquisition, plan->material, view, plan->scene});
      law.transmit = law.transmit->tabulated(plan->grid, 2);
      law.receive = law.transmit;
      plan->laws.push_back(std::move(law));
    }
    return plan;
  }

  static std::shared_ptr<const Surface> made(const std::string& kind, std::map<std::string, double, std::less<>> numbers = {}) {
    return make_surface({.where = "[surface]", .kind = kind, .numbers = std::move(numbers), .words = {}});
  }
};

/// To a place of the plane z = 0 that is approached from below, `aside` of the element: straight through the couplant, or beyond
/// the critical angle by the wave that runs along below the surface.
double to_row(double aside, double velocity) {
  const double sine = c_w / velocity;
  if (aside <= height * sine / std::sqrt(1.0 - sine * sine)) return std::hypot(aside, height) / c_w;
  return height * std::sqrt(1.0 - sine * sine) / c_w + aside / velocity;
}

TEST_P(SurfaceRowImages, OnAPlaneAreThoseOfTheWayToIt) {
  const Axis x{Metres(-5.1e-3), Metres(5.3e-3), 40};
  const Axis z{Metres(0.0), Metres(4.9e-3), 21};
  for (const Axis& y : {Axis{}, Axis{Metres(-2e-3), Metres(3e-3), 3}}) {
    const auto plan = plan_below(made("plane"), {x, z, y});
    const Frame frame = random_frame(plan->acquisition, 61);
    const Imaged imaged = image_of(GetParam(), plan, frame);
    // The first row alone, by its times.
    ImagingPlan row = *plan;
    row.grid.z = {Metres(0.0), Metres(0.0), 1};
    for (std::size_t view = 0; view < 2; ++view) {
      const PlainWeight way = [&](std::size_t element, double at_x, double at_y, double) {
        const double aside = std::hypot(at_x - row.acquisition.probe.elements[element].centre.x.value, at_y);
        return to_row(aside, view == 0 ? c_l : c_t);
      };
      const std::vector<Complex> expected = plain_image_of(row, frame, way, way);
      double sum = 0.0;
      for (const Complex& value : expected) sum += std::norm(value);
      ASSERT_GT(sum, 0.0);
      // Rays end 20 nm below: 5e-4 of a sample on both ways, of white noise.
      EXPECT_LT(relative_error(imaged.complex(view), expected), GetParam().tolerance + 2e-3) << view << ", " << y.count;
    }
  }
}

TEST_P(SurfaceRowImages, OnACrownAreThoseJustBelowIt) {
  // Of a rod one pixel of the row lies on its crown, and of a plane that is tilted about it the same.
  const double tilt = 3.0;
  const double level = -0.1e-3 * std::tan(tilt * std::numbers::pi / 180.0);
  const Axis x{Metres(-3.9e-3), Metres(4.1e-3), 41};
  for (const auto& surface :
       {made("cylinder", {{"radius", 25e-3}, {"x", 0.1e-3}}), made("plane", {{"z", level}, {"angle", tilt}})}) {
    const auto on_it = plan_below(surface, {x, {Metres(0.0), Metres(4.9e-3), 21}, {}});
    const auto below = plan_below(surface, {x, {Metres(30e-9), Metres(4.9e-3), 21}, {}});
    const Frame frame = random_frame(on_it->acquisition, 62);
    const Imaged image_on_it = image_of(GetParam(), on_it, frame);
    const Imaged image_below = image_of(GetParam(), below, frame);
    for (std::size_t view = 0; view < 2; ++view) {
      const std::complex<float> here = image_on_it.complex(view)[20];
      const std::complex<float> there = image_below.complex(view)[20];
      EXPECT_GT(std::abs(there), 0.0F);
      EXPECT_LT(std::abs(here - there), 0.02 * std::abs(there)) << "some thousandths of a sample";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SurfaceRowImages, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace echoform::test
