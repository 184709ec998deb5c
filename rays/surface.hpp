// A surface of the part: a curve in the plane of x and z, extruded along y. It has two sides: (-dz, dx), which is below it where
// it runs along x, and the other one, above. A front surface has the part below it, a backwall above it.
//
// A surface is data. Kinds of surfaces (plane, cylinder, profile ...) are ways to make that data: rays/surface_kind.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rays/curve.hpp"

namespace echoform {

/// A place on a surface: the segment and t within it.
struct SurfacePlace {
  std::uint32_t segment = 0;
  double t = 0.0;
};

/// Places at which searches begin; neighbours in the list are neighbours on the surface, and between two of one segment the
/// curve turns by at most `node_turn`.
struct SurfaceNode {
  SurfacePlace place;
  Vector2 at;
  /// Of length 1. Both nodes of a smooth joint have one, so that a slope's sign cannot turn unseen between them; 0 where the
  /// surface is points.
  Vector2 tangent{};
};

inline constexpr double node_turn = 0.06;  ///< radians

class Surface {
 public:
  /// Joins segments end to end. `name` is for messages ("[surface]"). Throws InputError if there is none, a number is not finite,
  /// a segment is shorter than 1 nm, ends do not meet within 1 um, or the curve crosses itself.
  Surface(std::string name, std::vector<Segment> segments);

  /// Points instead of a curve: rays go over one of them, the one of least time, whatever Snell's law says. For geometries
  /// that are given as samples. Throws InputError for fewer than two.
  static Surface sampled(std::string name, std::vector<Vector2> points);

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  [[nodiscard]] const std::vector<SurfaceNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] bool is_sampled() const noexcept { return sampled_; }
  /// One straight segment.
  [[nodiscard]] bool plane() const noexcept { return !sampled_ && segments_.size() == 1 && segments_.front().straight(); }
  /// Whether a straight line can meet it more than twice: then paths are checked for shadow.
  [[nodiscard]] bool shadows() const noexcept { return shadows_; }
  /// Whether the curve ends where it begins.
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// Whether the tangent goes on without a jump from segment `segment` to the one after.
  [[nodiscard]] bool smooth_after(std::uint32_t segment) const { return smooth_[segment]; }

  [[nodiscard]] CurvePoint point(SurfacePlace place) const { return segments_[place.segment].point(place.t); }

  /// Distance of `from` from the surface, by the straight ways between nodes; positive below it. Beyond an end the chord there
  /// goes on as far as sides are concerned.
  [[nodiscard]] double signed_distance(Vector2 from) const;
  /// Whether the straight way between two points meets the surface, but at its ends, if these are places of the surface. Between
  /// nodes the curve counts as straight: off by less than a hundredth of their distance.
  [[nodiscard]] bool crosses(Vector2 from, Vector2 to) const;
  /// The same of the chord from node `node` to the next one alone.
  [[nodiscard]] bool crosses_chord(std::size_t node, Vector2 from, Vector2 to) const;

 private:
  Surface() = default;
  /// Returns how far the curve turns on the whole, in radians.
  double find_nodes();
  void find_tangents();
  void find_turns();
  /// Whether the way from node `node` to the next is part of the surface, and no joint at which both are one place.
  [[nodiscard]] bool chord(std::size_t node) const;
  void check_crossing() const;

  std::string name_;
  std::vector<Segment> segments_;
  std::vector<SurfaceNode> nodes_;
  std::vector<std::uint32_t> chords_;  ///< nodes from which one goes to the next
  std::vector<Vector2> turns_;         ///< by node, the sum of the directions of both chords that meet there
  std::vector<bool> smooth_;
  bool sampled_ = false;
  bool shadows_ = false;
  bool closed_ = false;
};

}  // namespace echoform
