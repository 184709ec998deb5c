#include "methods/tomography/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/directions.hpp"

namespace echoform {
namespace {

// Part of a sum of squares below which another one counts as zero: rounding of stated places, to 1e-4 of an extent, leaves this.
constexpr double nothing = 1e-8;
// Part of a radius or an extent.
constexpr double tolerated = 1e-3;

/// A symmetric matrix of the products of directions.
struct Products {
  std::array<std::array<double, 3>, 3> of{};

  void add(const Direction& a, double weight) {
    const std::array<double, 3> v{a.x, a.y, a.z};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) of[i][j] += weight * v[i] * v[j];
    }
  }
};

struct PrincipalAxis {
  double value = 0.0;
  Direction direction;
};

/// The principal axes by Jacobi's rotations, with the greatest first.
std::array<PrincipalAxis, 3> principal_axes(const Products& products) {
  auto a = products.of;
  std::array<std::array<double, 3>, 3> v{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0.0) continue;
        const double angle = 0.5 * std::atan2(2.0 * a[p][q], a[p][p] - a[q][q]);
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        for (std::size_t k = 0; k < 3; ++k) {
          const double kp = a[k][p];
          const double kq = a[k][q];
          a[k][p] = c * kp + s * kq;
          a[k][q] = c * kq - s * kp;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double pk = a[p][k];
          const double qk = a[q][k];
          a[p][k] = c * pk + s * qk;
          a[q][k] = c * qk - s * pk;
          const double vp = v[k][p];
          const double vq = v[k][q];
          v[k][p] = c * vp + s * vq;
          v[k][q] = c * vq - s * vp;
        }
      }
    }
  }
  std::array<PrincipalAxis, 3> axes;
  for (std::size_t k = 0; k < 3; ++k) axes[k] = {a[k][k], {v[0][k], v[1][k], v[2][k]}};
  std::ranges::sort(axes, std::greater<>(), &PrincipalAxis::value);
  return axes;
}

Point mean_place(std::span<const Detector> detectors) {
  Point sum;
  for (const Detector& detector : detectors) {
    sum.x += detector.centre.x;
    sum.y += detector.centre.y;
    sum.z += detector.centre.z;
  }
  const double part = 1.0 / static_cast<double>(detectors.size());
  return {part * sum.x, part * sum.y, part * sum.z};
}

Direction plus(const Direction& a, const Direction& b, double times) {
  return {a.x + times * b.x, a.y + times * b.y, a.z + times * b.z};
}

/// Whether distances from the centre are within the tolerance of their mean. If so, the mean becomes the radius.
bool takes_for_round(std::span<const Detector> detectors, DetectorSurface& surface, const Point& centre) {
  double sum = 0.0;
  for (const Detector& detector : detectors) sum += length(between(centre, detector.centre));
  const double radius = sum / static_cast<double>(detectors.size());
  const bool round = std::ranges::all_of(detectors, [&](const Detector& detector) {
    return std::abs(length(between(centre, detector.centre)) - radius) <= tolerated * radius;
  });
  if (!round) return false;
  surface.shape = SurfaceShape::sphere;
  surface.centre = centre;
  surface.radius = Metres(radius);
  return true;
}

double angle_between_places(double from, double to) {
  const double turn = to - from;
  return turn < 0.0 ? turn + 2.0 * std::numbers::pi : turn;
}

/// Two directions perpendicular to `axis` and to each other.
std::pair<Direction, Direction> across_of(const Direction& axis) {
  const Direction other = std::abs(axis.x) < 0.9 ? Direction{1.0, 0.0, 0.0} : Direction{0.0, 1.0, 0.0};
  const Direction first = unit(across(other, axis));
  return {first, cross(axis, first)};
}

struct RingPlace {
  double cosine = 0.0;  // of the polar angle
  double turn = 0.0;
  std::size_t index = 0;
};

