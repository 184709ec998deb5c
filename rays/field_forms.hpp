// A field of rays in plain numbers. Backends that find rays by themselves copy these numbers to where they run, and call the
// functions of layer_math.hpp and crossing_math.hpp there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/geometry.hpp"
#include "base/vector3.hpp"
#include "rays/crossing_math.hpp"
#include "rays/curve_bounds.hpp"
#include "rays/layer_math.hpp"
#include "rays/surface_axes.hpp"

namespace echoform::rays {

/// One source above layers. Trivially copyable.
struct LayerSource {
  LayerStack stack;
  double along = 0.0;    ///< m, along the planes
  double across = 0.0;   ///< m, along them the other way
  double reached = 0.0;  ///< 1 where the source lies on the side that its first leg is for; else it has no rays
};

/// Parallel planes, tilted any way. A point p lies `along` = p . tangent and `across` = p . across along them, and
/// `last` = leaves * (p . normal - depth) from the last one; rays reach it where last >= 0.
struct LayerForm {
  Vector3 tangent;  ///< of length 1, as the other two, and square to them
  Vector3 across;
  Vector3 normal;
  double depth = 0.0;
  double leaves = 1.0;
  int slow = 0;      ///< layers slower than the fastest, 0 to most_slow_layers
  double low = 0.0;  ///< ends of the planes, along: sources and points beyond them want the solver
  double high = 0.0;
  std::vector<LayerSource> sources;
};

/// The same planes, converted from the given axes (unit vectors, with the origin `origin`) to those of the part.
[[nodiscard]] LayerForm turned_form(LayerForm form, Vector3 origin, Vector3 x, Vector3 y, Vector3 z);

/// A node of a curve, and the piece from there to the next one.
struct CurveNode {
  Vector2 at;
  float tangent_x = 0.0F;  ///< unit tangent
  float tangent_z = 0.0F;
  std::uint32_t joined = 0;  ///< 1 where a piece leads on from here
};

/// A piece of a curve that casts shadows.
struct PieceShade {
  double sag = 0.0;           ///< as Surface::sag(), m
  std::uint32_t goes_on = 0;  ///< 1: the segment began before the piece; 2: it goes on after it; 3: both
};

/// Pieces that follow each other, by the nodes at which they begin, and what they keep within.
struct PieceGroup {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  ///< and one beyond the last
  CurveBox box;
};

/// Data that determine where a curve casts shadows.
struct CurveShades {
  std::vector<PieceShade> pieces;  ///< [node]
  std::vector<PieceGroup> groups;
  CurveBox box;  ///< of all
  CurveDirections directions;
  double longest_chord = 0.0;  ///< m
};

/// One surface of any shape.
struct CurveForm {
  SurfaceAxes axes;  ///< of nodes, pieces and sources
  std::vector<CurveNode> nodes;
  std::vector<CurvePiece> pieces;   ///< [node]
  std::vector<PieceReach> reaches;  ///< [node]: of the segment that the piece is a part of
  std::vector<float> slopes;        ///< node_slope [source, node], by the greater slowness
  float point_slowness = 0.0F;      ///< of the way to the point, by the greater one
  double before = 0.0;              ///< slownesses, s/m
  double after = 0.0;
  CrossingSides sides{};
  std::vector<Vector2> sources;
  std::vector<double> across;         ///< of the sources, along y
  std::optional<CurveShades> shades;  ///< where it casts shadows: then only rays in the curve's plane can be found by the form
};

/// The form of a field: at most one of the two is present.
struct FieldForm {
  std::optional<LayerForm> layers;
  std::optional<CurveForm> curve;
};

}  // namespace echoform::rays
