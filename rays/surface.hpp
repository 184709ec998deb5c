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

#include "rays/curve_bounds.hpp"
#include "rays/curve_piece.hpp"

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
  /// A unit vector. Both nodes of a smooth joint have the same tangent, so that the sign change of a slope cannot be missed
  /// between them; 0 if the surface is given by points.
  Vector2 tangent{};
};

inline constexpr double node_turn = 0.06;  ///< radians

/// A piece's slope over its chord, times the chord's length, is less than so many of its sags: 6 of a cubic whose inner control
/// points lie as far to either side, and as much again for the pace at which it goes along.
inline constexpr double steepest_over_sag = 12.0;

/// The place of a surface that is nearest to some other place.
struct SurfaceFoot {
  SurfacePlace place;
  Vector2 at;
  double distance = 0.0;  ///< m; positive below the surface
};

class Surface {
 public:
  /// Joins segments end to end. `name` is for messages ("[surface]"). Throws InputError if there is none, a number is not finite,
  /// a segment is shorter than 1 nm, ends do not meet within 1 um, or the curve crosses itself.
  Surface(std::string name, std::vector<Segment> segments);

  /// Points instead of a curve: a ray passes through the point of minimum time, regardless of Snell's law. For geometries
  /// that are given as samples. Throws InputError for fewer than two points.
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

  /// Node `node`, the next one and the curve between them; a straight way where the surface is points. Nodes that belong to two
  /// segments have none.
  [[nodiscard]] const rays::CurvePiece& piece(std::size_t node) const { return pieces_[node]; }
  /// The longest straight line between neighbouring nodes, m.
  [[nodiscard]] double longest_chord() const noexcept { return longest_chord_; }
  /// The largest distance of the curve between node `node` and the next one from the straight line between them, m.
  [[nodiscard]] double sag(std::size_t node) const { return sags_[node]; }

  /// The place at t on the piece from node `node` to the next one.
  [[nodiscard]] SurfacePlace place_on_piece(std::size_t node, double t) const;
  /// The range of t of that piece, or of its continuation, in which place_on_piece() lies on the segment that contains the
  /// piece.
  [[nodiscard]] rays::PieceReach segment_on_piece(std::size_t node) const;

  /// The nearest place of the curve itself. Beyond an end the tangent there goes on as far as sides are concerned.
  [[nodiscard]] SurfaceFoot foot(Vector2 from) const;
  /// Distance of `from` from the surface, positive below it.
  [[nodiscard]] double signed_distance(Vector2 from) const { return foot(from).distance; }
  /// Whether the straight way between two points crosses the surface, more than 1 nm from either of them. Ends that are places
  /// of the surface are given as such: then only what lies beyond them counts, however flat the way leaves.
  [[nodiscard]] bool crosses(Vector2 from, Vector2 to, const SurfacePlace* from_place = nullptr,
                             const SurfacePlace* to_place = nullptr) const;
  /// The same of the curve from node `node` to the next one alone.
  [[nodiscard]] bool crosses_piece(std::size_t node, const rays::WayOverPiece& way) const;
  /// Whether straight ways along `along` meet the surface once at most, since no two places of it lie in that direction from each
  /// other: their direction is one between those of the tangents. Then a way with an end on the surface does not cross it.
  [[nodiscard]] bool meets_once(Vector2 along) const { return directions_.meet_once(along); }
  [[nodiscard]] const rays::CurveDirections& directions() const noexcept { return directions_; }

 private:
  Surface() = default;
  /// Returns how far the curve turns on the whole, in radians.
  double find_nodes();
  void find_tangents();
  void find_pieces();
  void find_turns();
  void find_directions();
  /// Whether the way from node `node` to the next is part of the surface, and no joint at which both are one place.
  [[nodiscard]] bool chord(std::size_t node) const;
  void check_crossing() const;
  /// t of a place on the piece that begins at `node`; none where it is not on it.
  [[nodiscard]] double t_on_piece(const SurfacePlace* place, std::size_t node) const;

  /// The straight way under a piece.
  struct Chord {
    Vector2 from;
    Vector2 along;
    double sag = 0.0;
    std::uint32_t node = 0;  ///< at which the piece begins

    [[nodiscard]] double part_at(Vector2 place) const;
    [[nodiscard]] double squared_distance(Vector2 place) const;
  };

  /// Nearest of what a search has seen.
  struct Nearest {
    double distance;
    double squared;
    std::uint32_t node;  ///< of the piece
    double t;            ///< on it
    Vector2 at;
    Vector2 along;  ///< of the curve there
  };
  void look_at(const Chord& chord, Vector2 from, Nearest& nearest) const;

  /// Pieces by groups, and what they keep within.
  struct Group {
    std::uint32_t first = 0;  ///< in chords_
    std::uint32_t last = 0;   ///< and one beyond the last
    Vector2 low;
    Vector2 high;
  };

  std::string name_;
  std::vector<Segment> segments_;
  std::vector<SurfaceNode> nodes_;
  std::vector<rays::CurvePiece> pieces_;  ///< by node, to the next one
  std::vector<double> sags_;              ///< likewise
  std::vector<Chord> chords_;
  std::vector<Group> groups_;
  double longest_chord_ = 0.0;
  std::vector<Vector2> turns_;  ///< by node, the sum of the directions of both pieces that meet there
  std::vector<bool> smooth_;
  rays::CurveDirections directions_;
  bool sampled_ = false;
  bool shadows_ = false;
  bool closed_ = false;
};

}  // namespace echoform
