#include "methods/array_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "acquisition/longest_extent.hpp"

namespace echoform {
namespace {

/// Rows whose distances differ by more than this share of the pitch are irregular.
constexpr double most_off = 0.1;

/// Elements of a ring face each other: a mean emission below this share of a single element's counts as none.
constexpr double least_emission = 1e-3;

struct Axes {
  double along[3];
  double across[3];
  double emission[3];
};

double dot(const double (&a)[3], const Point& b) {
  return a[0] * b.x.value + a[1] * b.y.value + a[2] * b.z.value;
}

/// The axes of the plane that is normal to the mean emission; the first axis lies in the plane of x and z. Without a mean
/// emission it is the plane of x and y.
Axes axes_of(const Probe& probe) {
  double n[3] = {0.0, 0.0, 0.0};
  for (const Element& element : probe.elements) {
    n[0] += element.normal.x;
    n[1] += element.normal.y;
    n[2] += element.normal.z;
  }
  double flat = std::hypot(n[0], n[2]);
  // This also covers elements that all emit along y: then x is along.
  if (!(flat > least_emission * static_cast<double>(probe.elements.size()))) {
    n[0] = n[1] = 0.0;
    n[2] = flat = 1.0;
  }
  const double whole = std::hypot(flat, n[1]);
  const double along[3] = {n[2] / flat, 0.0, -n[0] / flat};
  return {{along[0], along[1], along[2]},
          {(n[1] * along[2] - n[2] * along[1]) / whole, (n[2] * along[0] - n[0] * along[2]) / whole,
           (n[0] * along[1] - n[1] * along[0]) / whole},
          {n[0] / whole, n[1] / whole, n[2] / whole}};
}

std::vector<double> places_along(const double (&axis)[3], const Probe& probe) {
  std::vector<double> places;
  places.reserve(probe.elements.size());
  for (const Element& element : probe.elements) places.push_back(dot(axis, element.centre));
  return places;
}

double span_of(const std::vector<double>& places) {
  const auto [least, greatest] = std::minmax_element(places.begin(), places.end());
  return *greatest - *least;
}

/// Indices of the places in ascending order.
std::vector<std::size_t> order_of(const std::vector<double>& places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  return order;
}

bool all_near(const std::vector<double>& gaps, double mean) {
  return std::all_of(gaps.begin(), gaps.end(), [&](double gap) { return std::abs(gap - mean) <= most_off * mean; });
}

/// Distance between the distinct places; 0 where there is only one, or where they are not evenly spaced.
double even_distance(std::vector<double> places) {
  std::sort(places.begin(), places.end());
  const double span = places.back() - places.front();
  if (!(span > 0.0)) return 0.0;
  std::vector<double> gaps;
  for (std::size_t k = 1; k < places.size(); ++k) {
    if (const double gap = places[k] - places[k - 1]; gap > same_place * span) gaps.push_back(gap);
  }
  if (gaps.empty()) return 0.0;
  const double mean = span / static_cast<double>(gaps.size());
  return all_near(gaps, mean) ? mean : 0.0;
}

double distance(const Point& a, const Point& b) {
  return std::hypot((b.x - a.x).value, (b.y - a.y).value, (b.z - a.z).value);
}

/// The distances between successive elements in this order.
std::vector<double> gaps_of(const Probe& probe, const std::vector<std::size_t>& order) {
  std::vector<double> gaps;
  for (std::size_t k = 1; k < order.size(); ++k)
    gaps.push_back(distance(probe.elements[order[k - 1]].centre, probe.elements[order[k]].centre));
  return gaps;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Elements sorted by their angle about the middle of all places (u, v), beginning behind the widest gap.
std::vector<std::size_t> order_around(const std::vector<double>& u, const std::vector<double>& v, const Probe& probe) {
  const double count = static_cast<double>(u.size());
  const double middle_u = sum_of(u) / count;
  const double middle_v = sum_of(v) / count;
  std::vector<double> angles(u.size());
  for (std::size_t k = 0; k < u.size(); ++k) angles[k] = std::atan2(v[k] - middle_v, u[k] - middle_u);
  std::vector<std::size_t> order = order_of(angles);
  std::vector<double> gaps = gaps_of(probe, order);
  gaps.push_back(distance(probe.elements[order.back()].centre, probe.elements[order.front()].centre));
  const auto widest = std::max_element(gaps.begin(), gaps.end()) - gaps.begin();
  std::rotate(order.begin(), order.begin() + (widest + 1) % static_cast<std::ptrdiff_t>(order.size()), order.end());
  return order;
}

Metres with_edge(double span, Metres size, double pitch) {
  return Metres(span + (size.value > 0.0 ? size.value : pitch));
}

}  // namespace

ArrayShape array_shape(const Probe& probe) {
  const Axes axes = axes_of(probe);
  const std::vector<double> along = places_along(axes.along, probe);
  const std::vector<double> across = places_along(axes.across, probe);
  const Element& first = probe.elements.front();
  const LongestExtent longest = longest_extent(along, across);
  ArrayShape shape;
  shape.line = longest.alone;
  if (shape.line) {
    std::vector<double> places(along.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = longest.cosine * along[k] + longest.sine * across[k];
    std::vector<double> gaps = gaps_of(probe, order_of(places));
    // An arc beyond half a revolution turns back below its ends. There the order along the line jumps from side to side.
    if (std::vector<double> around = gaps_of(probe, order_around(places, places_along(axes.emission, probe), probe));
        sum_of(around) < (1.0 - same_place) * sum_of(gaps))
      gaps = std::move(around);
    const double length = sum_of(gaps);
    const double pitch = gaps.empty() ? 0.0 : length / static_cast<double>(gaps.size());
    if (!gaps.empty()) {
      const auto [least, greatest] = std::minmax_element(gaps.begin(), gaps.end());
      shape.nearest = Metres(*least);
      shape.farthest = Metres(*greatest);
    }
    shape.even = all_near(gaps, pitch);
    shape.pitch = Metres(pitch);
    shape.aperture = with_edge(length, first.width, pitch);
    return shape;
  }
  shape.pitch = Metres(even_distance(along));
  shape.pitch_across = Metres(even_distance(across));
  shape.aperture = with_edge(span_of(along), first.width, shape.pitch.value);
  shape.aperture_across = with_edge(span_of(across), first.length, shape.pitch_across.value);
  return shape;
}

Metres neighbour_distance(const Probe& probe) {
  const auto coordinate = [](const Element& element, std::size_t axis) {
    return axis == 0 ? element.centre.x.value : axis == 1 ? element.centre.y.value : element.centre.z.value;
  };
  // The search goes along the coordinate with the largest extent: an element farther off along it than the nearest found so far
  // cannot be nearer.
  std::vector<double> along;
  double widest = 0.0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> places;
    for (const Element& element : probe.elements) places.push_back(coordinate(element, axis));
    if (places.empty() || span_of(places) <= widest) continue;
    widest = span_of(places);
    along = std::move(places);
  }
  if (along.empty()) return Metres(0.0);
  const std::vector<std::size_t> order = order_of(along);
  std::vector<double> nearest;
  for (std::size_t k = 0; k < order.size(); ++k) {
    double found = std::numeric_limits<double>::infinity();
    const auto look = [&](std::size_t other) {
      if (std::abs(along[order[other]] - along[order[k]]) >= found) return false;
      const double apart = distance(probe.elements[order[k]].centre, probe.elements[order[other]].centre);
      if (apart > 0.0) found = std::min(found, apart);
      return true;
    };
    for (std::size_t other = k; other > 0 && look(other - 1);) --other;
    for (std::size_t other = k + 1; other < order.size() && look(other);) ++other;
    nearest.push_back(found);
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return Metres(*middle);
}

Probe subarray(const Probe& probe, const std::vector<bool>& take) {
  Probe found = probe;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < probe.elements.size(); ++k) {
    if (take[k]) found.elements[kept++] = probe.elements[k];
  }
  found.elements.resize(kept);
  return found;
}

std::vector<ArrayRow> array_rows(const Probe& probe, const std::vector<bool>& take) {
  const std::vector<double> along = places_along(axes_of(probe).along, probe);
  const double apart = same_place * span_of(along);
  std::vector<ArrayRow> rows;
  double before = -std::numeric_limits<double>::infinity();
  for (const std::size_t k : order_of(along)) {
    if (!take[k]) continue;
    if (along[k] - before > apart) rows.emplace_back();
    before = along[k];
    rows.back().elements.push_back(k);
  }
  for (ArrayRow& row : rows) {
    const double share = 1.0 / static_cast<double>(row.elements.size());
    for (const std::size_t k : row.elements) {
      const Point& centre = probe.elements[k].centre;
      row.at = row.at + share * Vector2{centre.x.value, centre.z.value};
    }
  }
  return rows;
}

}  // namespace echoform
