// Travel times by brute force, sharing nothing with the solver but the numbers that describe a geometry: every interface is a
// function of one parameter, sampled densely; the least sampled time is then narrowed down by golden sections, one parameter
// within the other.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace echoform::brute {

struct Place {
  long double x = 0, z = 0, y = 0;
};

/// u in 0 .. 1, y free.
using Curve = std::function<Place(long double u)>;

inline long double distance(const Place& a, const Place& b) {
  const long double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  return std::sqrt(dx * dx + dy * dy + dz * dz);
}

struct Least {
  long double time = std::numeric_limits<long double>::infinity();
  long double u = 0;
};

/// Minimum of f over [low, high], sampled at `samples` places and narrowed down around the best of them.
inline Least least_of(const std::function<long double(long double)>& f, long double low, long double high, int samples) {
  Least best;
  for (int k = 0; k <= samples; ++k) {
    const long double u = low + (high - low) * k / samples;
    const long double time = f(u);
    if (time < best.time) best = {time, u};
  }
  long double a = std::max(low, best.u - (high - low) / samples);
  long double b = std::min(high, best.u + (high - low) / samples);
  const long double golden = 0.6180339887498948482L;
  for (int k = 0; k < 60; ++k) {
    const long double left = b - golden * (b - a);
    const long double right = a + golden * (b - a);
    (f(left) < f(right) ? b : a) = f(left) < f(right) ? right : left;
  }
  const long double middle = 0.5L * (a + b);
  const long double time = f(middle);
  return time < best.time ? Least{time, middle} : best;
}

/// One interface, in the plane.
inline Least through(const Place& from, const Place& to, const Curve& curve, double c1, double c2, int samples = 4000) {
  return least_of([&](long double u) { return distance(from, curve(u)) / c1 + distance(curve(u), to) / c2; }, 0, 1, samples);
}

/// Whether the straight way between two places in the plane meets the sampled curve, but for 2 um at either end.
inline bool obstructed(const Place& a, const Place& b, const Curve& curve, int samples) {
  const long double whole = distance(a, b);
  const auto side = [&](const Place& p) { return (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x); };
  const auto along = [&](const Place& p) { return ((b.x - a.x) * (p.x - a.x) + (b.z - a.z) * (p.z - a.z)) / whole; };
  Place before = curve(0);
  for (int k = 1; k <= samples; ++k) {
    const Place now = curve(static_cast<long double>(k) / samples);
    const long double s0 = side(before), s1 = side(now);
    if ((s0 < 0) != (s1 < 0)) {
      const long double at = along(before) + (along(now) - along(before)) * s0 / (s0 - s1);
      if (at > 2e-6L && at < whole - 2e-6L) return true;
    }
    before = now;
  }
  return false;
}

/// One interface in the plane: of all local minima that no part of the curve obstructs, the least; infinite if there is none.
inline Least through_open(const Place& from, const Place& to, const Curve& curve, double c1, double c2, int samples) {
  const auto time = [&](long double u) { return distance(from, curve(u)) / c1 + distance(curve(u), to) / c2; };
  Least best;
  for (int k = 1; k < samples; ++k) {
    const long double step = 1.0L / samples;
    if (time(k * step) > time((k - 1) * step) || time(k * step) > time((k + 1) * step)) continue;
    const Least local = least_of(time, (k - 1) * step, (k + 1) * step, 4);
    if (local.time >= best.time) continue;
    if (obstructed(from, curve(local.u), curve, samples) || obstructed(curve(local.u), to, curve, samples)) continue;
    best = local;
  }
  return best;
}

/// One interface; the crossing may lie anywhere along y between both ends.
inline Least through_with_y(const Place& from, const Place& to, const Curve& curve, double c1, double c2, int samples = 400) {
  const auto over_y = [&](long double u) {
    Place place = curve(u);
    return least_of(
               [&](long double y) {
                 place.y = y;
                 return distance(from, place) / c1 + distance(place, to) / c2;
               },
               std::min(from.y, to.y), std::max(from.y, to.y), 8)
        .time;
  };
  return least_of(over_y, 0, 1, samples);
}

/// Two interfaces, the second one inside of the first.
inline Least through_two(const Place& from, const Place& to, const Curve& one, const Curve& two, double c1, double c2, double c3,
                         int samples = 300) {
  const auto outer = [&](long double u) {
    const Place place = one(u);
    return distance(from, place) / c1 + through(place, to, two, c2, c3, samples).time;
  };
  return least_of(outer, 0, 1, samples);
}

}  // namespace echoform::brute
