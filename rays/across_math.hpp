// Where a ray crosses a curve that is drawn out along y, or is reflected by it, when source and point lie apart along y as
// well: two unknowns, t on a piece of the curve and the distance along y; for host and device.
//
// T(t, y) = s1 sqrt(|r(t) - source|^2 + y^2) + s2 sqrt(|point - r(t)|^2 + (Y - y)^2), y from the source's to the point's,
// which are Y apart. As a function of y alone T is convex; as a function of both it is minimal and stationary at the ray.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"
#include "rays/crossing_math.hpp"

namespace echoform::rays {

/// Newton steps after which nearly all rays are done; the others take up to `most_across_steps`.
inline constexpr int usual_across_steps = 4;
inline constexpr int most_across_steps = 24;

struct AcrossCrossing {
  Vector2 at;
  Vector2 first;     ///< dr/dt
  double time;       ///< s
  double slope_t;    ///< dT/dt
  double slope_y;    ///< dT/dy
  double bend_t;     ///< d2T/dt2
  double bend_y;     ///< d2T/dy2
  double bend_both;  ///< d2T/dtdy
  double bend_flat;  ///< d2T/dt2 if the curve were straight there
  double least_leg;  ///< m
};

/// `across`: Y above, m.
ECHOFORM_HOST_DEVICE AcrossCrossing across_at(const CurvePiece& piece, const CrossingEnds& ends, double across, double t,
                                              double y) {
  const CurvePoint place = piece_point(piece, t);
  const Vector2 e = place.first;
  const Vector2 s = place.at - ends.source;
  const Vector2 p = place.at - ends.point;
  const double left = across - y;
  const double source_flat = dot(s, s);
  const double point_flat = dot(p, p);
  const double source_leg = sqrt(source_flat + y * y + 1e-300);
  const double point_leg = sqrt(point_flat + left * left + 1e-300);
  const double per_source = 1.0 / source_leg;
  const double per_point = 1.0 / point_leg;
  const double source_weight = ends.before * per_source;
  const double point_weight = ends.after * per_point;
  const double source_along = dot(e, s);
  const double point_along = dot(e, p);
  const double source_cross = cross(e, s) * per_source;
  const double point_cross = cross(e, p) * per_point;
  const double source_part = y * per_source;
  const double point_part = left * per_point;
  const double pace = dot(e, e);
  AcrossCrossing now{};
  now.at = place.at;
  now.first = e;
  now.time = ends.before * source_leg + ends.after * point_leg;
  now.slope_t = source_weight * source_along + point_weight * point_along;
  now.slope_y = source_weight * y - point_weight * left;
  // |e|^2 - (e . s)^2 / L^2, without what cancels.
  now.bend_flat = source_weight * (source_cross * source_cross + pace * source_part * source_part) +
                  point_weight * (point_cross * point_cross + pace * point_part * point_part);
  now.bend_t = now.bend_flat + source_weight * dot(place.second, s) + point_weight * dot(place.second, p);
  now.bend_y = source_weight * source_flat * (per_source * per_source) + point_weight * point_flat * (per_point * per_point);
  now.bend_both = point_weight * point_along * point_part * per_point - source_weight * source_along * source_part * per_source;
  now.least_leg = source_leg < point_leg ? source_leg : point_leg;
  return now;
}

/// Approximate place along y at which a ray over the place at t crosses: as if the surface were flat.
ECHOFORM_HOST_DEVICE double flat_across(const CurvePiece& piece, const CrossingEnds& ends, double across, double t) {
  const Vector2 at = piece_point(piece, t).at;
  const double source = ends.after * length(at - ends.source);
  const double point = ends.before * length(at - ends.point);
  return across * source / (source + point + 1e-300);
}

/// The remaining step to a place at which T is stationary, by Newton's method.
struct AcrossStep {
  double t;
  double y;
  bool to_least;  ///< whether T bends upwards all around
};

ECHOFORM_HOST_DEVICE AcrossStep across_step(const AcrossCrossing& now) {
  const double determinant = now.bend_t * now.bend_y - now.bend_both * now.bend_both;
  const double inverse = 1.0 / determinant;
  AcrossStep by{};
  by.t = (now.bend_both * now.slope_y - now.bend_y * now.slope_t) * inverse;
  by.y = (now.bend_both * now.slope_t - now.bend_t * now.slope_y) * inverse;
  by.to_least = (now.bend_t > 0.0) & (determinant > 0.0);
  return by;
}

struct FoundAcross {
  double time;      ///< s, to third order in what t and y lack
  double t;         ///< to second order; it may lie beyond the piece, on the same line, circle or cubic
  double y;         ///< likewise
  Vector2 at;       ///< likewise
  bool finished;    ///< whether T is minimal there, and t and y near enough for a time good to 1e-16 s a metre of leg
  bool on_its_way;  ///< whether source and point lie on their sides of the tangent there
};

/// The ray near to t and y, after Newton's last step.
ECHOFORM_HOST_DEVICE FoundAcross end_across(const CurvePiece& piece, const CrossingEnds& ends, const CrossingSides& sides,
                                            double across, double t, double y) {
  const AcrossCrossing now = across_at(piece, ends, across, t, y);
  const AcrossStep by = across_step(now);
  FoundAcross found{};
  found.t = t + by.t;
  found.y = y + by.y;
  found.at = now.at + by.t * now.first;
  found.time = now.time + 0.5 * (by.t * now.slope_t + by.y * now.slope_y);
  const double metres = sqrt(dot(now.first, now.first)) * fabs(by.t) + fabs(by.y);
  // Nearer to a caustic there may be other rays that no search in the plane finds.
  constexpr double clear_of_caustics = 0.1;
  found.finished =
      by.to_least & (now.bend_t > clear_of_caustics * now.bend_flat) & (fabs(by.t) <= 1e-3) & (metres <= 1e-4 * now.least_leg);
  const bool after_source = sides.source * cross(now.first, ends.source - found.at) >= 0.0;
  const bool before_point = sides.point * cross(now.first, ends.point - found.at) >= 0.0;
  found.on_its_way = after_source & before_point;
  return found;
}

/// Iterates from t and y until the ray is found, one ray at a time. The nearer the start, the fewer steps it takes.
ECHOFORM_HOST_DEVICE FoundAcross find_across(const CurvePiece& piece, const CrossingEnds& ends, const CrossingSides& sides,
                                             double across, double t, double y) {
  FoundAcross found = end_across(piece, ends, sides, across, t, y);
  for (int step = 0; !found.finished && step < most_across_steps; ++step) {
    found = end_across(piece, ends, sides, across, found.t, found.y);
  }
  return found;
}

}  // namespace echoform::rays