/// Areas of evenly filled rings about `axis`; empty where the places form no such rings.
std::vector<double> zone_areas(std::span<const Point> places, const DetectorSurface& surface, const Direction& axis,
                               std::size_t& zones) {
  // In radians: places are stated in single precision, or to a micrometre.
  constexpr double alike = 1e-4;
  std::vector<RingPlace> order(places.size());
  const auto [first_across, second_across] = across_of(axis);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Direction from = unit(between(surface.centre, places[k]));
    order[k] = {dot(from, axis), std::atan2(dot(from, second_across), dot(from, first_across)), k};
  }
  std::ranges::sort(order, std::greater<>(), &RingPlace::cosine);
  std::vector<std::pair<std::size_t, std::size_t>> rings;  // first and end
  for (std::size_t k = 0; k < order.size();) {
    std::size_t end = k + 1;
    while (end < order.size() &&
           std::acos(std::clamp(order[end].cosine, -1.0, 1.0)) - std::acos(std::clamp(order[k].cosine, -1.0, 1.0)) <= alike) {
      ++end;
    }
    rings.emplace_back(k, end);
    k = end;
  }
  zones = rings.size();
  if (rings.size() < 2 || places.size() < 3 * rings.size()) return {};
  std::vector<double> angles;
  for (const auto& [first, end] : rings) {
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(end),
              [](const RingPlace& a, const RingPlace& b) { return a.turn < b.turn; });
    const double step = 2.0 * std::numbers::pi / static_cast<double>(end - first);
    const double polar = std::acos(std::clamp(order[first].cosine, -1.0, 1.0));
    for (std::size_t k = first; k < end && end - first > 1; ++k) {
      const std::size_t next = k + 1 < end ? k + 1 : first;
      const double turn = angle_between_places(order[k].turn, order[next].turn);
      if (std::abs(turn - step) * std::sin(polar) > alike) return {};
    }
    angles.push_back(polar);
  }
  std::vector<double> areas(places.size());
  const double radius = surface.radius.value;
  for (std::size_t ring = 0; ring < rings.size(); ++ring) {
    const double before = ring > 0 ? 0.5 * (angles[ring - 1] + angles[ring]) : angles[0] - 0.5 * (angles[1] - angles[0]);
    const double after = ring + 1 < rings.size() ? 0.5 * (angles[ring] + angles[ring + 1])
                                                 : angles[ring] + 0.5 * (angles[ring] - angles[ring - 1]);
    const double zone = 2.0 * std::numbers::pi * radius * radius *
                        (std::cos(std::max(0.0, before)) - std::cos(std::min(std::numbers::pi, after)));
    const auto [first, end] = rings[ring];
    for (std::size_t k = first; k < end; ++k) areas[order[k].index] = zone / static_cast<double>(end - first);
  }
  return areas;
}

/// Half the distances to both neighbours along a sorted list. The ends reach as far outwards as inwards. A full revolution closes
/// if `closes` permits.
std::vector<double> halves(const std::vector<double>& sorted, bool closes) {
  const std::size_t count = sorted.size();
  std::vector<double> gaps;
  for (std::size_t k = 0; k + 1 < count; ++k) gaps.push_back(sorted[k + 1] - sorted[k]);
  std::vector<double> sizes(count);
  std::vector<double> ordered = gaps;
  std::ranges::sort(ordered);
  const double usual = ordered.empty() ? 0.0 : ordered[ordered.size() / 2];
  // An arc is open where the gap around to its beginning is more than twice the usual step.
  const double round = closes ? sorted.front() + 2.0 * std::numbers::pi - sorted.back() : 0.0;
  const bool closed = closes && round <= 2.0 * usual;
  for (std::size_t k = 0; k < count; ++k) {
    const double before = k > 0 ? gaps[k - 1] : closed ? round : gaps.empty() ? 0.0 : gaps.front();
    const double after = k + 1 < count ? gaps[k] : closed ? round : gaps.empty() ? 0.0 : gaps.back();
    sizes[k] = 0.5 * (before + after);
  }
  return sizes;
}

/// Sizes from the position of each place along a line or around a circle.
std::vector<double> sizes_along(const std::vector<double>& at, bool closes) {
  std::vector<std::size_t> order(at.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::sort(order, {}, [&](std::size_t k) { return at[k]; });
  std::vector<double> sorted;
  // The order begins behind the widest gap, so that an arc is in one piece.
  std::size_t begin = 0;
  if (closes && at.size() > 1) {
    double widest = at[order.front()] + 2.0 * std::numbers::pi - at[order.back()];
    for (std::size_t k = 1; k < order.size(); ++k) {
      const double gap = at[order[k]] - at[order[k - 1]];
      if (gap > widest) {
        widest = gap;
        begin = k;
      }
    }
  }
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
  for (const std::size_t k : order) {
    sorted.push_back(closes ? at[order.front()] + angle_between_places(at[order.front()], at[k]) : at[k]);
  }
  const std::vector<double> of_sorted = halves(sorted, closes);
  std::vector<double> sizes(at.size());
  for (std::size_t k = 0; k < order.size(); ++k) sizes[order[k]] = of_sorted[k];
  return sizes;
}

/// The area of one detector among places on a plane: the median, over the places, of the product of two distances. One is that
/// of the nearest neighbour, the other that of the nearest neighbour at 45 degrees or more to the line to the first. 0 where
/// there are too few places.
double pitch_area(std::span<const Point> places) {
  std::vector<double> areas;
  // A few hundred places determine the pitch.
  const std::size_t step = std::max<std::size_t>(1, places.size() / 256);
  for (std::size_t k = 0; k < places.size(); k += step) {
    Direction nearest;
    double least = 0.0;
    for (std::size_t other = 0; other < places.size(); ++other) {
      const Direction way = between(places[k], places[other]);
      const double distance = length(way);
      if (other == k || (least > 0.0 && distance >= least)) continue;
      least = distance;
      nearest = way;
    }
    double second = 0.0;
    for (std::size_t other = 0; other < places.size(); ++other) {
      const Direction way = between(places[k], places[other]);
      const double distance = length(way);
      if (other == k || (second > 0.0 && distance >= second)) continue;
      if (std::abs(dot(way, nearest)) > std::numbers::sqrt2 / 2.0 * distance * least) continue;
      second = distance;
    }
    if (second > 0.0) areas.push_back(least * second);
  }
  if (areas.empty()) return 0.0;
  std::ranges::nth_element(areas, areas.begin() + static_cast<std::ptrdiff_t>(areas.size() / 2));
  return areas[areas.size() / 2];
}

/// The distinct places of detectors, and the place of each detector.
struct Places {
  std::vector<Point> of;
  std::vector<std::size_t> which;
  std::vector<std::size_t> shared_by;
};

Places places_of(std::span<const Detector> detectors) {
  std::vector<std::size_t> order(detectors.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return detectors[k].centre; });
  Places places;
  places.which.resize(detectors.size());
  for (const std::size_t k : order) {
    if (places.of.empty() || places.of.back() != detectors[k].centre) {
      places.of.push_back(detectors[k].centre);
      places.shared_by.push_back(0);
    }
    places.which[k] = places.of.size() - 1;
    ++places.shared_by.back();
  }
  return places;
}

