// The equations of one ray: T over the places on its interfaces, made stationary by Newton's method from a start nearby.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "rays/ray_path.hpp"

namespace echoform::rays {

using Places = std::array<SurfacePlace, most_interfaces>;

class System {
 public:
  /// `slowness` has one value a leg, s/m. All outlive the calls of solve().
  void begin(const RayPath& path, std::span<const double> slowness, Vector2 source, Vector2 point, const Places& start);
  /// Other slownesses from the places at hand.
  void set_slowness(std::span<const double> slowness);

  /// Whether a minimum of the time was found that is stationary; false at corners and ends of surfaces.
  [[nodiscard]] bool solve();

  /// One interface: the same between two places of one segment. False too where T does not turn between them.
  [[nodiscard]] bool solve_between(SurfacePlace low, SurfacePlace high);

  /// Time along the present places, in seconds.
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] const CurvePoint& place(std::size_t interface) const { return points_[interface]; }
  [[nodiscard]] SurfacePlace surface_place(std::size_t interface) const { return places_[interface]; }
  /// Metres, leg by leg.
  [[nodiscard]] double leg_length(std::size_t leg) const { return lengths_[leg]; }

 private:
  struct Slope {
    std::array<double, most_interfaces> first{};
    std::array<double, most_interfaces> second{};
    std::array<double, most_interfaces> mixed{};  ///< of an interface and the next
  };

  [[nodiscard]] const Surface& surface(std::size_t k) const { return *path_->interfaces[k].surface; }
  void evaluate();
  [[nodiscard]] Slope slope() const;
  [[nodiscard]] SurfacePlace moved(std::size_t k, double step) const;
  [[nodiscard]] bool held(std::size_t k, double slope) const;
  [[nodiscard]] bool pass_corner(std::size_t k, double slope);
  [[nodiscard]] std::array<double, most_interfaces> newton_step(const Slope& slope,
                                                                const std::array<bool, most_interfaces>& fixed) const;

  const RayPath* path_ = nullptr;
  std::span<const double> slowness_;
  std::size_t count_ = 0;
  Vector2 source_;
  Vector2 target_;
  Places places_{};
  std::array<CurvePoint, most_interfaces> points_{};
  std::array<double, most_interfaces + 1> lengths_{};
  std::array<Vector2, most_interfaces + 1> ways_{};  ///< unit vectors of the legs
  double time_ = 0.0;
};

}  // namespace echoform::rays
