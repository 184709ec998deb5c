#include "rays/mesh_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rays/snell_place.hpp"

namespace echoform {
namespace {

/// Relative rounding, of the unit interval and of slownesses. Within it of an edge, a place lies on both of the edge's triangles.
constexpr double rounding_share = 1e-9;

struct MeshEnds {
  Vector3 source;
  Vector3 point;
  double before;  ///< slowness on the path to the surface, s/m
  double after;   ///< slowness behind it, s/m

  [[nodiscard]] double time_over(Vector3 at) const { return before * length(at - source) + after * length(point - at); }
  /// Gradient of the time with respect to the place.
  [[nodiscard]] Vector3 slope_at(Vector3 at) const { return before * unit_of(at - source) + after * unit_of(at - point); }
};

/// A box or a triangle, and a lower bound of the times over it.
struct Candidate {
  double bound;
  std::uint32_t which;
  bool is_box;

  bool operator<(const Candidate& other) const { return bound > other.bound; }  // the smallest bound stands first in a heap
};

/// One search for the shortest time.
class MeshSearch {
 public:
  /// `heap` is working memory. Neighbouring points have rays over neighbouring places, so the search looks first at `face`, where
  /// the last place was found.
  MeshSearch(const TriangleMesh& mesh, const MeshEnds& ends, std::vector<Candidate>& heap, std::uint32_t& face)
      : mesh_(mesh), ends_(ends), heap_(heap), found_(face), looked_at_(face) {}