double whole_angle_of(const DetectorSurface& surface, WholeAngle wish, double taken_up) {
  const double full = surface.flat ? 2.0 * std::numbers::pi : 4.0 * std::numbers::pi;
  switch (wish) {
    case WholeAngle::all_around:
      return full;
    case WholeAngle::one_side:
      return 0.5 * full;
    case WholeAngle::automatic:
      break;
  }
  if (surface.shape == SurfaceShape::plane) return 0.5 * full;
  if (surface.shape == SurfaceShape::other) return full;
  // The limit lies halfway between a half and a whole one, so that arcs of 270 degrees count as rings.
  return taken_up > 0.625 * full ? full : 0.5 * full;
}

/// The angle that the detectors of a sphere or a ring cover, from the mean of their directions: the mean of a cap of half angle a
/// lies (1 + cos a) / 2 radii from the centre.
double cap_angle(std::span<const Point> places, const DetectorSurface& surface) {
  Direction sum{0.0, 0.0, 0.0};
  for (const Point& place : places) sum = plus(sum, unit(between(surface.centre, place)), 1.0);
  return 4.0 * std::numbers::pi * (1.0 - length(sum) / static_cast<double>(places.size()));
}

void give_equal_shares(DetectorShares& shares, std::span<const Detector> detectors, const DetectorSurface& surface,
                       const Point& middle) {
  const bool round = surface.shape == SurfaceShape::sphere;
  // Limit for a detector that is seen nearly from its side.
  constexpr double least_cosine = 0.1;
  const double part = shares.whole / static_cast<double>(detectors.size());
  for (std::size_t q = 0; q < detectors.size(); ++q) {
    const Direction way = between(detectors[q].centre, middle);
    const double distance = round ? surface.radius.value : length(way);
    const double cosine = round || !(distance > 0.0) ? 1.0 : std::max(least_cosine, dot(detectors[q].normal, way) / distance);
    shares.sizes[q] = part * (surface.flat ? distance : distance * distance) / cosine;
  }
  shares.how = "equal shares";
}

}  // namespace

std::string DetectorSurface::text() const {
  if (shape == SurfaceShape::sphere) {
    // Values that rounding leaves of 0 are printed as 0.
    const auto said = [&](Metres place) { return std::abs(place.value) < 1e-6 * radius.value ? 0.0 : 1e3 * place.value; };
    return fmt::format("{} of radius {:.4g} mm about ({:.4g}, {:.4g}, {:.4g}) mm", flat ? "a ring" : "a sphere",
                       1e3 * radius.value, said(centre.x), said(centre.y), said(centre.z));
  }
  if (shape == SurfaceShape::plane) return flat ? "a line" : "a plane";
  return flat ? "a curve in a plane" : "no surface that is known";
}

