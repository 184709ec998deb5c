// Images of volumes on every engine, against the plain sum over a matrix array in three dimensions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "rays/surface_kind.hpp"
#include "simulators/least_search.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;
constexpr std::size_t matrix_columns = 4;
constexpr std::size_t matrix_rows = 3;

/// Of 4 x 3 elements of 0.8 mm x 0.9 mm into a volume that lies to one side of them.
std::shared_ptr<ImagingPlan> plan_of_volume(const Place& place, MatrixKind matrix, const std::vector<std::string>& views,
                                            std::size_t dead = matrix_columns * matrix_rows) {
  auto plan = make_plan(place, SampleEncoding::int16, matrix, {}, 260);
  Acquisition& a = plan->acquisition;
  a.probe = make_matrix_probe({.columns = matrix_columns,
                               .rows = matrix_rows,
                               .pitch = Metres(1.0e-3),
                               .row_pitch = Metres(1.3e-3),
                               .width = Metres(0.8e-3),
                               .length = Metres(0.9e-3)},
                              Hertz(5e6), Hertz(3e6));
  if (dead < a.probe.elements.size()) a.probe.elements[dead].dead = true;
  plan->grid = {
      {Metres(-4.1e-3), Metres(5.3e-3), 13}, {Metres(1.03e-3), Metres(11.9e-3), 9}, {Metres(-2.2e-3), Metres(6.1e-3), 7}};
  const auto legs = std::make_shared<LegCache>();
  for (const auto& view : views) plan->laws.push_back(make_delay_law("contact", {a, plan->material, view, {}, legs}));
  return plan;
}

class VolumeImages : public EnginesAt {};

TEST_P(VolumeImages, OfAFullMatrixInTwoViews) {
  const auto plan = plan_of_volume(GetParam(), MatrixKind::full, {"LL", "LT"}, 5);
  const Frame frame = random_frame(plan->acquisition, 31);
  const Imaged imaged = image_of(GetParam(), plan, frame);
  EXPECT_LT(relative_error(imaged.complex(0), plain_image(*plan, frame, longitudinal, longitudinal)), GetParam().tolerance);
  EXPECT_LT(relative_error(imaged.complex(1), plain_image(*plan, frame, longitudinal, shear)), GetParam().tolerance);
}

TEST_P(VolumeImages, OfHalvesOfAMatrix) {
  for (const MatrixKind matrix : {MatrixKind::half, MatrixKind::half_summed}) {
    const auto plan = plan_of_volume(GetParam(), matrix, {"LL"});
    const Frame frame = random_frame(plan->acquisition, 32);
    EXPECT_LT(relative_error(image_of(GetParam(), plan, frame).complex(), plain_image(*plan, frame, longitudinal, longitudinal)),
              GetParam().tolerance);
  }
}

double hann(double t) {
  return std::pow(std::sin(std::numbers::pi * t), 2);
}

double sinc(double waves) {
  return waves == 0.0 ? 1.0 : std::abs(std::sin(std::numbers::pi * waves) / (std::numbers::pi * waves));
}

TEST_P(VolumeImages, WeighedAlongXAndYByTheRectangularElementsAndWithinACone) {
  const auto plan = plan_of_volume(GetParam(), MatrixKind::full, {"LL"});
  plan->apodization.window = ApodizationWindow::hann;
  plan->apodization.directivity = true;
  plan->apodization.angle_limit = 55.0;
  const Frame frame = random_frame(plan->acquisition, 33);
  const double wavelength = longitudinal / 5e6;
  const PlainWeight weight = [&](std::size_t element, double x, double y, double z) {
    const double dx = x - (static_cast<double>(element % matrix_columns) - 1.5) * 1.0e-3;
    const double dy = y - (static_cast<double>(element / matrix_columns) - 1.0) * 1.3e-3;
    const double way = std::sqrt(dx * dx + dy * dy + z * z);
    if (z / way < std::cos(55.0 * std::numbers::pi / 180.0)) return 0.0;
    const double window = hann((static_cast<double>(element % matrix_columns) + 0.5) / 4.0) *
                          hann((static_cast<double>(element / matrix_columns) + 0.5) / 3.0);
    return window * z / way * sinc(0.8e-3 / wavelength * dx / way) * sinc(0.9e-3 / wavelength * dy / way);
  };
  EXPECT_LT(
      relative_error(image_of(GetParam(), plan, frame).complex(), plain_image(*plan, frame, longitudinal, longitudinal, weight)),
      GetParam().tolerance);
}

