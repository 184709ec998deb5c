#include "rays/triangle_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::uint32_t box_triangles = 4;
constexpr double end_margin = 1e-9;  // m

std::string edge_text(Vector3 from, Vector3 to) {
  const auto text = [](Vector3 at) { return fmt::format("({:.4g}, {:.4g}, {:.4g})", 1e3 * at.x, 1e3 * at.y, 1e3 * at.z); };
  return fmt::format("from {} to {} mm", text(from), text(to));
}

std::uint64_t edge_key(std::uint32_t from, std::uint32_t to) {
  return (std::uint64_t{from} << 32U) | to;
}

double coordinate(Vector3 at, int axis) {
  return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}

/// Nearest place of a triangle, as weights of the corners. The weights are 0 for corners that the place does not touch: they show
/// on what it lies (Ericson 2005, Real-Time Collision Detection, 5.1.5).
std::array<double, 3> nearest_weights(Vector3 p, Vector3 a, Vector3 b, Vector3 c) {
  const Vector3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0.0 && d2 <= 0.0) return {1.0, 0.0, 0.0};
  const Vector3 bp = p - b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0.0 && d4 <= d3) return {0.0, 1.0, 0.0};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return {1.0 - d1 / (d1 - d3), d1 / (d1 - d3), 0.0};
  const Vector3 cp = p - c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0.0 && d5 <= d6) return {0.0, 0.0, 1.0};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return {1.0 - d2 / (d2 - d6), 0.0, d2 / (d2 - d6)};
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
    const double part = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return {0.0, 1.0 - part, part};
  }
  const double whole = va + vb + vc;
  return {va / whole, vb / whole, vc / whole};
}

/// Whether the box and the path from `from` along `along` share a place.
bool way_meets(const MeshBox& box, Vector3 from, Vector3 along) {
  double begin = 0.0;
  double end = 1.0;
  for (int axis = 0; axis < 3; ++axis) {
    const double at = coordinate(from, axis);
    const double step = coordinate(along, axis);
    const double low = coordinate(box.low, axis) - end_margin;
    const double high = coordinate(box.high, axis) + end_margin;
    if (step == 0.0) {
      if (at < low || at > high) return false;
      continue;
    }
    const double one = (low - at) / step;
    const double other = (high - at) / step;
    begin = std::max(begin, std::min(one, other));
    end = std::min(end, std::max(one, other));
  }
  return begin <= end;
}

}  // namespace

double MeshBox::squared_distance(Vector3 from) const {
  const double x = std::max({low.x - from.x, from.x - high.x, 0.0});
  const double y = std::max({low.y - from.y, from.y - high.y, 0.0});
  const double z = std::max({low.z - from.z, from.z - high.z, 0.0});
  return x * x + y * y + z * z;
}

TriangleMesh::TriangleMesh(const std::string& name, const std::vector<std::array<Vector3, 3>>& triangles) {
  weld(name, triangles);
  if (faces_.size() < 4) {
    throw InputError(name, fmt::format("{} triangles", faces_.size()), "a closed surface, which takes at least 4");
  }
  find_neighbours(name);
  turn_outwards();
  find_directions();
  if (std::all_of(inwards_.begin(), inwards_.end(), [](Vector3 inwards) { return inwards == Vector3{}; })) {
    throw InputError(name, "triangles without area", "a surface around a part");
  }
  find_boxes();
}

/// Merges corners at the same place. Triangles that collapse to an edge are dropped.
void TriangleMesh::weld(const std::string& name, const std::vector<std::array<Vector3, 3>>& triangles) {
  struct Hash {
    std::size_t operator()(Vector3 at) const {
      const std::hash<double> of;
      return of(at.x + 0.0) ^ (of(at.y + 0.0) * 0x9E3779B97F4A7C15U) ^ (of(at.z + 0.0) * 0xC2B2AE3D27D4EB4FU);
    }
  };
  std::unordered_map<Vector3, std::uint32_t, Hash> known;
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    Corners face{};
    for (std::size_t which = 0; which < 3; ++which) {
      const Vector3 at = triangles[k][which];
      if (!std::isfinite(at.x) || !std::isfinite(at.y) || !std::isfinite(at.z)) {
        throw InputError(fmt::format("{}, triangle {}", name, k), "a number that is not finite", "finite coordinates");
      }
      const auto [found, is_new] = known.try_emplace(at, static_cast<std::uint32_t>(places_.size()));
      if (is_new) places_.push_back(at);
      face[which] = found->second;
    }
    if (face[0] != face[1] && face[1] != face[2] && face[2] != face[0]) faces_.push_back(face);
  }
}

