// Whether the rays of one source to a small region go over the same stretches of the surfaces: no corner, end or shadow and no
// quicker way between them, so that their time is one smooth function of the place.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "rays/ray_path.hpp"

namespace echoform {

class RayBundles {
 public:
  /// `path` outlives this.
  explicit RayBundles(const RayPath& path);

  /// Whether some interface is points instead of a curve: no two rays over them are neighbours. Nor is it known of rays through
  /// a surface in three dimensions.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  /// Whether all interfaces are planes. The time over places on planes is a convex function of them and of the ray's end, so that
  /// there is one least time; and the region that rays reach is bounded by straight rays over the planes' ends and crossings: it
  /// is convex. Then rays to some places are one bundle as soon as all of them exist.
  [[nodiscard]] bool convex() const noexcept { return convex_; }

  /// Whether there is a ray over the same smooth stretches to every place in the hull of `points`, and no quicker one but for
  /// what hidden() says. `traces` are the rays from `source` to them, in the same order; no place lies further than `reach`, m,
  /// from the next of them. Errs to the side of no.
  [[nodiscard]] bool one(Vector2 source, std::span<const Vector2> points, std::span<const RayTrace> traces, double reach) const;

  /// Where rays to places `gap` apart are known, each of them the quickest of all ways, by how much at most a way that there is
  /// between them alone may be quicker; seconds. `clear`: distance from there to the last interface, m.
  ///
  /// Of two ways to a place the times differ by a function whose second derivative is at most 1 / (c clear), with c the velocity
  /// of the last leg. Where the difference is 0 on both sides of a strip of width w it is at most w^2 / (8 c clear) within. A way
  /// is a least time of its own on either side of the strip before it becomes the quickest, and known rays there would know of it
  /// (RayTrace::lead): for it to hide, strip and margins lie in one gap, so w <= gap / 2.
  [[nodiscard]] double hidden(double gap, double clear) const;

  /// Distance of a place from the last interface; 0 if there is no interface.
  [[nodiscard]] double distance(Vector2 place) const;

 private:
  /// A surface's joints that are corners, and its chords by groups with what they keep within.
  struct Outline {
    const Surface* surface = nullptr;
    std::vector<double> along;  // of the nodes, as RayCrossing::along
    std::vector<std::pair<double, Vector2>> corners;
    std::vector<std::pair<Vector2, Vector2>> boxes;  // low and high, of group_size chords each
  };
  /// First and last node of the chords that rays cross.
  struct Stretch {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  static constexpr std::size_t group_size = 16;

  [[nodiscard]] bool smooth(std::size_t interface, std::span<const RayTrace> traces, Stretch& stretch) const;
  [[nodiscard]] bool on_right_sides(std::size_t interface, const Stretch& stretch, Vector2 source,
                                    std::span<const Vector2> points, std::span<const RayTrace> traces) const;
  [[nodiscard]] bool leg_is_free(std::size_t leg, std::span<const Vector2> hull, std::span<const Stretch> stretches) const;

  const RayPath& path_;
  std::vector<Outline> outlines_;  // by interface
  bool broken_ = false;
  bool convex_ = true;
  bool shadows_ = false;
};

}  // namespace echoform
