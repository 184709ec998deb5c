// Rays by exact geometry, sharing nothing with the solvers but the numbers that describe a surface: T' over the curve itself, in
// extended precision, at places that crowd where the ends are near; every turn from falling to rising is halved down to rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "rays/curve.hpp"

namespace echoform::exact {

using Real = long double;

struct Place {
  Real x = 0, z = 0;
};
inline Place operator-(Place a, Place b) {
  return {a.x - b.x, a.z - b.z};
}
inline Real dot(Place a, Place b) {
  return a.x * b.x + a.z * b.z;
}
inline Real cross(Place a, Place b) {
  return a.x * b.z - a.z * b.x;
}
inline Real length(Place a) {
  return std::sqrt(dot(a, a));
}

/// Segments end to end, u = number of the segment + t.
class Curve {
 public:
  explicit Curve(std::vector<Segment> segments) : segments_(std::move(segments)) {
    for (std::size_t k = 0; k < segments_.size(); ++k) {
      const Real chord = length(at(Real(k) + Real(0.5)) - at(Real(k))) + length(at(Real(k + 1)) - at(Real(k) + Real(0.5)));
      lengths_.push_back(chord);
      whole_ += chord;
    }
  }
  [[nodiscard]] Real end() const { return Real(segments_.size()); }

  [[nodiscard]] Place at(Real u) const {
    return of(u, [](const Segment& s, Real t) {
      if (s.kind == SegmentKind::arc) {
        // Computed from the arc's first place, as in Segment, so that huge circles lose no precision.
        const Real half = t * s.turn / 2, chord = 2 * Real(s.radius) * std::sin(half);
        return Place{s.b.x - chord * std::sin(s.from + half), s.b.z + chord * std::cos(s.from + half)};
      }
      return Place{s.a.x + t * (s.b.x + t * (s.c.x + t * s.d.x)), s.a.z + t * (s.b.z + t * (s.c.z + t * s.d.z))};
    });
  }
  [[nodiscard]] Place along(Real u) const {
    return of(u, [](const Segment& s, Real t) {
      if (s.kind == SegmentKind::arc) {
        const Real angle = s.from + t * s.turn, speed = Real(s.turn) * s.radius;
        return Place{-speed * std::sin(angle), speed * std::cos(angle)};
      }
      return Place{s.b.x + t * (2 * s.c.x + 3 * t * s.d.x), s.b.z + t * (2 * s.c.z + 3 * t * s.d.z)};
    });
  }

