// The search for rays over one surface of any shape: first, for a few points at a time, the nodes between which the time
// changes from falling to rising (crossing_math.hpp), then the places, many at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry.hpp"
#include "rays/crossing_math.hpp"
#include "rays/curve_nodes.hpp"
#include "rays/field_kernels.hpp"
#include "rays/ray_path.hpp"

namespace echoform::rays {

[[nodiscard]] inline Vector2 place_in_plane(const Point& point) {
  return {point.x.value, point.z.value};
}

/// What all searches of a field share.
struct CurveRays {
  CurveRays(const RayPath& along, const std::vector<Point>& from, const FieldKernels& with);

  [[nodiscard]] CrossingSides sides() const;

  RayPath path;
  const Surface& surface;
  std::vector<Point> sources;
  const FieldKernels& kernels;
  CurveNodes nodes;
  double before;
  double after;
  float after_slope = 0.0F;
  bool touching = false;
  std::vector<std::uint8_t> touches;  // by source
  std::vector<Vector2> beginnings;    // of ways, as far as shadows go: of a source that touches its place on the surface
  std::vector<float> slopes;          // [source, node], of the greater slowness
};

/// One call of RayField::times() or trace(): take_points() of a few points and scan() of every source by turns, then finish() and
/// ask_solver().
class CurveSearch {
 public:
  CurveSearch(const CurveRays& rays, std::span<const Point> points, std::span<double> seconds, std::span<RayTrace> traces,
              std::size_t first_source);

  void take_points(std::size_t first, std::size_t last);

  void scan(std::size_t source);

  void finish();

  /// Finds with the solver those rays out of the plane that Newton's method alone does not settle.
  void ask_solver();

 private:
  [[nodiscard]] std::size_t words() const { return rays_.nodes.words; }

  /// Lower bounds of the two fastest ways of a ray, from the nodes at which they begin: beyond a node, the time falls at
  /// most by its slope.
  struct Ways {
    double least = std::numeric_limits<double>::infinity();
    double next = std::numeric_limits<double>::infinity();
    std::size_t node = 0;  // at which the fastest way begins
  };

  /// Finds ways where the time changes from falling to rising along the curve, at corners and ends too. Beyond the last node
  /// the time counts as rising.
  void find_ways(std::size_t source, std::size_t point, const std::uint64_t* negative);

  void trace_ray(std::size_t k);

  [[nodiscard]] RayCrossing crossing(std::size_t k) const;

  /// Finds pieces so near to a point that the slope may change its sign on them without the nodes showing it.
  void find_near(std::size_t point);

  [[gnu::noinline]] void add_near(std::size_t source, std::size_t point);
  void add_near(std::size_t source, std::size_t point, std::size_t node);

  /// Adds a ray where the slope changes its sign between `node` and the next. Near pieces are searched more closely.
  [[gnu::noinline]] void add_turn(std::size_t source, std::size_t point, const float* slopes, std::size_t node);

  void add(std::size_t source, std::size_t point, std::size_t node, double start);

  /// A ray counts if its place keeps to the segment on which it began, unless two of one source and point came to one place:
  /// then one was lost. Where a source lies on the surface the time has no second derivative.
  void check_across();

  /// Finds the piece on which a place lies as well, if it does on one of its segment.
  [[nodiscard]] bool keeps_to_segment(std::size_t k);

  [[nodiscard, gnu::noinline]] bool in_shadow(std::size_t k) const;

  /// Whether Surface::crosses is to be asked about the way to a found place on piece `own`: unless all pieces that lie where
  /// the way does lie clearly to one side of it, and the way rises from its own more steeply than that bends.
  [[nodiscard]] bool comes_near(Vector2 from, Vector2 at, std::size_t own) const;

  const CurveRays& rays_;
  std::span<const Point> points_;
  std::span<double> seconds_;
  std::span<RayTrace> traces_;
  std::vector<Ways> ways_;  // by place in traces_
  std::size_t first_source_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::vector<float> x_;
  std::vector<float> z_;
  std::vector<float> rows_;
  std::vector<std::uint64_t> negative_;
  std::array<std::vector<std::size_t>, scanned_points> near_;  // by point: nodes at which near pieces begin
  std::unique_ptr<CrossingBatch> batch_;
  std::array<std::size_t, CrossingBatch::capacity> node_{};  // at which the piece begins
  std::array<std::size_t, CrossingBatch::capacity> ray_{};   // place in seconds_
  // Of rays out of the plane:
  bool across_ = false;                                     // all of a batch, or none
  std::array<std::size_t, CrossingBatch::capacity> own_{};  // the node of the piece that was come to
  std::vector<std::uint8_t> unsure_;                        // by place in seconds_
  std::vector<Vector2> told_;                               // places of the rays of one source and point
  std::size_t told_ray_ = 0;
};

}  // namespace echoform::rays
