// Where a ray crosses a curved surface, or is reflected by it: one unknown, within a piece of the curve; for host and device.
//
// T(t) = s1 |r(t) - source| + s2 |point - r(t)| is stationary at the ray. Its slope at a place with unit tangent e is the sum of
// one term of the source and one of the point,
//
//   s1 e . (r - source) / |r - source|  +  s2 e . (r - point) / |r - point|,
//
// so terms at the nodes are tabulated once a source and once a point, and a ray's search is one addition a node: a least time
// lies between two nodes where the slope's sign turns from minus to plus.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"
#include "rays/curve_piece.hpp"

namespace echoform::rays {

/// Number of Newton steps after which nearly all rays are done; the others take up to `most_crossing_steps`.
inline constexpr int usual_crossing_steps = 2;
inline constexpr int most_crossing_steps = 80;
/// Roots so far beyond a piece, in its t, still count: the search is in single precision.
inline constexpr double piece_overlap = 1e-5;

/// The term above at a node; `x` and `z` lead from the source or point to the node. Dimensions of `slowness`.
template <class Real>
ECHOFORM_HOST_DEVICE Real node_slope(Real slowness, Real tangent_x, Real tangent_z, Real x, Real z) {
  const Real squared = x * x + z * z + Real(1e-30);
  return slowness * (tangent_x * x + tangent_z * z) / sqrt(squared);
}

struct CrossingEnds {
  Vector2 source;
  Vector2 point;
  double before;  ///< slowness on the path to the surface, s/m
  double after;   ///< and on
};

struct Crossing {
  Vector2 at;
  Vector2 first;     ///< dr/dt
  double time;       ///< s
  double slope;      ///< dT/dt
  double bend;       ///< d2T/dt2
  double least_leg;  ///< m
};

/// A place of a piece, and beyond its ends of the line, circle or cubic that it is a part of.
ECHOFORM_HOST_DEVICE CurvePoint piece_point(const CurvePiece& piece, double t) {
  const double inverse = 1.0 / (1.0 + piece.q * t * t);
  const double turn = 2.0 * piece.q * t;
  // v = N / D; v' = (N' - v D') / D; v'' = (N'' - 2 v' D' - v D'') / D.
  const double vx = t * (piece.b.x + t * (piece.c.x + t * piece.d.x)) * inverse;
  const double vz = t * (piece.b.z + t * (piece.c.z + t * piece.d.z)) * inverse;
  const double ex = (piece.b.x + t * (2.0 * piece.c.x + 3.0 * t * piece.d.x) - vx * turn) * inverse;
  const double ez = (piece.b.z + t * (2.0 * piece.c.z + 3.0 * t * piece.d.z) - vz * turn) * inverse;
  const double gx = (2.0 * piece.c.x + 6.0 * t * piece.d.x - 2.0 * ex * turn - 2.0 * piece.q * vx) * inverse;
  const double gz = (2.0 * piece.c.z + 6.0 * t * piece.d.z - 2.0 * ez * turn - 2.0 * piece.q * vz) * inverse;
  return {{piece.at.x + vx, piece.at.z + vz}, {ex, ez}, {gx, gz}};
}

/// `touching`: an end may lie on the surface.
template <bool touching = false>
ECHOFORM_HOST_DEVICE Crossing crossing_at(const CurvePiece& piece, const CrossingEnds& ends, double t) {
  const CurvePoint place = piece_point(piece, t);
  const double ex = place.first.x;
  const double ez = place.first.z;
  const double gx = place.second.x;
  const double gz = place.second.z;
  const double x = place.at.x;
  const double z = place.at.z;
  const double sx = x - ends.source.x;
  const double sz = z - ends.source.z;
  const double px = x - ends.point.x;
  const double pz = z - ends.point.z;
  // A picometre from the plane: if an end lies on the surface, the slope changes its sign within that distance instead of at
  // once.
  constexpr double beside = 1e-24;
  const double source_leg = sqrt(sx * sx + sz * sz + beside);
  const double point_leg = sqrt(px * px + pz * pz + beside);
  const double per_source = 1.0 / source_leg;
  const double per_point = 1.0 / point_leg;
  const double source_cross = (ex * sz - ez * sx) * per_source;
  const double point_cross = (ex * pz - ez * px) * per_point;
  Crossing crossing{};
  crossing.at = {x, z};
  crossing.first = {ex, ez};
  crossing.time = ends.before * source_leg + ends.after * point_leg;
  crossing.slope = ends.before * (ex * sx + ez * sz) * per_source + ends.after * (ex * px + ez * pz) * per_point;
  crossing.bend = ends.before * ((gx * sx + gz * sz) + source_cross * source_cross) * per_source +
                  ends.after * ((gx * px + gz * pz) + point_cross * point_cross) * per_point;
  if constexpr (touching) {
    const double across = beside * (ex * ex + ez * ez);
    crossing.bend +=
        across * (ends.before * per_source * per_source * per_source + ends.after * per_point * per_point * per_point);
  }
  crossing.least_leg = source_leg < point_leg ? source_leg : point_leg;
  return crossing;
}

/// Sides of the surface: -1 above, 1 below, as surfaces count them.
struct CrossingSides {
  double source;
  double point;
};

struct FoundCrossing {
  double time;      ///< s, to third order in what t lacks
  double t;         ///< to second order
  Vector2 at;       ///< likewise
  bool finished;    ///< whether `steps` sufficed
  bool on_its_way;  ///< whether source and point lie on their sides of the tangent there
};

/// The ray over `piece` between `low` and `high`, where the slope is below 0 and above 0: Newton's method within that
/// bracket, from `t`. Times are good to 1e-14 s where finished. If `steps` is above the usual number, a step must be at most
/// half as long as the one before; otherwise the bracket is bisected. The reason: just below a surface the slope is a step
/// with nearly straight sides, between which Newton's method would oscillate for ever.
template <bool touching = false>
ECHOFORM_HOST_DEVICE FoundCrossing find_crossing_between(const CurvePiece& piece, const CrossingEnds& ends,
                                                         const CrossingSides& sides, double low, double high, double t,
                                                         int steps) {
  const double first = low;
  const double last = high;
  const bool halving = steps > usual_crossing_steps;
  double longest = high - low;
  Crossing now = crossing_at<touching>(piece, ends, t);
  double newton = -now.slope / now.bend;
  for (int step = 0; step < steps; ++step) {
    low = now.slope < 0.0 ? t : low;
    high = now.slope < 0.0 ? high : t;
    const double next = t + newton;
    bool within = (now.bend > 0.0) & (next > low) & (next < high);
    if (halving) {
      if (within && fabs(newton) < 1e-12) break;
      within = within && fabs(newton) <= 0.5 * longest;
      longest = within ? fabs(newton) : 0.5 * (high - low);
    }
    t = within ? next : 0.5 * (low + high);
    now = crossing_at<touching>(piece, ends, t);
    newton = -now.slope / now.bend;
  }
  FoundCrossing found{};
  found.t = t + newton;
  found.at = now.at + newton * now.first;
  found.time = now.time + 0.5 * newton * now.slope;
  const double metres = sqrt(dot(now.first, now.first)) * fabs(newton);
  found.finished =
      (now.bend > 0.0) & (fabs(newton) <= 1e-2) & (metres <= 1e-3 * now.least_leg) & (found.t >= first) & (found.t <= last);
  // The sides' signs times how far below the tangent each end lies. An end on the surface lies on either side, but for rounding.
  const double rounding = touching ? -1e-11 * sqrt(dot(now.first, now.first)) : 0.0;
  const double source_side = sides.source * cross(now.first, ends.source - found.at);
  const double point_side = sides.point * cross(now.first, ends.point - found.at);
  found.on_its_way = (source_side >= rounding) & (point_side >= rounding);
  return found;
}

/// The same over the whole piece.
template <bool touching = false>
ECHOFORM_HOST_DEVICE FoundCrossing find_crossing(const CurvePiece& piece, const CrossingEnds& ends, const CrossingSides& sides,
                                                 double t, int steps) {
  return find_crossing_between<touching>(piece, ends, sides, -piece_overlap, 1.0 + piece_overlap, t, steps);
}

/// t of a found ray, which is good enough for its time, to rounding.
ECHOFORM_HOST_DEVICE double place_crossing(const CurvePiece& piece, const CrossingEnds& ends, double t) {
  for (int step = 0; step < 5; ++step) {
    const Crossing now = crossing_at(piece, ends, t);
    const double newton = -now.slope / now.bend;
    if (!(now.bend > 0.0) || !(fabs(newton) < 1e-2)) return t;
    t += newton;
    if (fabs(newton) < 1e-9) return t;
  }
  return t;
}

}  // namespace echoform::rays