  /// u over the whole curve, evenly, and around each of `crowds` from a nanometre on in steps of 10 %.
  [[nodiscard]] std::vector<Real> places(const std::vector<Real>& crowds, int even) const {
    std::vector<Real> all;
    for (std::size_t k = 0; k < segments_.size(); ++k) {
      const int count = std::max(4, static_cast<int>(even * lengths_[k] / whole_));
      for (int i = 0; i <= count; ++i) all.push_back(Real(k) + Real(i) / count);
    }
    for (const Real middle : crowds) {
      all.push_back(middle);
      const auto k = std::min(segments_.size() - 1, static_cast<std::size_t>(middle));
      for (Real way = 1e-10L; way < whole_; way *= 1.1L) {
        for (const Real sign : {Real(-1), Real(1)}) {
          const Real u = middle + sign * way / lengths_[k];
          if (u > 0 && u < end()) all.push_back(u);
        }
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Nearest place to `from`.
  [[nodiscard]] Real foot(Place from, int even) const {
    const std::vector<Real> all = places({}, even);
    const auto distance = [&](Real u) { return length(at(u) - from); };
    std::size_t best = 0;
    for (std::size_t k = 1; k < all.size(); ++k) {
      if (distance(all[k]) < distance(all[best])) best = k;
    }
    Real low = all[best == 0 ? 0 : best - 1], high = all[std::min(best + 1, all.size() - 1)];
    for (int k = 0; k < 150; ++k) {
      const Real a = low + (high - low) * Real(0.382), b = low + (high - low) * Real(0.618);
      (distance(a) < distance(b) ? high : low) = distance(a) < distance(b) ? b : a;
    }
    return (low + high) / 2;
  }

  /// Whether the straight way from `from` to the place `u` of the curve meets the curve before.
  [[nodiscard]] bool obstructed(Place from, Real u, int even) const {
    const Place to = at(u), way = to - from;
    const Real squared = dot(way, way);
    // The side over the distance along the curve: no root where the way ends.
    const auto side = [&](Real v) { return cross(way, at(v) - to) / (v - u); };
    std::vector<Real> all = places({u}, even);
    std::erase_if(all, [&](Real v) { return std::abs(v - u) < Real(1e-15); });
    // Where a side comes near to 0 between places and goes away again, at its least.
    for (std::size_t k = 2, count = all.size(); k < count; ++k) {
      const Real sign = side(all[k - 1]) < 0 ? -1 : 1;
      if (sign * side(all[k - 2]) < sign * side(all[k - 1]) || sign * side(all[k]) < sign * side(all[k - 1])) continue;
      Real low = all[k - 2], high = all[k];
      if ((low < u) != (high < u)) continue;
      for (int step = 0; step < 80; ++step) {
        const Real a = low + (high - low) * Real(0.382), b = low + (high - low) * Real(0.618);
        (sign * side(a) < sign * side(b) ? high : low) = sign * side(a) < sign * side(b) ? b : a;
      }
      all.push_back((low + high) / 2);
    }
    std::sort(all.begin(), all.end());
    for (std::size_t k = 1; k < all.size(); ++k) {
      const bool before = side(all[k - 1]) < 0;
      if ((side(all[k]) < 0) == before) continue;
      Real low = all[k - 1], high = all[k];
      for (int step = 0; step < 70; ++step) {
        const Real middle = (low + high) / 2;
        ((side(middle) < 0) == before ? low : high) = middle;
      }
      const Real part = dot(at(low) - from, way) / squared;
      if (part > 0 && part < 1) return true;
    }
    return false;
  }

 private:
  template <class F>
  [[nodiscard]] Place of(Real u, F f) const {
    const auto k = std::min(segments_.size() - 1, static_cast<std::size_t>(std::max(u, Real(0))));
    return f(segments_[k], u - Real(k));
  }

  std::vector<Segment> segments_;
  std::vector<Real> lengths_;
  Real whole_ = 0;
};

struct Ray {
  Real seconds = std::numeric_limits<Real>::quiet_NaN();
  Real u = 0;
  int minima = 0, maxima = 0;
  Real margin = 1e300L;  ///< least sine of the angles to the tangent of legs that decide (signed: below 0 = lost)
};

/// The ray of the minimum time among all local minima that go from above to below and meet the curve nowhere else.
inline Ray through(const Curve& curve, Place source, Place point, Real c1, Real c2, int even = 2000) {
  const auto slope = [&](Real u) {
    const Place r = curve.at(u), e = curve.along(u), a = r - source, b = r - point;
    return dot(e, a) / length(a) / c1 + dot(e, b) / length(b) / c2;
  };
  const std::vector<Real> all = curve.places({curve.foot(point, even), curve.foot(source, even)}, even);
  Ray ray;
  Real before = 0;
  Real u_before = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Real now = slope(all[k]);
    if (k > 0 && (before < 0) != (now < 0)) ++(before < 0 ? ray.minima : ray.maxima);
    if (k > 0 && before < 0 && !(now < 0)) {
      Real low = u_before, high = all[k];
      for (int step = 0; step < 100; ++step) {
        const Real middle = (low + high) / 2;
        (slope(middle) < 0 ? low : high) = middle;
      }
      // The slope jumps at a corner.
      const bool corner = std::abs(slope(low) - slope(high)) > 1e-9L / c1 * length(curve.along(low));
      const Place r = curve.at(low), e = curve.along(low);
      const Real per = 1 / length(e);
      const Real above = -cross(e, source - r) * per / length(source - r), below = cross(e, point - r) * per / length(point - r);
      const Real time = length(r - source) / c1 + length(r - point) / c2;
      if (!corner && (std::isnan(ray.seconds) || time < ray.seconds)) {
        ray.margin = std::min(above, below);
        if (above > 0 && below > 0 && !curve.obstructed(source, low, even) && !curve.obstructed(point, low, even)) {
          ray.seconds = time;
          ray.u = low;
        }
      }
    }
    before = now;
    u_before = all[k];
  }
  return ray;
}

}  // namespace echoform::exact