void TriangleMesh::find_neighbours(const std::string& name) {
  std::unordered_map<std::uint64_t, std::uint32_t> owner;
  for (std::uint32_t k = 0; k < faces_.size(); ++k) {
    for (std::size_t edge = 0; edge < 3; ++edge) {
      const std::uint32_t from = faces_[k][edge];
      const std::uint32_t to = faces_[k][(edge + 1) % 3];
      if (owner.try_emplace(edge_key(from, to), k).second) continue;
      throw InputError(name, fmt::format("two triangles on one side of the edge {}", edge_text(places_[from], places_[to])),
                       "triangles that are turned alike, two at every edge");
    }
  }
  neighbours_.resize(faces_.size());
  std::size_t open = 0;
  std::string first;
  for (std::uint32_t k = 0; k < faces_.size(); ++k) {
    for (std::size_t edge = 0; edge < 3; ++edge) {
      const std::uint32_t from = faces_[k][edge];
      const std::uint32_t to = faces_[k][(edge + 1) % 3];
      const auto other = owner.find(edge_key(to, from));
      if (other != owner.end()) {
        neighbours_[k][edge] = other->second;
      } else if (open++ == 0) {
        first = edge_text(places_[from], places_[to]);
      }
    }
  }
  if (open > 0) {
    throw InputError(name, fmt::format("a surface that is not closed: {} edges of one triangle alone, the first {}", open, first),
                     "a closed surface, two triangles at every edge");
  }
}

void TriangleMesh::turn_outwards() {
  double volume = 0.0;  // six times the volume
  const Vector3 base = places_.front();
  for (const Corners& face : faces_) {
    volume += dot(cross(places_[face[0]] - base, places_[face[1]] - base), places_[face[2]] - base);
  }
  if (volume >= 0.0) return;
  for (std::size_t k = 0; k < faces_.size(); ++k) {
    std::swap(faces_[k][1], faces_[k][2]);
    std::swap(neighbours_[k][0], neighbours_[k][2]);
  }
}

void TriangleMesh::find_directions() {
  inwards_.resize(faces_.size());
  around_.resize(places_.size());
  inwards_at_.resize(places_.size());
  for (std::uint32_t k = 0; k < faces_.size(); ++k) {
    const Vector3 out = cross(corner(k, 1) - corner(k, 0), corner(k, 2) - corner(k, 0));
    const double twice_area = length(out);
    // Slivers without area have neighbours along their full length, which determine the side.
    if (twice_area > 0.0) inwards_[k] = (-1.0 / twice_area) * out;
    for (int which = 0; which < 3; ++which) {
      const Vector3 one = corner(k, (which + 1) % 3) - corner(k, which);
      const Vector3 other = corner(k, (which + 2) % 3) - corner(k, which);
      const std::uint32_t at = faces_[k][static_cast<std::size_t>(which)];
      around_[at].push_back(k);
      inwards_at_[at] = inwards_at_[at] + std::atan2(length(cross(one, other)), dot(one, other)) * inwards_[k];
    }
  }
}

bool TriangleMesh::sharp_edge(std::uint32_t k, int edge) const {
  static const double least_cosine = std::cos(sharp_turn);
  const Vector3 other = inwards_[neighbour(k, edge)];
  return other != Vector3{} && dot(inwards_[k], other) < least_cosine;
}

void TriangleMesh::find_boxes() {
  order_.resize(faces_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  boxes_.emplace_back();
  divide(0, 0, static_cast<std::uint32_t>(order_.size()));
}

void TriangleMesh::divide(std::size_t box, std::uint32_t first, std::uint32_t last) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Vector3 low{far, far, far};
  Vector3 high{-far, -far, -far};
  for (std::uint32_t k = first; k < last; ++k) {
    for (int which = 0; which < 3; ++which) {
      const Vector3 at = corner(order_[k], which);
      low = {std::min(low.x, at.x), std::min(low.y, at.y), std::min(low.z, at.z)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y), std::max(high.z, at.z)};
    }
  }
  boxes_[box].low = low;
  boxes_[box].high = high;
  if (last - first <= box_triangles) {
    boxes_[box].first = first;
    boxes_[box].count = last - first;
    return;
  }
  const Vector3 size = high - low;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const std::uint32_t middle = first + (last - first) / 2;
  const auto along = [&](std::uint32_t k) {
    return coordinate(corner(k, 0), axis) + coordinate(corner(k, 1), axis) + coordinate(corner(k, 2), axis);
  };
  std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last,
                   [&](std::uint32_t a, std::uint32_t b) { return along(a) < along(b); });
  const std::size_t child = boxes_.size();
  boxes_[box].first = static_cast<std::uint32_t>(child);
  boxes_.resize(child + 2);
  divide(child, first, middle);
  divide(child + 1, middle, last);
}

