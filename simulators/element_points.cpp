#include "simulators/element_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "base/directions.hpp"

namespace echoform {
namespace {

// Number of places for each width of a feature by which the path changes along a side. With it a Gaussian of that width is exact
// to six digits.
constexpr double places_a_feature = 2.0;
constexpr double places_at_least = 3.0;

struct Node {
  double place;   // -1 .. 1
  double weight;  // all weights add up to 1
};

/// Roots of the Legendre polynomial of degree n by Newton's method, and 2 / ((1 - x^2) P'(x)^2) halved.
std::vector<Node> legendre_nodes(std::size_t n) {
  std::vector<Node> nodes;
  const auto degree = static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(k) + 0.75) / (degree + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 30; ++step) {
      double before = 1.0;
      double value = x;
      for (std::size_t j = 2; j <= n; ++j) {
        const auto i = static_cast<double>(j);
        const double next = ((2.0 * i - 1.0) * x * value - (i - 1.0) * before) / i;
        before = value;
        value = next;
      }
      slope = degree * (x * value - before) / (x * x - 1.0);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    nodes.push_back({n == 1 ? 0.0 : x, n == 1 ? 1.0 : 1.0 / ((1.0 - x * x) * slope * slope)});
  }
  return nodes;
}

std::span<const Node> nodes_of(std::size_t n) {
  static const auto tables = [] {
    std::array<std::vector<Node>, most_points_a_side + 1> all;
    for (std::size_t k = 1; k <= most_points_a_side; ++k) all[k] = legendre_nodes(k);
    return all;
  }();
  return tables[n];
}

/// The nodes along a side of `size`. The source lies in the direction `towards`, of length 1, `distance` away.
std::span<const Node> nodes_along(double size, const Direction& side, const Direction& towards, double distance, double feature) {
  if (size == 0.0) return nodes_of(1);
  const double change = size * std::abs(dot(side, towards)) + size * size / (4.0 * distance);
  const double wanted = places_at_least + std::ceil(places_a_feature * change / feature);
  return nodes_of(static_cast<std::size_t>(std::min(wanted, static_cast<double>(most_points_a_side))));
}

}  // namespace

void element_points(const Detector& detector, const Point& source, double feature, std::vector<ElementPoint>& points) {
  points.clear();
  const Direction way = between(detector.centre, source);
  const double distance = length(way);
  if (detector.width.value == 0.0 && detector.length.value == 0.0) {
    points.push_back({distance, 1.0});
    return;
  }
  const Direction towards = scaled(way, 1.0 / distance);
  const Direction& across = detector.across;
  const Direction along = cross(detector.normal, across);
  for (const Node& u : nodes_along(detector.width.value, across, towards, distance, feature)) {
    for (const Node& v : nodes_along(detector.length.value, along, towards, distance, feature)) {
      const double a = 0.5 * detector.width.value * u.place;
      const double b = 0.5 * detector.length.value * v.place;
      const double x = way.x - a * across.x - b * along.x;
      const double y = way.y - a * across.y - b * along.y;
      const double z = way.z - a * across.z - b * along.z;
      points.push_back({std::sqrt(x * x + y * y + z * z), u.weight * v.weight});
    }
  }
}

}  // namespace echoform
