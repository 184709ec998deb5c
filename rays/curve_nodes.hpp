// A curve's nodes in arrays, as the searches of curve_field.hpp want them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rays/curve_bounds.hpp"
#include "rays/curve_piece.hpp"
#include "rays/field_kernels.hpp"
#include "rays/surface.hpp"

namespace echoform::rays {

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
