#include "simulators/sampled_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <sstream>

#include "base/errors.hpp"
#include "base/text_file.hpp"

namespace echoform {

std::vector<ProfileKnot> read_profile_knots(const std::string& path) {
  std::istringstream text(read_text_file(path, {.key = {},
                                                .expected = "a profile: lines of x,z in m",
                                                .maximum_bytes = std::uintmax_t{1} << 20,
                                                .size_expected = "a profile of at most 1 MiB"}));
  std::vector<ProfileKnot> knots;
  std::string line;
  while (std::getline(text, line)) {
    if (knots.empty() && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // UTF-8's byte order mark
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    double values[3] = {};
    int count = 0;
    const char* next = line.c_str();
    for (char* end = nullptr; count < 3; next = end, ++count) {
      values[count] = std::strtod(next, &end);
      if (end == next) break;
    }
    if (count >= 2) knots.push_back({values[0], values[1], values[2]});
  }
  if (knots.size() < 2) throw InputError(path, "fewer than two points", "a profile: lines of x,z in m");
  return knots;
}

namespace simulated {
namespace {

constexpr std::size_t least_a_chord = 4;

double cross(Place a, Place b) {
  return a.x * b.z - a.z * b.x;
}

/// The place on a circle's arc from `from` to the knot `to`, at the share s of its angle, 0 .. 1. It is rotated about the
/// circle's centre, which lies below an arc that bulges upwards.
Place on_arc(Place from, const ProfileKnot& to, double s) {
  const double chord = distance(from, Place{to.x, to.z});
  const double sine = std::min(1.0, 0.5 * chord / std::abs(to.radius));
  const double half = std::asin(sine);
  const double bulge = to.radius > 0.0 ? -1.0 : 1.0;
  // Coordinates along and across the chord, from its middle: for a large radius this avoids differences of large numbers.
  const double angle = (2.0 * s - 1.0) * half;
  const double along = std::abs(to.radius) * std::sin(angle);
  const double rise = 2.0 * std::abs(to.radius) * std::sin(0.5 * (half + angle)) * std::sin(0.5 * (half - angle));
  const Place way{(to.x - from.x) / chord, (to.z - from.z) / chord};
  return {0.5 * (from.x + to.x) + along * way.x - bulge * rise * way.z,
          0.5 * (from.z + to.z) + along * way.z + bulge * rise * way.x};
}

}  // namespace

double distance(Place a, Place b) {
  const double dx = b.x - a.x;
  const double dz = b.z - a.z;
  return std::sqrt(dx * dx + dz * dz);
}

SampledCurve::SampledCurve(const CurveShape& shape, std::span<const Place> places, std::size_t count) : shape_(shape) {
  if (shape_.kind == CurveKind::profile) {
    for (ProfileKnot& knot : shape_.knots) {
      knot.x += shape_.x;
      knot.z += shape_.z;
    }
    double whole = 0.0;
    for (std::size_t k = 1; k < shape_.knots.size(); ++k) {
      const ProfileKnot& a = shape_.knots[k - 1];
      const ProfileKnot& b = shape_.knots[k];
      lengths_.push_back(distance(Place{a.x, a.z}, Place{b.x, b.z}));
      whole += lengths_.back();
    }
    if (shape_.smooth) find_curvatures();
    for (std::size_t k = 0; k < lengths_.size(); ++k) {
      // Points that all coincide have no length. A profile given only by points may have them.
      const double share = whole > 0.0 ? std::ceil(static_cast<double>(count) * lengths_[k] / whole) : 0.0;
      const std::size_t steps = std::max(least_a_chord, static_cast<std::size_t>(share));
      for (std::size_t step = 0; step < steps; ++step) {
        parameters_.push_back(static_cast<double>(k) + static_cast<double>(step) / static_cast<double>(steps));
      }
    }
    parameters_.push_back(static_cast<double>(lengths_.size()));
  } else {
    // Every path between two places, also one by way of the curve, stays within its ends' feet on a plane. The same length again
    // is added on either side, and also the height above the plane, since a cylinder bends towards the places.
    const double angle = shape_.kind == CurveKind::plane ? shape_.angle * std::numbers::pi / 180.0 : 0.0;
    slope_ = {std::cos(angle), std::sin(angle)};
    const double x = shape_.kind == CurveKind::plane ? 0.0 : shape_.x;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double height = 0.0;
    for (const Place& place : places) {
      const double along = (place.x - x) * slope_.x + (place.z - shape_.z) * slope_.z;
      low = std::min(low, along);
      high = std::max(high, along);
      height = std::max(height, std::abs((place.z - shape_.z) * slope_.x - (place.x - x) * slope_.z));
    }
    const double margin = (high - low) + height + 1e-3;
    low -= margin;
    high += margin;
    if (shape_.kind == CurveKind::cylinder) {
      constexpr double quarter = 0.5 * std::numbers::pi;
      const auto angle_of = [&](double along) {
        return std::abs(along) < shape_.radius ? std::asin(along / shape_.radius) : std::copysign(quarter, along);
      };
      low = angle_of(low);
      high = angle_of(high);
    }
    for (std::size_t k = 0; k < count; ++k) {
      parameters_.push_back(low + (high - low) * static_cast<double>(k) / static_cast<double>(count - 1));
    }
  }
  for (const double u : parameters_) {
    samples_.push_back(at(u));
    if (samples_.size() > 1) spacing_ = std::max(spacing_, distance(samples_.back(), samples_[samples_.size() - 2]));
  }
}

Place SampledCurve::at(double u) const {
  switch (shape_.kind) {
    case CurveKind::plane:
      return {u * slope_.x, shape_.z + u * slope_.z};
    case CurveKind::cylinder: {
      // R - R cos u, accurate for huge radii too.
      const double half = std::sin(0.5 * u);
      const double fall = 2.0 * shape_.radius * half * half;
      return {shape_.x + shape_.radius * std::sin(u), shape_.inside ? shape_.z - fall : shape_.z + fall};
    }
    case CurveKind::profile:
      return on_profile(u);
    case CurveKind::sphere:  // a sphere is not a curve
    case CurveKind::revolved:
    case CurveKind::mesh:
    case CurveKind::none:
      break;
  }
  return {};
}

Place SampledCurve::on_profile(double u) const {
  const auto last = static_cast<double>(lengths_.size() - 1);
  const double chord = std::clamp(std::floor(u), 0.0, last);
  const auto k = static_cast<std::size_t>(chord);
  const double s = u - chord;
  const ProfileKnot& a = shape_.knots[k];
  const ProfileKnot& b = shape_.knots[k + 1];
  if (!shape_.smooth) {
    if (b.radius != 0.0) return on_arc({a.x, a.z}, b, s);
    return {a.x + s * (b.x - a.x), a.z + s * (b.z - a.z)};
  }
  // The spline uses its second derivatives M over a chord of length h: (1 - s) y_k + s y_k+1 - h^2/6 [(1 - s)(1 - (1 - s)^2) M_k
  // + s (1 - s^2) M_k+1].
  const double r = 1.0 - s;
  const double h2 = lengths_[k] * lengths_[k] / 6.0;
  const double of_a = h2 * r * (1.0 - r * r);
  const double of_b = h2 * s * (1.0 - s * s);
  return {r * a.x + s * b.x - of_a * curvatures_[k].x - of_b * curvatures_[k + 1].x,
          r * a.z + s * b.z - of_a * curvatures_[k].z - of_b * curvatures_[k + 1].z};
}

void SampledCurve::find_curvatures() {
  // h_k-1 M_k-1 + 2 (h_k-1 + h_k) M_k + h_k M_k+1 = 6 (slope_k - slope_k-1), M = 0 at both ends (de Boor 1978, chapter 4).
  const std::size_t n = shape_.knots.size();
  curvatures_.assign(n, {});
  const auto slope = [&](std::size_t k) -> Place {
    const ProfileKnot& a = shape_.knots[k];
    const ProfileKnot& b = shape_.knots[k + 1];
    return {(b.x - a.x) / lengths_[k], (b.z - a.z) / lengths_[k]};
  };
  std::vector<double> diagonal(n, 1.0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const Place before = slope(k - 1);
    const Place after = slope(k);
    diagonal[k] = 2.0 * (lengths_[k - 1] + lengths_[k]);
    curvatures_[k] = {6.0 * (after.x - before.x), 6.0 * (after.z - before.z)};
    if (k == 1) continue;
    const double factor = lengths_[k - 1] / diagonal[k - 1];
    diagonal[k] -= factor * lengths_[k - 1];
    curvatures_[k].x -= factor * curvatures_[k - 1].x;
    curvatures_[k].z -= factor * curvatures_[k - 1].z;
  }
  for (std::size_t k = n - 1; k-- > 1;) {
    curvatures_[k].x = (curvatures_[k].x - lengths_[k] * curvatures_[k + 1].x) / diagonal[k];
    curvatures_[k].z = (curvatures_[k].z - lengths_[k] * curvatures_[k + 1].z) / diagonal[k];
  }
}

Place SampledCurve::normal(double u) const {
  const double low = parameters_.front();
  const double high = parameters_.back();
  const double step = 1e-6 * (high - low) / static_cast<double>(std::max<std::size_t>(lengths_.size(), 1));
  const Place before = at(std::max(low, u - step));
  const Place after = at(std::min(high, u + step));
  const double length = distance(before, after);
  return {-(after.z - before.z) / length, (after.x - before.x) / length};
}

double SampledCurve::depth_below(Place place) const {
  // For a plane the distance is the one along the normal. For other curves it is the distance from the nearest place, also beyond
  // an end.
  if (straight()) return (place.x - samples_[0].x) * -slope_.z + (place.z - samples_[0].z) * slope_.x;
  // If the nearest place is a corner, both lines that meet there are equally near. The one whose extended line is farther from
  // the place determines the side; the other line may give the wrong side.
  double least = std::numeric_limits<double>::infinity();
  double across = 0.0;
  for (std::size_t k = 0; k + 1 < samples_.size(); ++k) {
    const double long_way = distance(samples_[k], samples_[k + 1]);
    if (long_way == 0.0) continue;
    const Place way{(samples_[k + 1].x - samples_[k].x) / long_way, (samples_[k + 1].z - samples_[k].z) / long_way};
    const Place to{place.x - samples_[k].x, place.z - samples_[k].z};
    const double along = std::clamp(to.x * way.x + to.z * way.z, 0.0, long_way);
    const double here = distance(to, Place{along * way.x, along * way.z});
    const double side = cross(way, to);
    constexpr double equally = 1e-12;  // m
    if (here < least - equally || (here < least + equally && std::abs(side) > std::abs(across))) across = side;
    least = std::min(least, here);
  }
  return std::copysign(least, across);
}

bool SampledCurve::blocks(Place a, Place b) const {
  const double whole = distance(a, b);
  const double near = 2.0 * spacing_;
  if (whole <= 2.0 * near) return false;
  const Place way{(b.x - a.x) / whole, (b.z - a.z) / whole};
  double before = 0.0;
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    const Place to{samples_[k].x - a.x, samples_[k].z - a.z};
    const double side = cross(way, to);
    if (k > 0 && (side < 0.0) != (before < 0.0)) {
      const Place from{samples_[k - 1].x - a.x, samples_[k - 1].z - a.z};
      const double share = before / (before - side);
      const Place meet{from.x + share * (to.x - from.x), from.z + share * (to.z - from.z)};
      const double along = meet.x * way.x + meet.z * way.z;
      if (along > near && along < whole - near) return true;
    }
    before = side;
  }
  return false;
}

}  // namespace simulated
}  // namespace echoform
