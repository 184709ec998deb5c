#include "acquisition/facing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr double cosine_of_a_degree = 0.99985;

Point middle_of(std::span<const Detector> detectors) {
  Point middle;
  const double share = 1.0 / static_cast<double>(detectors.size());
  for (const Detector& detector : detectors) {
    const Point& at = detector.centre;
    middle = {middle.x + share * at.x, middle.y + share * at.y, middle.z + share * at.z};
  }
  return middle;
}

std::string direction_text(const Direction& way) {
  constexpr std::array axes{std::pair{"x", Direction{1.0, 0.0, 0.0}}, std::pair{"y", Direction{0.0, 1.0, 0.0}},
                            std::pair{"z", Direction{0.0, 0.0, 1.0}}};
  for (const auto& [name, axis] : axes) {
    const double along = dot(way, axis);
    if (std::abs(along) >= cosine_of_a_degree) return fmt::format("{}{}", along > 0.0 ? "+" : "-", name);
  }
  const auto rounded = [](double value) { return std::round(1e3 * value) / 1e3 + 0.0; };
  return fmt::format("({:g}, {:g}, {:g})", rounded(way.x), rounded(way.y), rounded(way.z));
}

}  // namespace

std::string facing_text(std::span<const Detector> detectors) {
  Direction sum{0.0, 0.0, 0.0};
  for (const Detector& detector : detectors) {
    const Direction& n = detector.normal;
    sum = {sum.x + n.x, sum.y + n.y, sum.z + n.z};
  }
  if (length(sum) > 0.0) {
    const Direction mean = unit(sum);
    if (std::ranges::all_of(detectors, [&](const Detector& d) { return dot(d.normal, mean) >= cosine_of_a_degree; }))
      return "towards " + direction_text(mean);
  }
  const Point middle = middle_of(detectors);
  const auto inward = [&](const Detector& detector) { return dot(detector.normal, between(detector.centre, middle)); };
  if (std::ranges::all_of(detectors, [&](const Detector& d) { return inward(d) > 0.0; })) return "towards their middle";
  if (std::ranges::all_of(detectors, [&](const Detector& d) { return inward(d) < 0.0; })) return "away from their middle";
  return "in different directions";
}

Metres spread_of(std::span<const Detector> detectors) {
  Metres spread;
  if (detectors.empty()) return spread;
  const Point middle = middle_of(detectors);
  for (const Detector& detector : detectors) spread = std::max(spread, Metres(length(between(middle, detector.centre))));
  return spread;
}

}  // namespace echoform
