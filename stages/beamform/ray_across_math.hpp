// Rays over a curve that is drawn out along y, to pixels that lie beside their sources along y: what of a ray begins that to the
// next plane's pixel, and which rays are left to the host. Shared by host and device.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>

#include "gpu/host_device.hpp"
#include "rays/across_math.hpp"
#include "rays/field_forms.hpp"

namespace echoform::beamform {

/// A time that the host has to tell: no number, as where there is no ray, but another one.
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

/// The curve of CurveForm; tables [node], of the piece to the next one.
struct AcrossCurve {
  std::uint32_t count;  ///< of nodes
  const rays::CurveNode* nodes;
  const rays::CurvePiece* pieces;
  const rays::PieceReach* reaches;
  double before;  ///< slownesses, s/m
  double after;
  rays::CrossingSides sides;
};

/// In the curve's axes.
struct AcrossEnds {
  Vector2 source;
  Vector2 point;
  double across;  ///< of the point from the source along y, m
};

struct AcrossRay {
  double time;  ///< s
  Vector2 at;
  float t;     ///< on the piece, or beyond it
  float part;  ///< of the way along y, where the ray crosses
  bool found;  ///< whether there is such a ray, on the piece or beyond it
  bool sure;   ///< whether it keeps to the segment of the piece: then it is one
};

/// The part of the way along y at which the ray over the place at `t` of the piece up to `node` crosses, nearly.
ECHOFORM_HOST_DEVICE float flat_part(const AcrossCurve& curve, std::uint32_t node, const AcrossEnds& ends, float t) {
  const rays::CurvePiece piece = curve.pieces[node - 1];
  return static_cast<float>(rays::flat_across(piece, {ends.source, ends.point, curve.before, curve.after}, 1.0, t));
}

/// The ray over the piece up to `node`, from a start near to it.
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
  // Nearer than this the part says nothing that the next pixel could begin with.
  constexpr double least_across = 1e-6;  // m
  ray.part = fabs(ends.across) > least_across ? static_cast<float>(found.y / ends.across) : part;
  ray.found = found.finished & found.on_its_way & (found.time > 0.0);
  ray.sure = ray.found & (found.t >= reach.low) & (found.t <= reach.high);
  return ray;
}

/// From a place beyond the piece up to `node` to the piece on which it would lie if all were as long, over smooth joints. Whether
/// that is another one.
ECHOFORM_HOST_DEVICE bool go_on(const AcrossCurve& curve, std::uint32_t& node, float& t) {
  const std::uint32_t from = node;
  for (; t > 1.0F && node + 1 < curve.count && curve.nodes[node].joined != 0; t -= 1.0F) ++node;
  for (; t < 0.0F && node > 1 && curve.nodes[node - 2].joined != 0; t += 1.0F) --node;
  return node != from;
}

/// The least of the rays over all pieces on which the slope in the plane turns, as the host's field takes them
/// (rays/curve_field.cpp): if one is not sure, or two came to one place, the host is asked. But a ray that comes to a smooth
/// joint goes on beyond it.
struct AcrossTurns {
  static constexpr std::uint32_t most = 4;
  static constexpr int most_joints = 8;

  std::uint32_t count = 0;
  bool sure = true;
  std::uint32_t node = 0;  ///< of the least
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
