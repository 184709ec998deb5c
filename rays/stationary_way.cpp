#include "rays/stationary_way.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "rays/triangle_mesh.hpp"

namespace echoform::rays {
namespace {

constexpr std::size_t most_unknowns = 2 * most_interfaces;
/// The limit is high because over small triangles places move from one triangle to the next.
constexpr int most_newton_steps = 400;
/// Newton steps shorter than this many metres end a search; the error is of the order of their square.
constexpr double at_rest = 1e-9;
/// Distance between the places whose normals give a curvature.
constexpr double apart = 1e-6;  // m

using Unknowns = std::array<double, most_unknowns>;
using Matrix = std::array<Unknowns, most_unknowns>;

/// A place, and the directions in which it may move: a tangent plane, on triangles also an edge or none.
struct Stand {
  SpatialFoot foot;
  Vector3 one;
  Vector3 two;
  int free = 2;
  // The rest is for triangles:
  std::uint32_t face = 0;
  int edge = 0;    ///< of the face, free = 1
  int corner = 0;  ///< of the face, free = 0
};

Stand stand_at(const SpatialFoot& foot) {
  const Vector3 n = foot.normal;
  const Vector3 one = unit_of(cross(n, std::abs(n.x) < 0.8 ? Vector3{1.0, 0.0, 0.0} : Vector3{0.0, 1.0, 0.0}));
  return {foot, one, cross(n, one)};
}

/// Replaces `matrix` by L with L L^T = matrix + shift; false where there is no such L.
bool factor(Matrix& matrix, std::size_t size, double shift) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j] + (i == j ? shift : 0.0);
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      if (i == j) {
        if (!(sum > 0.0)) return false;
        matrix[i][i] = std::sqrt(sum);
      } else {
        matrix[i][j] = sum / matrix[j][j];
      }
    }
  }
  return true;
}

Unknowns solve(const Matrix& factors, std::size_t size, Unknowns right) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= factors[i][k] * right[k];
    right[i] /= factors[i][i];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) right[i] -= factors[k][i] * right[k];
    right[i] /= factors[i][i];
  }
  return right;
}

/// Direction in the plane of a triangle, perpendicular to its edge: into the triangle.
Vector3 into_face(const TriangleMesh& mesh, std::uint32_t face, int edge) {
  return cross(unit_of(mesh.corner(face, (edge + 1) % 3) - mesh.corner(face, edge)), mesh.inwards(face));
}

Stand on_face(const TriangleMesh& mesh, std::uint32_t face, Vector3 at) {
  Stand stand = stand_at({at, mesh.inwards(face)});
  stand.face = face;
  return stand;
}

Stand on_edge(const TriangleMesh& mesh, std::uint32_t face, int edge, Vector3 at) {
  Stand stand;
  stand.foot = {at, unit_of(mesh.inwards(face) + mesh.inwards(mesh.neighbour(face, edge)))};
  stand.one = unit_of(mesh.corner(face, (edge + 1) % 3) - mesh.corner(face, edge));
  stand.free = 1;
  stand.face = face;
  stand.edge = edge;
  return stand;
}

Stand on_corner(const TriangleMesh& mesh, std::uint32_t face, int corner) {
  Stand stand;
  stand.foot = {mesh.corner(face, corner), unit_of(mesh.inwards_at(mesh.face(face)[static_cast<std::size_t>(corner)]))};
  stand.free = 0;
  stand.face = face;
  stand.corner = corner;
  return stand;
}

/// The number of this edge in the neighbour.
int same_edge(const TriangleMesh& mesh, std::uint32_t face, int edge) {
  const std::uint32_t other = mesh.neighbour(face, edge);
  const std::uint32_t to = mesh.face(face)[static_cast<std::size_t>((edge + 1) % 3)];
  for (int k = 0; k < 3; ++k) {
    if (mesh.face(other)[static_cast<std::size_t>(k)] == to) return k;
  }
  return 0;
}

