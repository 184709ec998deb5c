#include "tests/operators/model_cases.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/directions.hpp"
#include "tests/operators/dense_model.hpp"

namespace echoform::test {
namespace {

Axis axis(double first_mm, double spacing_mm, std::size_t count) {
  return {Metres(1e-3 * first_mm), Metres(1e-3 * (first_mm + spacing_mm * static_cast<double>(count - 1))), count};
}

ModelGeometry geometry_of(const Grid& grid, double start_us, std::size_t samples) {
  ModelGeometry geometry;
  geometry.grid = grid;
  geometry.samples = samples;
  geometry.sample_rate = Hertz(4e6);
  geometry.start_time = Seconds(1e-6 * start_us);
  geometry.velocity = MetresPerSecond(1500.0);
  return geometry;
}

Point at_mm(double x, double y, double z) {
  return {Metres(1e-3 * x), Metres(1e-3 * y), Metres(1e-3 * z)};
}

}  // namespace

Detector detector_at(const Point& middle, Metres distance, double polar, double azimuth) {
  const double degree = std::numbers::pi / 180.0;
  const Direction out{std::sin(polar * degree) * std::cos(azimuth * degree),
                      std::sin(polar * degree) * std::sin(azimuth * degree), std::cos(polar * degree)};
  Detector detector;
  detector.centre = {middle.x + distance * out.x, middle.y + distance * out.y, middle.z + distance * out.z};
  detector.normal = scaled(out, -1.0);
  detector.across = unit(across(std::abs(out.z) < 0.9 ? Direction{0.0, 0.0, 1.0} : Direction{1.0, 0.0, 0.0}, out));
  detector.width = Metres(2e-3);
  detector.length = Metres(1e-3);
  return detector;
}

std::vector<NamedGeometry> model_cases() {
  std::vector<NamedGeometry> cases;
  const Grid box{axis(-2.0, 0.5, 9), axis(-2.5, 0.5, 11), axis(-1.5, 0.5, 7)};  // x, z, y
  ModelGeometry sphere = geometry_of(box, 3.9, 31);
  for (const auto& [polar, azimuth] : {std::pair(0.0, 0.0), {40.0, 20.0}, {90.0, 135.0}, {120.0, 225.0}, {180.0, 0.0}}) {
    sphere.detectors.push_back(detector_at(at_mm(0, 0, 0), Metres(9.7e-3), polar, azimuth));
  }
  sphere.detectors[1].dead = true;
  cases.push_back({"sphere", sphere});

  ModelGeometry ring = geometry_of(box, 18.0, 41);
  for (const double azimuth : {10.0, 130.0, 250.0})
    ring.detectors.push_back(detector_at(at_mm(1, 2, 3), Metres(35e-3), 80.0, azimuth));
  cases.push_back({"ring", ring});

  ModelGeometry plane = geometry_of(box, -1.0, 32);
  for (const double x : {-3.0, 0.0, 2.2}) {
    Detector detector;
    detector.centre = at_mm(x, 0.3 * x, -2.8);  // within a voxel of the grid
    detector.width = Metres(1.5e-3);
    detector.length = Metres(1e-3);
    plane.detectors.push_back(detector);
  }
  cases.push_back({"plane", plane});

  const Grid layer{axis(-4.0, 0.4, 20), axis(0.0, 0.4, 13), {}};
  ModelGeometry of_layer = geometry_of(layer, 2.0, 45);
  of_layer.detectors = {detector_at(at_mm(0, 0, 2), Metres(11e-3), 30.0, 0.0),
                        detector_at(at_mm(0, 0, 2), Metres(11e-3), 75.0, 180.0)};
  cases.push_back({"layer", of_layer});

  const Grid row{axis(-10.0, 0.3, 67), axis(1.0, 0.3, 2), axis(0.3, 0.3, 3)};
  ModelGeometry of_row = geometry_of(row, 0.5, 70);
  of_row.detectors = {detector_at(at_mm(0, 0, 0), Metres(14e-3), 60.0, 300.0),
                      detector_at(at_mm(2, 0, 1), Metres(9e-3), 100.0, 80.0)};
  cases.push_back({"row", of_row});
  return cases;
}

double BlurredBall::pressure(double r) const {
  const double R = radius.value;
  const double s = sigma.value;
  const double root = std::sqrt(2.0) * s;
  if (r < 1e-3 * s) return std::erf(R / root) - std::sqrt(2.0 / std::numbers::pi) * R / s * std::exp(-0.5 * R * R / (s * s));
  const double near = (R - r) / s;
  const double far = (R + r) / s;
  return 0.5 * (std::erf((R - r) / root) + std::erf((R + r) / root)) -
         s / (std::sqrt(2.0 * std::numbers::pi) * r) * (std::exp(-0.5 * near * near) - std::exp(-0.5 * far * far));
}

double BlurredBall::signal(const Point& detector, MetresPerSecond velocity, double time) const {
  const double d = length(between(centre, detector));
  const double way = velocity.value * time;
  const double u = d - way;
  const double v = d + way;
  return (u * pressure(std::abs(u)) + v * pressure(v)) / (2.0 * d);
}

std::vector<double> signals_of(const BlurredBall& ball, const ModelGeometry& geometry) {
  std::vector<double> data;
  for (const Detector& detector : geometry.detectors) {
    for (std::size_t k = 0; k < geometry.samples; ++k) {
      const double time = geometry.start_time.value + static_cast<double>(k) / geometry.sample_rate.value;
      data.push_back(ball.signal(detector.centre, geometry.velocity, time));
    }
  }
  return data;
}

std::vector<float> image_of(const BlurredBall& ball, const Grid& grid) {
  std::vector<float> image;
  for (const Point& point : grid.points())
    image.push_back(static_cast<float>(ball.pressure(length(between(ball.centre, point)))));
  return image;
}

ModelGeometry ball_geometry(Metres spacing) {
  const auto count = static_cast<std::size_t>(std::lround(6e-3 / spacing.value));
  const double mm = 1e3 * spacing.value;
  const Axis side = axis(-3.0 + 0.5 * mm, mm, count);
  ModelGeometry geometry;
  geometry.grid = {side, side, side};
  geometry.samples = 240;
  geometry.sample_rate = Hertz(20e6);
  geometry.start_time = Seconds(2e-6);
  geometry.velocity = MetresPerSecond(1500.0);
  // In four quadrants, the ball's and the one opposite among them, above and below, and on the axis.
  for (const auto& [polar, azimuth] : {std::pair(60.0, 40.0), {115.0, 225.0}, {80.0, 130.0}, {100.0, 300.0}, {0.0, 0.0}}) {
    geometry.detectors.push_back(detector_at({}, Metres(12e-3), polar, azimuth));
  }
  return geometry;
}

BlurredBall off_centre_ball() {
  return {at_mm(0.55, 0.62, -0.35), Metres(1e-3), Metres(0.3e-3)};
}

double ball_error(LinearOperator& linear, const ModelGeometry& geometry) {
  std::vector<float> data(linear.data_size());
  linear.apply(image_of(off_centre_ball(), geometry.grid), data);
  const std::vector<double> exact = signals_of(off_centre_ball(), geometry);
  const std::size_t n = geometry.samples;
  double worst = 0.0;
  for (std::size_t q = 0; q < geometry.detectors.size(); ++q) {
    worst = std::max(worst, distance(std::span(data).subspan(q * n, n), std::span(exact).subspan(q * n, n)));
  }
  return worst;
}

}  // namespace echoform::test
