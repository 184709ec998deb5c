#include "delay_laws/revolution.hpp"

#include <cmath>

#include "base/directions.hpp"

namespace echoform {
namespace {

/// Rounding moves the pixels of a rotated probe's own plane out of it by less than this. Over this distance, times change by less
/// than 1e-12 s.
constexpr double on_plane = 1e-9;  // m

/// Whether body(corner) holds for all corners of the grid's box. If so, a linear inequality holds for every pixel.
template <class Body>
bool at_all_corners(const Grid& grid, const Body& body) {
  for (const Metres x : {grid.x.first, grid.x.last}) {
    for (const Metres y : {grid.y.first, grid.y.last}) {
      for (const Metres z : {grid.z.first, grid.z.last}) {
        if (!body(Point{x, y, z})) return false;
      }
    }
  }
  return true;
}

}  // namespace

Point Revolution::turned(const Point& p) const {
  const Direction from = between(frame.origin, p);
  const double beside = dot(from, frame.y);
  const double ahead = dot(from, frame.z);
  if (std::abs(beside) <= on_plane && ahead >= -on_plane) return p;
  return frame.to_global(Point{Metres(dot(from, frame.x)), Metres(0.0), Metres(std::hypot(beside, ahead))});
}

bool Revolution::in_plane(const Point& p) const {
  return std::abs(dot(between(frame.origin, p), frame.y)) <= on_plane;
}

bool Revolution::in_half_plane(const Grid& grid) const {
  return in_plane(grid) &&
         at_all_corners(grid, [&](const Point& corner) { return dot(between(frame.origin, corner), frame.z) >= -on_plane; });
}

bool Revolution::in_plane(const Grid& grid) const {
  return at_all_corners(grid, [&](const Point& corner) { return in_plane(corner); });
}

}  // namespace echoform