  /// Shortest time in seconds; NaN where there is no ray.
  double least_time() {
    heap_.clear();
    if (mesh_.inwards(looked_at_) != Vector3{}) look_at(looked_at_);
    put({bound(0), 0, true});
    while (!heap_.empty() && heap_.front().bound < least_) {
      const Candidate next = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      if (next.is_box) {
        open(mesh_.boxes()[next.which]);
      } else {
        looked_at_ = next.which;
        look_at(next.which);
      }
    }
    return least_ < std::numeric_limits<double>::infinity() ? least_ : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  void put(const Candidate& candidate) {
    if (!(candidate.bound < least_)) return;
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void open(const MeshBox& box) {
    if (box.count == 0) {
      for (const std::uint32_t child : {box.first, box.first + 1}) put({bound(child), child, true});
      return;
    }
    for (std::uint32_t k = box.first; k < box.first + box.count; ++k) {
      const std::uint32_t face = mesh_.order()[k];
      // The margin keeps rounding from hiding a time whose minimum lies in a corner.
      if (mesh_.inwards(face) != Vector3{}) put({bound_of(face) * (1.0 - rounding_share), face, false});
    }
  }

  /// The time at a place. It is convex in space, so from here it falls by no more than `slope` states.
  [[nodiscard]] double time_at(Vector3 at, Vector3& slope) const {
    const Vector3 one = at - ends_.source;
    const Vector3 other = at - ends_.point;
    const double first = length(one) + 1e-300;
    const double last = length(other) + 1e-300;
    slope = (ends_.before / first) * one + (ends_.after / last) * other;
    return ends_.before * first + ends_.after * last;
  }

  [[nodiscard]] double bound(std::uint32_t box) const {
    const MeshBox& within = mesh_.boxes()[box];
    const Vector3 half = 0.5 * (within.high - within.low);
    Vector3 slope;
    const double middle = time_at(within.low + half, slope);
    return middle - std::abs(slope.x) * half.x - std::abs(slope.y) * half.y - std::abs(slope.z) * half.z;
  }

  [[nodiscard]] double bound_of(std::uint32_t face) const {
    const Vector3 one = mesh_.corner(face, 0), other = mesh_.corner(face, 1), last = mesh_.corner(face, 2);
    const Vector3 centre = (1.0 / 3.0) * (one + other + last);
    Vector3 slope;
    const double middle = time_at(centre, slope);
    return middle + std::min({dot(slope, one - centre), dot(slope, other - centre), dot(slope, last - centre)});
  }

  void look_at(std::uint32_t face) {
    const Vector3 inwards = mesh_.inwards(face);
    const std::array<Vector3, 3> corners{mesh_.corner(face, 0), mesh_.corner(face, 1), mesh_.corner(face, 2)};
    const double height = dot(inwards, corners[0] - ends_.source);
    const double depth = dot(inwards, ends_.point - corners[0]);
    // [edge], how far the minimum of the plane's time lies within it. Where it lies well within, the edge has no minimum.
    std::array<double, 3> within{};
    if (height > 0.0 && depth > 0.0) within = through_face(corners, inwards, height, depth);
    for (int edge = 0; edge < 3; ++edge) {
      if (within[static_cast<std::size_t>(edge)] > rounding_share) continue;
      const std::uint32_t other = mesh_.neighbour(face, edge);
      if (other > face || mesh_.inwards(other) == Vector3{}) over_edge(face, edge);
    }
    for (int which = 0; which < 3; ++which) {
      const auto here = static_cast<std::size_t>(which);
      if (std::min(within[here], within[(here + 2) % 3]) > rounding_share) continue;
      const std::uint32_t place = mesh_.face(face)[here];
      if (mesh_.around(place).front() == face) over_corner(place);
    }
  }

  /// Where the time over the triangle's plane is shortest there is a ray, if that place lies in the triangle. Returns how far it
  /// lies within each edge, divided by the height.
  std::array<double, 3> through_face(const std::array<Vector3, 3>& corners, Vector3 inwards, double height, double depth) {
    const Vector3 above = ends_.source + height * inwards;
    const Vector3 along = ends_.point - depth * inwards - above;
    const double far = length(along);
    const double part = far > 0.0 ? rays::snell_place(height, depth, far, ends_.before, ends_.after) / far : 0.0;
    const Vector3 at = above + part * along;
    std::array<double, 3> within{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Vector3 side = corners[(k + 1) % 3] - corners[k];
      const Vector3 opposite = corners[(k + 2) % 3] - corners[k];
      const Vector3 in = opposite - (dot(opposite, side) / dot(side, side)) * side;
      within[k] = dot(at - corners[k], in) / dot(in, in);
    }
    if (*std::min_element(within.begin(), within.end()) >= -rounding_share) take(at);
    return within;
  }

  void over_edge(std::uint32_t face, int edge) {
    if (mesh_.sharp_edge(face, edge)) return;
    const Vector3 from = mesh_.corner(face, edge);
    const Vector3 side = mesh_.corner(face, (edge + 1) % 3) - from;
    const double whole = length(side);
    const Vector3 way = (1.0 / whole) * side;
    const double source_at = dot(ends_.source - from, way);
    const double point_at = dot(ends_.point - from, way);
    const double source_off = length(ends_.source - from - source_at * way);
    const double point_off = length(ends_.point - from - point_at * way);
    const double far = std::abs(point_at - source_at);
    if (!(source_off > 0.0) || !(point_off > 0.0)) return;
    const double step = far > 0.0 ? rays::snell_place(source_off, point_off, far, ends_.before, ends_.after) : 0.0;
    const double place = source_at + (point_at >= source_at ? step : -step);
    if (!(place >= -rounding_share * whole && place <= (1.0 + rounding_share) * whole)) return;
    const Vector3 at = from + std::clamp(place, 0.0, whole) * way;
    const std::uint32_t other = mesh_.neighbour(face, edge);
    const Vector3 slope = ends_.slope_at(at);
    const double least = -rounding_share * (ends_.before + ends_.after);
    // These vectors are perpendicular to the edge and point away from it: to the left, seen from outside, into its own triangle,
    // to the right into the other.
    if (dot(slope, cross(way, mesh_.inwards(face))) < least) return;
    if (dot(slope, cross(mesh_.inwards(other), way)) < least) return;
    const Vector3 inwards = mesh_.inwards(face) + mesh_.inwards(other);
    if (goes_in(at, inwards)) take(at);
  }

  void over_corner(std::uint32_t place) {
    const Vector3 at = mesh_.place(place);
    if (ends_.time_over(at) >= least_ || !goes_in(at, mesh_.inwards_at(place))) return;
    const Vector3 slope = ends_.slope_at(at);
    const double least = -rounding_share * (ends_.before + ends_.after);
    for (const std::uint32_t face : mesh_.around(place)) {
      const TriangleMesh::Corners& corners = mesh_.face(face);
      const int which = corners[0] == place ? 0 : corners[1] == place ? 1 : 2;
      if (mesh_.sharp_edge(face, which) || mesh_.sharp_edge(face, (which + 2) % 3)) return;
      if (dot(slope, unit_of(mesh_.corner(face, (which + 1) % 3) - at)) < least) return;
    }
    take(at);
  }

  [[nodiscard]] bool goes_in(Vector3 at, Vector3 inwards) const {
    return dot(at - ends_.source, inwards) > 0.0 && dot(ends_.point - at, inwards) > 0.0;
  }

  void take(Vector3 at) {
    const double time = ends_.time_over(at);
    if (!(time < least_)) return;
    if (mesh_.crosses(ends_.source, at) || mesh_.crosses(at, ends_.point)) return;
    least_ = time;
    found_ = looked_at_;
  }

  const TriangleMesh& mesh_;
  const MeshEnds& ends_;
  std::vector<Candidate>& heap_;
  std::uint32_t& found_;  // the triangle with the shortest time so far
  std::uint32_t looked_at_;
  double least_ = std::numeric_limits<double>::infinity();
};

class MeshField final : public RayField {
 public:
  MeshField(const RayPath& path, std::vector<Point> sources, std::shared_ptr<const TriangleMesh> mesh)
      : path_(path), sources_(std::move(sources)), mesh_(std::move(mesh)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "mesh"; }
  [[nodiscard]] Portion portion() const noexcept override { return {1, 512}; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    MeshEnds ends{{}, {}, 1.0 / path_.velocities[0].value, 1.0 / path_.velocities[1].value};
    std::vector<Candidate> heap;
    for (std::size_t source = first; source < last; ++source) {
      ends.source = vector_of(sources_[source]);
      std::uint32_t face = 0;
      for (std::size_t k = 0; k < points.size(); ++k) {
        ends.point = vector_of(points[k]);
        seconds[(source - first) * points.size() + k] = MeshSearch(*mesh_, ends, heap, face).least_time();
      }
    }
  }

 private:
  RayPath path_;
  std::vector<Point> sources_;
  std::shared_ptr<const TriangleMesh> mesh_;
};

}  // namespace

std::unique_ptr<RayField> make_mesh_field(const RayPath& path, std::vector<Point> sources,
                                          std::shared_ptr<const TriangleMesh> mesh) {
  return std::make_unique<MeshField>(path, std::move(sources), std::move(mesh));
}

}  // namespace echoform
