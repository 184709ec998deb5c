// Rays through a curve that is extruded along y, to pixels whose y differs from that of the source. A ray found in one plane
// is the start of the search for the ray in the next plane. This file also decides which rays are left to the host. Shared
// by host and device.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>

#include "gpu/host_device.hpp"
#include "rays/across_math.hpp"
#include "rays/field_forms.hpp"

namespace echoform::beamform {

/// Marks a time that the host has to find: a NaN, as where there is no ray, but with other bits.
ECHOFORM_HOST_DEVICE double asked_time() {
  const std::uint64_t bits = 0x7ff8000000000a5cULL;
  double time = 0.0;
  std::memcpy(&time, &bits, sizeof(time));
  return time;
}
ECHOFORM_HOST_DEVICE bool is_asked(double time) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &time, sizeof(time));
  return bits == 0x7ff8000000000a5cULL;
}

/// The curve of CurveForm; tables [node], an entry belongs to the piece from its node to the next.
struct AcrossCurve {
  std::uint32_t count;  ///< of nodes
  const rays::CurveNode* nodes;
  const rays::CurvePiece* pieces;
  const rays::PieceReach* reaches;
  double before;  ///< slownesses, s/m
  double after;
  rays::CrossingSides sides;
};

/// Source and pixel in the curve's axes.
struct AcrossEnds {
  Vector2 source;
  Vector2 point;
  double across;  ///< of the point from the source along y, m
};

struct AcrossRay {
  double time;  ///< s
  Vector2 at;
  float t;     ///< on the piece, or beyond it
  float part;  ///< part of the distance along y at which the ray crosses
  bool found;  ///< whether there is such a ray, on the piece or beyond it
  bool sure;   ///< whether it lies within the segment of the piece, so that it is certainly a ray
};

/// Approximate part of the distance along y at which the ray crosses that passes the place `t` of the piece up to `node`.
ECHOFORM_HOST_DEVICE float flat_part(const AcrossCurve& curve, std::uint32_t node, const AcrossEnds& ends, float t) {
  const rays::CurvePiece piece = curve.pieces[node - 1];
  return static_cast<float>(rays::flat_across(piece, {ends.source, ends.point, curve.before, curve.after}, 1.0, t));
}

/// The ray through the piece up to `node`. The search begins at `t` and `part`, which should be near.
ECHOFORM_HOST_DEVICE AcrossRay across_ray(const AcrossCurve& curve, std::uint32_t node, const AcrossEnds& ends, float t,
                                          float part) {
  const rays::CurvePiece piece = curve.pieces[node - 1];
  const rays::PieceReach reach = curve.reaches[node - 1];
  const rays::CrossingEnds both{ends.source, ends.point, curve.before, curve.after};
  const double y = static_cast<double>(part) * ends.across;
  const rays::FoundAcross found = rays::find_across(piece, both, curve.sides, ends.across, t, y);
  AcrossRay ray{};
  ray.time = found.time;
  ray.at = found.at;
  ray.t = static_cast<float>(found.t);
  // Below this distance the part is no useful start for the next pixel.
  constexpr double least_across = 1e-6;  // m
  ray.part = fabs(ends.across) > least_across ? static_cast<float>(found.y / ends.across) : part;
  ray.found = found.finished & found.on_its_way & (found.time > 0.0);
  ray.sure = ray.found & (found.t >= reach.low) & (found.t <= reach.high);
  return ray;
}

/// Moves from a place beyond the piece up to `node` to the piece on which it would lie if all pieces were equally long. It
/// passes smooth joints only. Returns whether that is another piece.
ECHOFORM_HOST_DEVICE bool go_on(const AcrossCurve& curve, std::uint32_t& node, float& t) {
  const std::uint32_t from = node;
  for (; t > 1.0F && node + 1 < curve.count && curve.nodes[node].joined != 0; t -= 1.0F) ++node;
  for (; t < 0.0F && node > 1 && curve.nodes[node - 2].joined != 0; t += 1.0F) --node;
  return node != from;
}

/// The fastest of the rays through all pieces on which the slope in the plane changes sign, as in the host's field
/// (rays/curve_field.cpp). The host is asked if one ray is not sure or if two rays reached the same place. A ray that
/// reaches a smooth joint continues beyond it.
struct AcrossTurns {
  static constexpr std::uint32_t most = 4;
  static constexpr int most_joints = 8;

  std::uint32_t count = 0;
  bool sure = true;
  std::uint32_t node = 0;  ///< of the fastest ray
  AcrossRay least{};
  Vector2 places[most] = {};

  ECHOFORM_HOST_DEVICE void add(const AcrossCurve& curve, std::uint32_t piece, const AcrossEnds& ends, float start) {
    AcrossRay ray{};
    float t = start;
    float part = flat_part(curve, piece, ends, start);
    for (int joint = 0; joint <= most_joints; ++joint) {
      ray = across_ray(curve, piece, ends, t, part);
      if (!ray.found || ray.sure) break;
      t = ray.t;
      part = ray.part;
      if (!go_on(curve, piece, t)) break;
    }
    constexpr double same = 1e-6;  // m
    for (std::uint32_t k = 0; k < count && k < most; ++k) sure = sure && !(length(places[k] - ray.at) < same);
    sure = sure && ray.sure && count < most;
    if (count < most) places[count] = ray.at;
    if (count == 0 || ray.time < least.time) {
      least = ray;
      node = piece;
    }
    ++count;
  }
};

}  // namespace echoform::beamform