TEST_P(VolumeImages, OfElementsThatStandOnAShell) {
  const auto plan = plan_of_volume(GetParam(), MatrixKind::full, {});
  // Normals towards a point 30 mm above: elements of an arc in both directions.
  for (Element& element : plan->acquisition.probe.elements) {
    const double x = element.centre.x.value / 30e-3;
    const double y = element.centre.y.value / 30e-3;
    const double length = std::sqrt(1.0 + x * x + y * y);
    element.normal = {x / length, y / length, 1.0 / length};
    element.centre.z = Metres(-15e-3 * (x * x + y * y));
  }
  plan->laws.push_back(make_delay_law("contact", {plan->acquisition, plan->material, "LL"}));
  plan->apodization.directivity = true;
  const Frame frame = random_frame(plan->acquisition, 34);
  const double wavelength = longitudinal / 5e6;
  const PlainWeight weight = [&](std::size_t element, double x, double y, double z) {
    const Element& e = plan->acquisition.probe.elements[element];
    const double d[3] = {x - e.centre.x.value, y - e.centre.y.value, z - e.centre.z.value};
    const double n[3] = {e.normal.x, e.normal.y, e.normal.z};
    const double way = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double flat = std::hypot(n[0], n[2]);
    const double u[3] = {n[2] / flat, 0.0, -n[0] / flat};                                                   // along the width
    const double v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};  // the length
    const auto dot = [&](const double(&a)[3]) { return (a[0] * d[0] + a[1] * d[1] + a[2] * d[2]) / way; };
    return std::max(0.0, dot(n)) * sinc(0.8e-3 / wavelength * dot(u)) * sinc(0.9e-3 / wavelength * dot(v));
  };
  EXPECT_LT(
      relative_error(image_of(GetParam(), plan, frame).complex(), plain_image(*plan, frame, longitudinal, longitudinal, weight)),
      GetParam().tolerance);
}

/// Least `f` over low .. high, where one least value lies within.
template <class Function>
double least_over(double low, double high, const Function& f) {
  return f(simulated::golden_section(f, low, high));
}

TEST_P(VolumeImages, ThroughACylinderInWater) {
  constexpr double of_water = 1480.0;
  constexpr double radius = 20e-3;
  constexpr double height = 6e-3;
  const auto plan = plan_of_volume(GetParam(), MatrixKind::full, {});
  plan->acquisition.samples = 700;
  for (Element& element : plan->acquisition.probe.elements) element.centre.z = Metres(-height);
  plan->scene.couplant = MetresPerSecond(of_water);
  // Its top lies at z = 0, its axis along y.
  plan->scene.surface = make_surface(
      {.where = "[surface]", .kind = "cylinder", .numbers = {{"radius", radius}, {"x", 0.0}, {"z", 0.0}}, .words = {}});
  plan->grid = {{Metres(-3.1e-3), Metres(3.3e-3), 7}, {Metres(2.03e-3), Metres(9.9e-3), 5}, {Metres(-2.2e-3), Metres(6.1e-3), 5}};
  plan->laws.push_back(make_delay_law("immersion", {plan->acquisition, plan->material, "LL", plan->scene}));
  const Frame frame = random_frame(plan->acquisition, 36);
  // Least time over the places of the surface, across and along its axis.
  const PlainWeight refracted = [&](std::size_t element, double x, double y, double z) {
    const Point& at = plan->acquisition.probe.elements[element].centre;
    return least_over(-0.6, 0.6, [&](double angle) {
      const double sx = radius * std::sin(angle);
      const double sz = radius - radius * std::cos(angle);
      return least_over(-8e-3, 12e-3, [&](double sy) {
        return std::hypot(sx - at.x.value, sy - at.y.value, sz - at.z.value) / of_water +
               std::hypot(x - sx, y - sy, z - sz) / longitudinal;
      });
    });
  };
  EXPECT_LT(relative_error(image_of(GetParam(), plan, frame).complex(), plain_image_of(*plan, frame, refracted, refracted)),
            GetParam().tolerance);
}

