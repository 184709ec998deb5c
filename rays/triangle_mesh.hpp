// A closed surface of triangles: searches for the nearest place and for obstacles on a path, and the boxes that make these
// searches fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/vector3.hpp"

namespace echoform {

/// Box around some triangles; children, or triangles where it has none.
struct MeshBox {
  Vector3 low;
  Vector3 high;
  std::uint32_t first = 0;  ///< triangle in order(), or the first of two boxes that follow each other
  std::uint32_t count = 0;  ///< of triangles; 0: two boxes

  [[nodiscard]] double squared_distance(Vector3 from) const;
};

class TriangleMesh {
 public:
  using Corners = std::array<std::uint32_t, 3>;

  /// Edges at which the surface turns by more, in radians, are edges of the part: what is flatter belongs to a curved surface
  /// that the triangles stand for.
  static constexpr double sharp_turn = 0.5236;

  /// Corners of triangles, all counter-clockwise as seen from outside, or all clockwise. `name` is for messages. Throws
  /// InputError for a number that is not finite, and unless every edge has two triangles that are turned alike.
  TriangleMesh(const std::string& name, const std::vector<std::array<Vector3, 3>>& triangles);

  [[nodiscard]] std::size_t size() const noexcept { return faces_.size(); }
  [[nodiscard]] const Corners& face(std::uint32_t k) const { return faces_[k]; }
  [[nodiscard]] Vector3 corner(std::uint32_t k, int which) const { return places_[faces_[k][static_cast<std::size_t>(which)]]; }
  /// Unit vector into the part.
  [[nodiscard]] Vector3 inwards(std::uint32_t k) const { return inwards_[k]; }
  /// The triangle on the other side of the edge from corner `edge` of triangle `k` to the next one.
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t k, int edge) const {
    return neighbours_[k][static_cast<std::size_t>(edge)];
  }
  /// The triangles around a corner.
  [[nodiscard]] const std::vector<std::uint32_t>& around(std::uint32_t place) const { return around_[place]; }
  [[nodiscard]] Vector3 place(std::uint32_t place) const { return places_[place]; }
  /// Into the part at a corner: the directions of its triangles, weighted by their angles there. Not of length 1.
  [[nodiscard]] Vector3 inwards_at(std::uint32_t place) const { return inwards_at_[place]; }
  [[nodiscard]] bool sharp_edge(std::uint32_t k, int edge) const;

  struct Nearest {
    std::uint32_t face = 0;
    Vector3 at;
    std::array<double, 3> weights{};  ///< of the face's corners
  };
  /// The place of the mesh nearest to `from`; one of them if there are several.
  [[nodiscard]] Nearest nearest(Vector3 from) const;

  /// Signed distance in metres, positive inside. The directions at the nearest face, edge or corner determine the side
  /// (Baerentzen and Aanaes 2005, IEEE Transactions on Visualization and Computer Graphics 11, 243-253).
  [[nodiscard]] double signed_distance(Vector3 from) const;

  /// Whether the straight way meets a triangle more than 1 nm from both ends.
  [[nodiscard]] bool crosses(Vector3 from, Vector3 to) const;

  /// The first box holds all.
  [[nodiscard]] const std::vector<MeshBox>& boxes() const noexcept { return boxes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }

 private:
  void weld(const std::string& name, const std::vector<std::array<Vector3, 3>>& triangles);
  void find_neighbours(const std::string& name);
  void turn_outwards();
  void find_directions();
  void find_boxes();
  void divide(std::size_t box, std::uint32_t first, std::uint32_t last);

  std::vector<Vector3> places_;
  std::vector<Corners> faces_;
  std::vector<Vector3> inwards_;
  std::vector<Corners> neighbours_;
  std::vector<std::vector<std::uint32_t>> around_;
  std::vector<Vector3> inwards_at_;
  std::vector<MeshBox> boxes_;
  std::vector<std::uint32_t> order_;  // triangles, box by box
};

}  // namespace echoform
