// Rays in the plane of one surface that casts shadows: which pieces lie near to a point, whether a ray's ways cross the surface,
// and the least time of those that do not; for host and device. The field on the CPU asks the same (rays/curve_search.hpp), of
// many rays at a time.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "rays/crossing_math.hpp"
#include "rays/field_forms.hpp"
#include "rays/near_turns_math.hpp"
#include "rays/piece_math.hpp"

namespace echoform::rays {

/// A CurveForm with shades. Tables [node], of the piece to the next one, and [group].
struct ShadedCurve {
  std::uint32_t count = 0;   ///< of nodes
  std::uint32_t groups = 0;  ///< of pieces
  const CurveNode* nodes = nullptr;
  const CurvePiece* pieces = nullptr;
  const PieceShade* shades = nullptr;
  const PieceGroup* parts = nullptr;
  CurveBox box;
  CurveDirections directions;
  double longest_chord = 0.0;
  double before = 0.0;  ///< slownesses, s/m
  double after = 0.0;
  CrossingSides sides{};
};

/// Calls take(n) for every piece, from node n on, that lies near to the point: where the slopes at its nodes do not tell how
/// often the slope turns (near_turns.hpp). take() returns whether it wants more.
template <class Take>
ECHOFORM_HOST_DEVICE void for_near(const ShadedCurve& curve, Vector2 point, const Take& take) {
  // lies_near() looks that far along a piece and beside it.
  constexpr double root_of_two = 1.5;  // and more
  CurveBox around;
  around.hold(point);
  around.widen(root_of_two * near_piece * curve.longest_chord);
  if (!around.meets(curve.box)) return;
  for (std::uint32_t k = 0; k < curve.groups; ++k) {
    const PieceGroup& group = curve.parts[k];
    if (!around.meets(group.box)) continue;
    for (std::uint32_t n = group.first; n < group.last; ++n) {
      const bool near = curve.nodes[n].joined != 0 && lies_near(point, curve.nodes[n].at, curve.nodes[n + 1].at);
      if (near && !take(n)) return;
    }
  }
}

/// Whether some piece does.
ECHOFORM_HOST_DEVICE bool near_some(const ShadedCurve& curve, Vector2 point) {
  bool near = false;
  for_near(curve, point, [&](std::uint32_t) {
    near = true;
    return false;
  });
  return near;
}

/// Whether the straight way from `from` to the place at `t`, 0 to 1, of the piece from node `own` on crosses the curve, as
/// Surface::crosses().
ECHOFORM_HOST_DEVICE bool is_crossed(const ShadedCurve& curve, Vector2 from, Vector2 to, std::uint32_t own, double t) {
  const Vector2 along = to - from;
  if (curve.directions.meet_once(along)) return false;
  const CurveBox way = box_of_way(from, along, curve.box);
  const std::uint32_t goes_on = curve.shades[own].goes_on;
  for (std::uint32_t k = 0; k < curve.groups; ++k) {
    const PieceGroup& group = curve.parts[k];
    if (!way.meets(group.box)) continue;
    for (std::uint32_t n = group.first; n < group.last; ++n) {
      if (curve.nodes[n].joined == 0) continue;
      WayOverPiece over{from, to};
      if (n == own) over.to_t = t;
      // An end of the piece is a place of its neighbour as well, within the segment.
      if (n + 1 == own && t == 0.0 && (goes_on & 1U) != 0) over.to_t = 1.0;
      if (n == own + 1 && t == 1.0 && (goes_on & 2U) != 0) over.to_t = 0.0;
      if (way_crosses(curve.pieces[n], curve.nodes[n].at, curve.nodes[n + 1].at, curve.shades[n].sag, over)) return true;
    }
  }
  return false;
}

/// The ray over the piece from node `own` on, begun at `start`.
ECHOFORM_HOST_DEVICE FoundCrossing ray_over(const ShadedCurve& curve, const CrossingEnds& ends, std::uint32_t own, double start) {
  const CurvePiece piece = curve.pieces[own];
  const FoundCrossing found = find_crossing(piece, ends, curve.sides, start, usual_crossing_steps);
  return found.finished ? found : find_crossing(piece, ends, curve.sides, start, most_crossing_steps);
}

/// Whether it is faster than `least`, s, which is NaN as long as there is none.
ECHOFORM_HOST_DEVICE bool is_quicker(const FoundCrossing& found, double least) {
  return found.finished && found.on_its_way && (isnan(least) ? found.time > 0.0 : found.time < least);
}

/// Whether a ray may lie in shadow by the directions of its ways: few do.
ECHOFORM_HOST_DEVICE bool may_be_shaded(const ShadedCurve& curve, const CrossingEnds& ends, const FoundCrossing& found) {
  return !curve.directions.meet_once(found.at - ends.source) || !curve.directions.meet_once(found.at - ends.point);
}

/// Whether the ray over the piece from node `own` on, near to t = `found`, lies in shadow on either of its ways.
ECHOFORM_HOST_DEVICE bool in_shadow(const ShadedCurve& curve, const CrossingEnds& ends, std::uint32_t own, double found) {
  // Whether there is a shadow is a matter of the place itself; the time is not.
  const CurvePiece& piece = curve.pieces[own];
  const double t = place_crossing(piece, ends, found);
  const Vector2 there = place_of(piece, t).at;
  bool shaded = false;
  for (int way = 0; way < 2 && !shaded; ++way) {
    shaded = is_crossed(curve, way == 0 ? ends.source : ends.point, there, own, within_piece(t));
  }
  return shaded;
}

/// Calls take(t) for all rays over a piece that lies near to the point, with where on it they are begun.
template <class Take>
ECHOFORM_HOST_DEVICE void for_near_rays(const ShadedCurve& curve, const CrossingEnds& ends, std::uint32_t own, const Take& take) {
  const CurvePiece piece = curve.pieces[own];
  const NearTurns turns = find_near_turns(piece, ends);
  for (std::size_t k = 0; k < turns.count; ++k) {
    const double middle = 0.5 * (turns.low[k] + turns.high[k]);
    take(find_crossing_between(piece, ends, curve.sides, turns.low[k], turns.high[k], middle, most_crossing_steps).t);
  }
}

/// `least`, or the time of the ray over the piece from node `own` on, begun at `start`, if it is less and the ray lies in no
/// shadow.
ECHOFORM_HOST_DEVICE double less_over(const ShadedCurve& curve, const CrossingEnds& ends, std::uint32_t own, double start,
                                      double least) {
  const FoundCrossing found = ray_over(curve, ends, own, start);
  if (!is_quicker(found, least)) return least;
  return may_be_shaded(curve, ends, found) && in_shadow(curve, ends, own, found.t) ? least : found.time;
}

/// The same of all rays over pieces that lie near to the point; `less` is less_over() for the curve and its ends.
template <class Less>
ECHOFORM_HOST_DEVICE double less_near(const ShadedCurve& curve, const CrossingEnds& ends, double least, const Less& less) {
  for_near(curve, ends.point, [&](std::uint32_t own) {
    for_near_rays(curve, ends, own, [&](double start) { least = less(own, start, least); });
    return true;
  });
  return least;
}

/// The same of all rays over pieces that do not. `turns` calls a function (n, start) for the pieces, from node n on, between
/// whose nodes the slope turns.
template <class Turns, class Less>
ECHOFORM_HOST_DEVICE double less_elsewhere(const ShadedCurve& curve, Vector2 point, const Turns& turns, double least,
                                           const Less& less) {
  turns([&](std::uint32_t own, double start) {
    if (!lies_near(point, curve.nodes[own].at, curve.nodes[own + 1].at)) least = less(own, start, least);
  });
  return least;
}

}  // namespace echoform::rays