TEST_P(VolumeImages, ThroughABallInWater) {
  constexpr double of_water = 1480.0;
  constexpr double radius = 15e-3;
  constexpr double height = 6e-3;
  constexpr double crown_x = 1e-3, crown_y = -0.5e-3;
  const auto plan = plan_of_volume(GetParam(), MatrixKind::full, {});
  plan->acquisition.samples = 700;
  for (Element& element : plan->acquisition.probe.elements) element.centre.z = Metres(-height);
  plan->scene.couplant = MetresPerSecond(of_water);
  plan->scene.spatial_surface =
      make_any_surface(
          {.where = "[surface]", .kind = "sphere", .numbers = {{"radius", radius}, {"x", crown_x}, {"y", crown_y}}, .words = {}})
          .spatial;
  plan->grid = {{Metres(-3.1e-3), Metres(3.3e-3), 7}, {Metres(2.03e-3), Metres(9.9e-3), 5}, {Metres(-2.2e-3), Metres(4.1e-3), 5}};
  plan->laws.push_back(make_delay_law("immersion", {plan->acquisition, plan->material, "LL", plan->scene}));
  const Frame frame = random_frame(plan->acquisition, 37);
  // Least time over the ball's upper half, told by how far a place lies beside its crown over how deep it lies below the middle.
  const PlainWeight refracted = [&](std::size_t element, double x, double y, double z) {
    const Point& at = plan->acquisition.probe.elements[element].centre;
    return least_over(-1.2, 1.2, [&](double u) {
      return least_over(-1.2, 1.2, [&](double v) {
        const double far = radius / std::sqrt(1.0 + u * u + v * v);
        const double sx = crown_x + u * far, sy = crown_y + v * far, sz = radius - far;
        return std::hypot(sx - at.x.value, sy - at.y.value, sz - at.z.value) / of_water +
               std::hypot(x - sx, y - sy, z - sz) / longitudinal;
      });
    });
  };
  EXPECT_LT(relative_error(image_of(GetParam(), plan, frame).complex(), plain_image_of(*plan, frame, refracted, refracted)),
            GetParam().tolerance);
}

TEST_P(VolumeImages, HoldThePlanesThatImagesOfThemWouldShow) {
  const auto volume = plan_of_volume(GetParam(), MatrixKind::full, {"LL"});
  const Frame frame = random_frame(volume->acquisition, 35);
  const Imaged all = image_of(GetParam(), volume, frame);
  for (const std::size_t y : {std::size_t{0}, std::size_t{4}}) {
    const auto plane = std::make_shared<ImagingPlan>(*volume);
    plane->grid.y = {volume->grid.y.at(y), volume->grid.y.at(y), 1};
    const Imaged one = image_of(GetParam(), plane, frame);
    std::vector<Complex> expected;
    std::vector<std::complex<float>> found;
    for (std::size_t z = 0; z < plane->grid.z.count; ++z) {
      for (std::size_t x = 0; x < plane->grid.x.count; ++x) {
        expected.emplace_back(one.complex()[z * plane->grid.x.count + x]);
        found.push_back(all.complex()[(z * volume->grid.y.count + y) * volume->grid.x.count + x]);
      }
    }
    // Delays are held to 2^-18 of a sample, from another middle.
    EXPECT_LT(relative_error(found.data(), expected), GetParam().tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(All, VolumeImages, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace echoform::test
