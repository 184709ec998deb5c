// Surfaces that cast shadows.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "rays/surface.hpp"

namespace echoform::shading {

struct Front {
  std::string name;
  std::shared_ptr<const Surface> surface;
};

/// Cubics between `count` points of x from -30 to 30 mm, with the heights and slopes of functions of x.
template <class Height, class Slope>
Front smooth(std::string name, int count, const Height& height, const Slope& slope) {
  constexpr double end = 30e-3;
  const double step = 2.0 * end / (count - 1);
  std::vector<Segment> segments;
  for (int k = 0; k + 1 < count; ++k) {
    const double from = -end + k * step;
    const double to = from + step;
    segments.push_back(
        cubic_segment({from, height(from)}, {step, step * slope(from)}, {to, height(to)}, {step, step * slope(to)}));
  }
  auto surface = std::make_shared<const Surface>(name, std::move(segments));
  return {std::move(name), std::move(surface)};
}

/// Lines between points in m.
inline Front lines(std::string name, const std::vector<Vector2>& points) {
  std::vector<Segment> segments;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) segments.push_back(line_segment(points[k], points[k + 1]));
  auto surface = std::make_shared<const Surface>(name, std::move(segments));
  return {std::move(name), std::move(surface)};
}

/// About z = `depth`: a bump, waves by cubics and by lines, a steep step, a groove, a weld of arcs and lines, all of which cast
/// shadows.
inline std::vector<Front> fronts(double depth = 0.0) {
  constexpr double pi = std::numbers::pi;
  constexpr double number = 2.0 * pi / 12e-3;
  const auto wave = [=](double x) { return depth + 1.5e-3 * std::sin(number * x); };
  std::vector<Front> all;
  all.push_back(smooth(
      "bump", 121, [=](double x) { return depth - 2e-3 * std::exp(-x * x / 9e-6); },
      [](double x) { return 2e-3 * 2.0 * x / 9e-6 * std::exp(-x * x / 9e-6); }));
  all.push_back(smooth("wave", 200, wave, [=](double x) { return 1.5e-3 * number * std::cos(number * x); }));
  std::vector<Vector2> places;
  for (int k = 0; k <= 60; ++k) places.push_back({-30e-3 + 1e-3 * k, wave(-30e-3 + 1e-3 * k)});
  all.push_back(lines("wave of lines", places));
  all.push_back(smooth(
      "step", 301, [=](double x) { return depth + 1.5e-3 * std::tanh(x / 0.4e-3); },
      [](double x) { return 1.5e-3 / 0.4e-3 / (std::cosh(x / 0.4e-3) * std::cosh(x / 0.4e-3)); }));
  all.push_back(
      lines("groove",
            {{-30e-3, depth}, {-1e-3, depth}, {-1e-3, depth + 2e-3}, {0.5e-3, depth + 2e-3}, {1.5e-3, depth}, {30e-3, depth}}));
  // An arc that stands out of the level by 1 mm, and meets it at 6 mm to either side.
  constexpr double radius = (6e-3 * 6e-3 + 1e-3 * 1e-3) / 2e-3;
  const double half = std::asin(6e-3 / radius);
  std::vector<Segment> weld{line_segment({-30e-3, depth}, {-6e-3, depth}),
                            arc_segment({0.0, depth + radius - 1e-3}, radius, -0.5 * pi - half, 2.0 * half),
                            line_segment({6e-3, depth}, {30e-3, depth})};
  all.push_back({"weld", std::make_shared<const Surface>("weld", std::move(weld))});
  return all;
}

}  // namespace echoform::shading