/// Files have triangles with hardly any height where an edge was split and its neighbour was not. Their normals mean nothing.
bool sliver(const TriangleMesh& mesh, std::uint32_t face) {
  constexpr double least_height = 1e-7;  // m; ten times what a file of floats rounds 100 mm by
  if (mesh.inwards(face) == Vector3{}) return true;
  const Vector3 one = mesh.corner(face, 1) - mesh.corner(face, 0);
  const Vector3 other = mesh.corner(face, 2) - mesh.corner(face, 0);
  const double longest = std::max({length(one), length(other), length(other - one)});
  return length(cross(one, other)) < least_height * longest;
}

/// An edge of a face.
struct Side {
  std::uint32_t face = 0;
  int edge = 0;
};

/// The side beyond an edge at one of its places: the neighbour's edge, or behind slivers the edge of the first face that is no
/// sliver.
Side beyond(const TriangleMesh& mesh, Side from, Vector3 at) {
  constexpr int most_slivers = 16;
  Side side{mesh.neighbour(from.face, from.edge), same_edge(mesh, from.face, from.edge)};
  for (int step = 0; step < most_slivers && sliver(mesh, side.face); ++step) {
    // The path continues over the sliver's other edge that is nearer to the place, or over the longer one if both are equally
    // near.
    const auto length_of = [&](int edge) {
      return length(mesh.corner(side.face, (edge + 1) % 3) - mesh.corner(side.face, edge));
    };
    const auto beside = [&](int edge) {
      return length(mesh.corner(side.face, (edge + 1) % 3) - at) + length(at - mesh.corner(side.face, edge)) - length_of(edge);
    };
    const int one = (side.edge + 1) % 3;
    const int other = (side.edge + 2) % 3;
    const double apart_by = beside(one) - beside(other);
    const bool alike = std::abs(apart_by) < 1e-9;
    const int next = alike ? (length_of(one) >= length_of(other) ? one : other) : apart_by < 0.0 ? one : other;
    side = {mesh.neighbour(side.face, next), same_edge(mesh, side.face, next)};
  }
  return side;
}

/// The result of TriangleMesh::sharp_edge(), past slivers.
bool sharp_beyond(const TriangleMesh& mesh, Side from, Vector3 at) {
  static const double least_cosine = std::cos(TriangleMesh::sharp_turn);
  if (sliver(mesh, from.face)) return false;
  const Side other = beyond(mesh, from, at);
  return !sliver(mesh, other.face) && dot(mesh.inwards(from.face), mesh.inwards(other.face)) < least_cosine;
}

/// The part of a step that a place on a triangle or an edge can move, and where it stands then if that is not the whole step.
struct Way {
  double part = 1.0;
  Stand stand;
};

Way way_on(const TriangleMesh& mesh, const Stand& stand, Vector3 by) {
  Way way;
  const Vector3 at = stand.foot.at;
  if (stand.free == 1) {
    for (const int end : {stand.edge, (stand.edge + 1) % 3}) {
      const double room = dot(mesh.corner(stand.face, end) - at, by);
      const double whole = dot(by, by);
      if (room >= whole || !(whole > 0.0) || (end == stand.edge) == (dot(by, stand.one) > 0.0)) continue;
      way.part = std::max(0.0, room / whole);
      way.stand = on_corner(mesh, stand.face, end);
    }
    return way;
  }
  for (int edge = 0; stand.free == 2 && edge < 3; ++edge) {
    const Vector3 into = into_face(mesh, stand.face, edge);
    const double leaves = -dot(by, into);
    if (!(leaves > 0.0)) continue;
    const double part = std::max(0.0, dot(at - mesh.corner(stand.face, edge), into)) / leaves;
    if (part >= way.part) continue;
    way.part = part;
    way.stand = on_edge(mesh, stand.face, edge, at + part * by);
  }
  return way;
}

class Search {
 public:
  Search(Vector3 from, Vector3 to, std::span<const SpaceShape> shapes, std::span<const double> slowness, double farthest)
      : from_(from), to_(to), shapes_(shapes), slowness_(slowness), farthest_(farthest), size_(2 * shapes.size()) {}

  using Stands = std::array<Stand, most_interfaces>;