TriangleMesh::Nearest TriangleMesh::nearest(Vector3 from) const {
  Nearest found;
  double least = std::numeric_limits<double>::infinity();
  std::array<std::uint32_t, 64> waiting{};
  std::size_t count = 0;
  waiting[count++] = 0;
  while (count > 0) {
    const MeshBox& box = boxes_[waiting[--count]];
    if (!(box.squared_distance(from) < least)) continue;
    if (box.count == 0) {
      // The nearer box is searched first.
      const bool swap = boxes_[box.first].squared_distance(from) < boxes_[box.first + 1].squared_distance(from);
      waiting[count++] = box.first + (swap ? 1 : 0);
      waiting[count++] = box.first + (swap ? 0 : 1);
      continue;
    }
    for (std::uint32_t k = box.first; k < box.first + box.count; ++k) {
      const std::uint32_t face = order_[k];
      if (inwards_[face] == Vector3{}) continue;
      const std::array<double, 3> weights = nearest_weights(from, corner(face, 0), corner(face, 1), corner(face, 2));
      const Vector3 at = weights[0] * corner(face, 0) + weights[1] * corner(face, 1) + weights[2] * corner(face, 2);
      const double squared = dot(from - at, from - at);
      if (!(squared < least)) continue;
      least = squared;
      found = {face, at, weights};
    }
  }
  return found;
}

double TriangleMesh::signed_distance(Vector3 from) const {
  const Nearest place = nearest(from);
  const auto touched = std::count_if(place.weights.begin(), place.weights.end(), [](double weight) { return weight > 0.0; });
  Vector3 into = inwards_[place.face];  // into the part
  for (int which = 0; which < 3; ++which) {
    const auto here = static_cast<std::size_t>(which);
    if (touched == 1 && place.weights[here] > 0.0) into = inwards_at_[faces_[place.face][here]];
    if (touched == 2 && place.weights[here] == 0.0)
      into = inwards_[place.face] + inwards_[neighbour(place.face, (which + 1) % 3)];
  }
  const Vector3 way = from - place.at;
  return dot(way, into) >= 0.0 ? length(way) : -length(way);
}

bool TriangleMesh::crosses(Vector3 from, Vector3 to) const {
  const Vector3 along = to - from;
  const double whole = length(along);
  if (!(whole > 2.0 * end_margin)) return false;
  const double margin = end_margin / whole;
  std::array<std::uint32_t, 64> waiting{};
  std::size_t count = 0;
  waiting[count++] = 0;
  while (count > 0) {
    const MeshBox& box = boxes_[waiting[--count]];
    if (!way_meets(box, from, along)) continue;
    if (box.count == 0) {
      waiting[count++] = box.first;
      waiting[count++] = box.first + 1;
      continue;
    }
    for (std::uint32_t k = box.first; k < box.first + box.count; ++k) {
      // Moeller and Trumbore 1997, Journal of Graphics Tools 2, 21-28.
      const std::uint32_t face = order_[k];
      const Vector3 one = corner(face, 1) - corner(face, 0);
      const Vector3 other = corner(face, 2) - corner(face, 0);
      const Vector3 turned = cross(along, other);
      const double scale = dot(one, turned);
      if (scale == 0.0) continue;
      const Vector3 begin = from - corner(face, 0);
      const double u = dot(begin, turned) / scale;
      const Vector3 lifted = cross(begin, one);
      const double v = dot(along, lifted) / scale;
      if (u < 0.0 || v < 0.0 || u + v > 1.0) continue;
      const double t = dot(other, lifted) / scale;
      if (t > margin && t < 1.0 - margin) return true;
    }
  }
  return false;
}

}  // namespace echoform