DetectorSurface surface_of(std::span<const Detector> detectors) {
  DetectorSurface surface;
  const Point mean = mean_place(detectors);
  surface.centre = mean;
  Products places;
  Products normals;
  for (const Detector& detector : detectors) {
    places.add(between(mean, detector.centre), 1.0);
    normals.add(detector.normal, 1.0 / static_cast<double>(detectors.size()));
  }
  const std::array<PrincipalAxis, 3> axes = principal_axes(places);
  const double extent = axes[0].value;
  if (!(extent > 0.0)) return surface;
  Products both = normals;
  for (const PrincipalAxis& axis : axes) both.add(axis.direction, std::max(0.0, axis.value) / extent);
  const PrincipalAxis least = principal_axes(both)[2];
  surface.flat = least.value <= tolerated * tolerated;
  surface.axis = surface.flat ? least.direction : axes[2].direction;
  if (surface.flat ? axes[1].value <= nothing * extent : axes[2].value <= nothing * extent) {
    surface.shape = SurfaceShape::plane;
    return surface;
  }
  // Least squares of |r - c|^2 = R^2, which is linear in c; each principal axis is solved by itself.
  Direction moment{0.0, 0.0, 0.0};
  for (const Detector& detector : detectors) {
    const Direction from = between(mean, detector.centre);
    moment = plus(moment, from, 0.5 * dot(from, from));
  }
  Point centre = mean;
  for (const PrincipalAxis& axis : axes) {
    if (axis.value <= nothing * extent) continue;
    const double along = dot(moment, axis.direction) / axis.value;
    centre.x += Metres(along * axis.direction.x);
    centre.y += Metres(along * axis.direction.y);
    centre.z += Metres(along * axis.direction.z);
  }
  static_cast<void>(takes_for_round(detectors, surface, centre));
  return surface;
}

DetectorShares stated_shares(std::vector<double> sizes, const DetectorSurface& surface, WholeAngle wish) {
  DetectorShares shares;
  shares.sizes = std::move(sizes);
  shares.how = "sizes as stated";
  if (surface.shape == SurfaceShape::sphere) {
    const double radius = surface.radius.value;
    for (const double size : shares.sizes) shares.angle += size / (surface.flat ? radius : radius * radius);
    shares.whole = whole_angle_of(surface, wish, shares.angle);
  } else {
    shares.whole = whole_angle_of(surface, wish, 0.0);
    shares.angle = shares.whole;
  }
  return shares;
}

DetectorShares shares_of(std::span<const Detector> detectors, const DetectorSurface& surface, WholeAngle wish,
                         const Point& middle) {
  DetectorShares shares;
  shares.sizes.resize(detectors.size());
  const Places places = places_of(detectors);
  const auto give = [&](const std::vector<double>& of_places) {
    for (std::size_t q = 0; q < detectors.size(); ++q) {
      const std::size_t place = places.which[q];
      shares.sizes[q] = of_places[place] / static_cast<double>(places.shared_by[place]);
    }
  };
  const double radius = surface.radius.value;
  if (surface.flat && surface.shape != SurfaceShape::other) {
    const bool ring = surface.shape == SurfaceShape::sphere;
    const auto [first_across, second_across] = across_of(surface.axis);
    Products products;
    for (const Point& place : places.of) products.add(between(surface.centre, place), 1.0);
    const Direction along = principal_axes(products)[0].direction;
    std::vector<double> at;
    for (const Point& place : places.of) {
      const Direction from = between(surface.centre, place);
      at.push_back(ring ? std::atan2(dot(from, second_across), dot(from, first_across)) : dot(from, along));
    }
    std::vector<double> sizes = sizes_along(at, ring);
    double sum = 0.0;
    for (double& size : sizes) {
      sum += size;
      if (ring) size *= radius;
    }
    give(sizes);
    shares.whole = whole_angle_of(surface, wish, sum);
    shares.angle = ring ? sum : shares.whole;
    shares.how = "lengths from halfway to one neighbour to halfway to the other";
    return shares;
  }
  if (surface.shape == SurfaceShape::sphere) {
    constexpr std::array<std::pair<Direction, char>, 3> axes{
        {{{0.0, 0.0, 1.0}, 'z'}, {{0.0, 1.0, 0.0}, 'y'}, {{1.0, 0.0, 0.0}, 'x'}}};
    for (const auto& [axis, name] : axes) {
      std::size_t zones = 0;
      const std::vector<double> areas = zone_areas(places.of, surface, axis, zones);
      if (areas.empty()) continue;
      for (const double area : areas) shares.angle += area / (radius * radius);
      give(areas);
      shares.whole = whole_angle_of(surface, wish, shares.angle);
      shares.how = fmt::format("areas of {} zones about {}", zones, name);
      return shares;
    }
    shares.whole = whole_angle_of(surface, wish, cap_angle(places.of, surface));
  } else {
    shares.whole = whole_angle_of(surface, wish, 0.0);
  }
  shares.angle = shares.whole;
  const double area = surface.shape == SurfaceShape::plane ? pitch_area(places.of) : 0.0;
  if (area > 0.0) {
    give(std::vector<double>(places.of.size(), area));
    shares.how = fmt::format("{:.4g} mm^2 each, by the distances of neighbours", 1e6 * area);
    return shares;
  }
  give_equal_shares(shares, detectors, surface, middle);
  return shares;
}

}  // namespace echoform
