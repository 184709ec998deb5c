// Rays through a surface of triangles.
//
// T over the places of one triangle, or of one edge, is convex: a sum of two distances. Places from which it grows to all
// sides are stationary within a triangle (Snell's law), or least along an edge and growing into both of its triangles, or
// they are corners from which it grows along all edges. The fastest of them at which the path passes from outside to
// inside, and which lies in no shadow, is the ray. The search descends the boxes, the most promising first, and omits those
// in which the time, by its slope in the middle, cannot be less than the shortest known.
#pragma once

#include <memory>
#include <vector>

#include "rays/ray_field.hpp"
#include "rays/triangle_mesh.hpp"

namespace echoform {

/// `path` goes through one surface in three dimensions, that of `mesh`. At sharp edges of the part
/// (TriangleMesh::sharp_turn) and at their corners a minimum of the time is a diffraction and no ray. Flatter edges
/// approximate a curved surface and count.
[[nodiscard]] std::unique_ptr<RayField> make_mesh_field(const RayPath& path, std::vector<Point> sources,
                                                        std::shared_ptr<const TriangleMesh> mesh);

}  // namespace echoform
