// A curve's nodes in arrays, as the searches of curve_field.hpp want them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rays/curve_piece.hpp"
#include "rays/field_kernels.hpp"
#include "rays/surface.hpp"

namespace echoform::rays {

/// What lies within it, ends included.
struct CurveBox {
  Vector2 low{1e300, 1e300};
  Vector2 high{-1e300, -1e300};

  void hold(Vector2 place) {
    low = {std::min(low.x, place.x), std::min(low.z, place.z)};
    high = {std::max(high.x, place.x), std::max(high.z, place.z)};
  }
  void widen(double by) {
    low = low - Vector2{by, by};
    high = high + Vector2{by, by};
  }
  [[nodiscard]] bool meets(const CurveBox& other) const {
    return low.x <= other.high.x && high.x >= other.low.x && low.z <= other.high.z && high.z >= other.low.z;
  }
};

/// Box of the part of a straight way that lies at the depths of `within`, and 1 nm more against rounding. Most ways are there for
/// a short part only.
inline CurveBox box_of_way(Vector2 from, Vector2 along, const CurveBox& within) {
  double begin = 0.0;
  double end = 1.0;
  if (std::abs(along.z) > 1e-9) {
    const double low = (within.low.z - from.z) / along.z;
    const double high = (within.high.z - from.z) / along.z;
    begin = std::max(begin, std::min(low, high));
    end = std::min(end, std::max(low, high));
  }
  CurveBox box;
  if (begin > end) return box;
  box.hold(from + begin * along);
  box.hold(from + end * along);
  box.widen(1e-9);
  return box;
}

/// A surface's nodes in arrays, as the searches want them.
struct CurveNodes {
  explicit CurveNodes(const Surface& surface) {
    const auto& nodes = surface.nodes();
    words = (nodes.size() + 63) / 64;
    for (auto* row : {&x, &z, &tangent_x, &tangent_z}) row->resize(64 * words);
    joined.resize(words);
    pieces.resize(nodes.size());
    middle = 0.5 * (nodes.front().at + nodes.back().at);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const Vector2 tangent = nodes[n].tangent;
      places.push_back(nodes[n].at);
      tangents.push_back(tangent);
      tangent_x[n] = static_cast<float>(tangent.x);
      tangent_z[n] = static_cast<float>(tangent.z);
      if (n + 1 == nodes.size() || nodes[n + 1].place.segment != nodes[n].place.segment) continue;
      joined[n / 64] |= std::uint64_t{1} << (n % 64);
      pieces[n] = surface.piece(n);
      sag = std::max(sag, surface.sag(n));
    }
    center(middle, x, z);
    boxes.resize(words);
    for (std::size_t n = 0; n < places.size(); ++n) {
      boxes[n / 64].hold(places[n]);
      if (n % 64 == 0 && n > 0) boxes[n / 64 - 1].hold(places[n]);
    }
    reach = length(nodes.front().at - middle);
    for (const Vector2 place : places) reach = std::max(reach, length(place - middle));
    for (CurveBox& part : boxes) {
      part.widen(sag);
      box.hold(part.low);
      box.hold(part.high);
    }
  }

  /// Places relative to `origin`, which keeps those near to it exact in single precision. Padding lies at the last node.
  void center(Vector2 origin, std::vector<float>& to_x, std::vector<float>& to_z) const {
    for (std::size_t n = 0; n < 64 * words; ++n) {
      const Vector2 place = places[std::min(n, places.size() - 1)] - origin;
      to_x[n] = static_cast<float>(place.x);
      to_z[n] = static_cast<float>(place.z);
    }
  }

  [[nodiscard]] NodeRow row(const std::vector<float>& with_x, const std::vector<float>& with_z) const {
    return {with_x.data(), with_z.data(), tangent_x.data(), tangent_z.data(), words};
  }

  std::size_t words = 0;
  Vector2 middle;
  CurveBox box;
  std::vector<CurveBox> boxes;  // of the pieces that begin in a word
  double sag = 0.0;             // of any piece, m
  double reach = 0.0;           // of nodes from `middle`, m
  std::vector<Vector2> places;
  std::vector<Vector2> tangents;      // of length 1
  std::vector<CurvePiece> pieces;     // from a node to the next one
  std::vector<std::uint64_t> joined;  // bit n: a piece leads from node n to the next
  std::vector<float> x, z;            // relative to `middle`
  std::vector<float> tangent_x, tangent_z;
};

}  // namespace echoform::rays