  [[nodiscard]] Vector3 place(const Stands& stands, std::size_t end) const {
    return end == 0 ? from_ : end > shapes_.size() ? to_ : stands[end - 1].foot.at;
  }

  [[nodiscard]] double time_over(const Stands& stands) const {
    double time = 0.0;
    for (std::size_t leg = 0; leg <= shapes_.size(); ++leg)
      time += slowness_[leg] * length(place(stands, leg + 1) - place(stands, leg));
    return time;
  }

  /// Slopes of the time along the tangents, and their derivatives.
  void expand(const Stands& stands, Unknowns& slopes, Matrix& bends) {
    slopes = {};
    bends = {};
    std::array<Vector3, most_interfaces>& pulls = pulls_;
    pulls = {};
    for (std::size_t leg = 0; leg <= shapes_.size(); ++leg) {
      const Vector3 way = place(stands, leg + 1) - place(stands, leg);
      const double far = std::sqrt(dot(way, way) + 1e-24);  // a picometre at least: an end may lie on a surface
      const Vector3 along = (1.0 / far) * way;
      const double weight = slowness_[leg] / far;
      const auto across = [&](Vector3 a, Vector3 b) { return weight * (dot(a, b) - dot(a, along) * dot(b, along)); };
      const auto tangent = [&](std::size_t k, std::size_t which) { return which == 0 ? stands[k].one : stands[k].two; };
      if (leg > 0) pulls[leg - 1] = pulls[leg - 1] - slowness_[leg] * along;
      if (leg < shapes_.size()) pulls[leg] = pulls[leg] + slowness_[leg] * along;
      for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t b = 0; b < 2; ++b) {
          if (leg > 0) bends[2 * leg - 2 + a][2 * leg - 2 + b] += across(tangent(leg - 1, a), tangent(leg - 1, b));
          if (leg < shapes_.size()) bends[2 * leg + a][2 * leg + b] += across(tangent(leg, a), tangent(leg, b));
          if (leg > 0 && leg < shapes_.size()) {
            const double both = across(tangent(leg, a), tangent(leg - 1, b));
            bends[2 * leg + a][2 * leg - 2 + b] -= both;
            bends[2 * leg - 2 + b][2 * leg + a] -= both;
          }
        }
      }
    }
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const Stand& stand = stands[k];
      slopes[2 * k] = dot(pulls[k], stand.one);
      slopes[2 * k + 1] = dot(pulls[k], stand.two);
      if (shapes_[k].mesh() != nullptr) {
        // Directions that are not free have slope 0; a bend of their own excludes them.
        const double bend = (slowness_[k] + slowness_[k + 1]) / farthest_;
        if (stand.free < 2) bends[2 * k + 1][2 * k + 1] = bend;
        if (stand.free < 1) bends[2 * k][2 * k] = bend;
        continue;
      }
      // Where a surface's normal changes by S da over a step da, places bend away from the tangent plane by -S da^2 / 2.
      const Vector3 turn_one = (1.0 / apart) * (shapes_[k].foot(stand.foot.at + apart * stand.one).normal - stand.foot.normal);
      const Vector3 turn_two = (1.0 / apart) * (shapes_[k].foot(stand.foot.at + apart * stand.two).normal - stand.foot.normal);
      const double pull = dot(pulls[k], stand.foot.normal);
      const double mixed = 0.5 * (dot(turn_one, stand.two) + dot(turn_two, stand.one));
      bends[2 * k][2 * k] -= pull * dot(turn_one, stand.one);
      bends[2 * k + 1][2 * k + 1] -= pull * dot(turn_two, stand.two);
      bends[2 * k][2 * k + 1] -= pull * mixed;
      bends[2 * k + 1][2 * k] -= pull * mixed;
    }
  }

  /// The stands after moving along the step as far as all places can go on their triangles.
  [[nodiscard]] Stands moved(const Stands& stands, const Unknowns& by) const {
    const auto step = [&](std::size_t k) { return by[2 * k] * stands[k].one + by[2 * k + 1] * stands[k].two; };
    Way least;
    std::size_t first = shapes_.size();
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (shapes_[k].mesh() == nullptr) continue;
      const Way way = way_on(*shapes_[k].mesh(), stands[k], step(k));
      if (!(way.part < least.part)) continue;
      least = way;
      first = k;
    }
    Stands next = stands;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const Vector3 to = stands[k].foot.at + least.part * step(k);
      if (k == first) {
        next[k] = least.stand;
      } else if (shapes_[k].mesh() != nullptr) {
        next[k].foot.at = to;
      } else {
        next[k] = stand_at(shapes_[k].foot(to));
      }
    }
    return next;
  }

  /// Called where the time has no slope along the free directions. Lets one place move into the triangle or along the edge in
  /// which the time falls most steeply. Returns whether there is one.
  [[nodiscard]] bool let_go(Stands& stands) const {
    std::size_t chosen = shapes_.size();
    Stand next;
    double steepest = -1e-9;  // of the slowness; below it rounding decides
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const TriangleMesh* mesh = shapes_[k].mesh();
      const Stand& stand = stands[k];
      if (mesh == nullptr || stand.free == 2) continue;
      const auto offer = [&](Vector3 way, const Stand& to) {
        const double slope = dot(pulls_[k], way) / (slowness_[k] + slowness_[k + 1]);
        if (!(slope < steepest)) return;
        steepest = slope;
        chosen = k;
        next = to;
      };
      if (stand.free == 1) {
        const Side other = beyond(*mesh, {stand.face, stand.edge}, stand.foot.at);
        offer(into_face(*mesh, stand.face, stand.edge), on_face(*mesh, stand.face, stand.foot.at));
        offer(into_face(*mesh, other.face, other.edge), on_face(*mesh, other.face, stand.foot.at));
        continue;
      }
      const std::uint32_t place = mesh->face(stand.face)[static_cast<std::size_t>(stand.corner)];
      for (const std::uint32_t face : mesh->around(place)) {
        const TriangleMesh::Corners& corners = mesh->face(face);
        const int which = corners[0] == place ? 0 : corners[1] == place ? 1 : 2;
        if (sliver(*mesh, face)) {
          // The corner may lie on the edge of a face whose corners do not include it.
          const int far_edge = (which + 1) % 3;
          const Vector3 one = mesh->corner(face, far_edge) - stand.foot.at;
          const Vector3 two = mesh->corner(face, (far_edge + 1) % 3) - stand.foot.at;
          if (dot(one, two) >= 0.0) continue;
          const Side other = beyond(*mesh, {face, far_edge}, stand.foot.at);
          offer(into_face(*mesh, other.face, other.edge), on_face(*mesh, other.face, stand.foot.at));
          continue;
        }
        offer(unit_of(mesh->corner(face, (which + 1) % 3) - stand.foot.at), on_edge(*mesh, face, which, stand.foot.at));
        // The direction of steepest descent in the plane, where it leads into the triangle.
        const Vector3 down = dot(pulls_[k], mesh->inwards(face)) * mesh->inwards(face) - pulls_[k];
        if (!(length(down) > 0.0) || dot(down, into_face(*mesh, face, which)) < 0.0 ||
            dot(down, into_face(*mesh, face, (which + 2) % 3)) < 0.0)
          continue;
        offer(unit_of(down), on_face(*mesh, face, stand.foot.at));
      }
    }
    if (chosen == shapes_.size()) return false;
    stands[chosen] = next;
    return true;
  }

  /// Whether a place stands on a sharp edge: edges at which triangles meet sharply are edges of the part.
  [[nodiscard]] bool sharp(const Stands& stands) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const TriangleMesh* mesh = shapes_[k].mesh();
      const Stand& stand = stands[k];
      if (mesh == nullptr || stand.free == 2) continue;
      if (stand.free == 1) {
        if (sharp_beyond(*mesh, {stand.face, stand.edge}, stand.foot.at)) return true;
        continue;
      }
      const std::uint32_t place = mesh->face(stand.face)[static_cast<std::size_t>(stand.corner)];
      for (const std::uint32_t face : mesh->around(place)) {
        const TriangleMesh::Corners& corners = mesh->face(face);
        const int which = corners[0] == place ? 0 : corners[1] == place ? 1 : 2;
        for (const int edge : {which, (which + 2) % 3}) {
          const Vector3 other_end = mesh->corner(face, edge == which ? (which + 1) % 3 : edge);
          if (sharp_beyond(*mesh, {face, edge}, stand.foot.at + 1e-3 * (other_end - stand.foot.at))) return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] std::optional<SpaceWay> run(std::span<const Vector3> near) {
    const double farthest = farthest_;
    Stands stands;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (const TriangleMesh* mesh = shapes_[k].mesh()) {
        const TriangleMesh::Nearest nearest = mesh->nearest(near[k]);
        stands[k] = on_face(*mesh, nearest.face, nearest.at);
      } else {
        stands[k] = stand_at(shapes_[k].foot(near[k]));
      }
    }
    double time = time_over(stands);
    Unknowns slopes;
    Matrix bends;
    expand(stands, slopes, bends);
    // Levenberg's shift keeps to faster paths (1944, Quarterly of Applied Mathematics 2, 164-168).
    double shift = 0.0;
    for (int step = 0; step < most_newton_steps; ++step) {
      double largest = 0.0;
      for (std::size_t i = 0; i < size_; ++i) largest = std::max(largest, std::abs(bends[i][i]));
      Matrix factors = bends;
      if (!factor(factors, size_, shift)) {
        shift = std::max(4.0 * shift, 1e-2 * largest);
        continue;
      }
      Unknowns by = solve(factors, size_, slopes);
      double longest = 0.0;
      for (std::size_t i = 0; i < size_; ++i) longest = std::max(longest, std::abs(by[i]));
      const double scale = longest > farthest ? -farthest / longest : -1.0;
      for (double& one : by) one *= scale;
      const Stands next = moved(stands, by);
      const double reached = time_over(next);
      constexpr double rounding = 1e-14;  // of a sum of legs, and of feet
      if (shift == 0.0 && longest <= at_rest) {
        if (!arrived(stands, next, by)) return std::nullopt;
        if (let_go(stands)) {
          expand(stands, slopes, bends);
          continue;
        }
        if (sharp(stands)) return std::nullopt;
        SpaceWay way{reached, {}};
        for (std::size_t k = 0; k < shapes_.size(); ++k) way.places[k] = next[k].foot;
        return way;
      }
      if (reached <= time * (1.0 + rounding)) {
        stands = next;
        time = reached;
        shift = shift > 1e-6 * largest ? 0.2 * shift : 0.0;
        expand(stands, slopes, bends);
      } else if (shift > 1e12 * largest) {
        return std::nullopt;  // at a corner or an edge
      } else {
        shift = std::max(4.0 * shift, 1e-3 * largest);
      }
    }
    return std::nullopt;
  }

 private:
  /// Whether places went where the step led: beyond a surface's end the feet stay behind.
  [[nodiscard]] bool arrived(const Stands& stands, const Stands& next, const Unknowns& by) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (shapes_[k].mesh() != nullptr) continue;
      const Vector3 went = next[k].foot.at - stands[k].foot.at;
      if (std::abs(dot(went, stands[k].one) - by[2 * k]) > at_rest ||
          std::abs(dot(went, stands[k].two) - by[2 * k + 1]) > at_rest)
        return false;
    }
    return true;
  }

  Vector3 from_;
  Vector3 to_;
  std::span<const SpaceShape> shapes_;
  std::span<const double> slowness_;
  double farthest_;
  std::size_t size_;
  std::array<Vector3, most_interfaces> pulls_{};  // gradients of the time by place, from the last expansion
};

}  // namespace

std::optional<SpaceWay> stationary_way(Vector3 from, Vector3 to, std::span<const SpaceShape> shapes,
                                       std::span<const double> slowness, std::span<const Vector3> near, double farthest) {
  return Search(from, to, shapes, slowness, farthest).run(near);
}

}  // namespace echoform::rays
