// Rays from a source through interfaces to a point, by Fermat's principle of minimum time.
//
// The time over places r_1 .. r_K on the interfaces is T = sum of |r_k+1 - r_k| / c_k, from the source r_0 to the point
// r_K+1. A ray is where T is minimal and stationary; stationary means Snell's law at every interface, refracting or
// reflecting. A minimum at a corner or at the end of a surface is a diffraction and no ray.
//
// Surfaces are extruded along y. Along y nothing breaks the rays' symmetry: with p = dT/dy, the same for every leg, the plane
// problem with slownesses sqrt(1 / c^2 - p^2) gives the places, and the way along y follows; p is found from the distance.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/geometry.hpp"
#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

struct RayInterface {
  std::shared_ptr<const Surface> surface;
  bool reflects = false;  ///< goes on on the side that it comes from; else through
  /// Arrives from below a surface that runs along x, the side of (-dz, dx): true where a ray comes back to the front surface.
  bool from_below = false;
  /// A surface in three dimensions, instead of `surface`.
  std::shared_ptr<const SpatialSurface> spatial{};
};

/// Legs in the order of travel from the source; legs.size() == interfaces.size() + 1.
struct RayPath {
  std::vector<MetresPerSecond> velocities;  ///< of the legs; each more than 0
  std::vector<RayInterface> interfaces;

  /// Whether some interface is a surface in three dimensions.
  [[nodiscard]] bool in_space() const {
    return std::any_of(interfaces.begin(), interfaces.end(), [](const RayInterface& one) { return one.spatial != nullptr; });
  }
  /// The surface in three dimensions that is the one interface and that rays go through from outside; else null.
  [[nodiscard]] const SpatialSurface* spatial() const {
    return interfaces.size() == 1 && !interfaces.front().reflects ? interfaces.front().spatial.get() : nullptr;
  }
};

/// Throws InputError for a velocity that is not positive and finite, legs and interfaces that do not fit together, and a surface
/// in three dimensions beside one of points.
void check_path(const RayPath& path);

class RayField;

namespace rays {
/// Three legs in the part and one before it need three; a path that enters, skips twice and leaves, four.
inline constexpr std::size_t most_interfaces = 4;
}  // namespace rays

/// Where a ray meets an interface.
struct RayCrossing {
  Vector2 at;
  double along = 0.0;  ///< number of the surface's segment, and how far within it
};

/// How a ray goes, for those who ask whether it and its neighbours are of one kind.
struct RayTrace {
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< as RaySolver::time_to
  /// By how much every other way is slower, s. A way is a place on the interfaces from which the time grows to all sides: rays,
  /// those in shadow too, corners and ends. Infinite where there is no other; below 0 where one is quicker.
  double lead = std::numeric_limits<double>::infinity();
  std::array<RayCrossing, rays::most_interfaces> crossings{};  ///< by interface of the path; of a ray that there is
};

/// The rays of one source. Not thread-safe: each thread makes its own (RaySolver is light but for its nodes' times).
class RaySolver {
 public:
  /// Throws InputError as check_path().
  RaySolver(const RayPath& path, Point source);
  ~RaySolver();
  RaySolver(RaySolver&&) noexcept;
  RaySolver& operator=(RaySolver&&) noexcept;

  /// Minimum travel time to `point` in seconds, to about 1e-15 s; NaN where there is no ray. `places`, if given, becomes the
  /// K places on the interfaces.
  [[nodiscard]] double time_to(Point point, std::vector<Vector2>* places = nullptr);

  /// The same ray with its route, in the plane of x and z; through a surface in three dimensions only its time is given,
  /// without places.
  [[nodiscard]] RayTrace trace_to(Point point);

  /// Times to a run of points, which may be in any order; quick where neighbours in the run are neighbours in space.
  void times_to(std::span<const Point> points, std::span<double> seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::unique_ptr<const RayField> spatial_;  ///< in its place, where the path has a surface in three dimensions
};

}  // namespace echoform
