// Tissue: thousands of weak scatterers whose echoes add up to speckle, with cysts in it, vessels in which they flow and disks
// that turn with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"

namespace echoform {

/// A box in which scatterers lie, uniformly at random. Equal ends of y: in a plane.
struct SpeckleRegion {
  std::size_t scatterers = 0;
  std::array<Metres, 2> x{Metres(-20e-3), Metres(20e-3)};
  std::array<Metres, 2> y{};
  std::array<Metres, 2> z{Metres(5e-3), Metres(45e-3)};
  double rms = 0.05;  ///< of their reflectivities, which are normally distributed about 0

  /// Its area, or its volume.
  [[nodiscard]] double size() const;
  [[nodiscard]] bool flat() const { return !(y[0] < y[1]); }
};

/// A region where scatterers are weaker or stronger: a ball, or a cylinder along y.
struct Cyst {
  Point centre;
  Metres radius;
  double decibels = 0.0;  ///< of reflectivity; -infinity: none are there
  bool ball = false;
};

/// A straight tube from end to end, in which scatterers flow from `first` to `last`: fastest in its middle, at rest at its wall,
/// peak (1 - r^2 / R^2) (Poiseuille). What leaves at one end comes in again at the other. In a flat region the tube's middle
/// plane alone.
struct Vessel {
  Point first;
  Point last;
  Metres radius;
  MetresPerSecond peak;   ///< below 0: from last to first
  double decibels = 0.0;  ///< of the reflectivity of what flows
};

/// A disk across y, in all of the region's extent there, that turns with its scatterers, from +z towards +x.
struct Disk {
  Point centre;
  Metres radius;
  double turns = 0.0;  ///< a second
  double decibels = 0.0;
};

struct Tissue {
  SpeckleRegion speckle;
  std::vector<Cyst> cysts;
  std::vector<Vessel> vessels;
  std::vector<Disk> disks;
  std::uint64_t seed = 1;

  /// Whether there is no tissue. A tissue without scatterers is empty, whatever else is stated.
  [[nodiscard]] bool empty() const { return speckle.scatterers == 0; }
};

inline constexpr std::size_t most_scatterers = 2'000'000;

/// Throws InputError (naming `where` and the key) unless numbers are finite and in order, there are at most most_scatterers,
/// those that move counted in, and all are inside the part, z > 0, throughout.
void validate(const Tissue& tissue, std::string_view where);

struct Scatterer {
  Point place;
  double reflectivity = 0.0;  ///< as PointScatterer's
};

/// The scatterers of a valid tissue: the same for the same tissue on every machine. Vessels and disks have as many to an area or
/// volume as the region, which has none of its own there; cysts do not change what moves.
class Scatterers {
 public:
  Scatterers() = default;
  explicit Scatterers(const Tissue& tissue);

  [[nodiscard]] const std::vector<Scatterer>& still() const noexcept { return still_; }
  [[nodiscard]] std::size_t moving() const noexcept { return flowing_.size() + turning_.size(); }
  /// Replaces `into` by those that move, `seconds` after they began.
  void moving_at(double seconds, std::vector<Scatterer>& into) const;

 private:
  struct Flowing {
    std::size_t vessel;
    double along;            // metres from its first end at time 0
    double across, upwards;  // metres from its axis
    double velocity;
    double reflectivity;
  };
  struct Turning {
    std::size_t disk;
    double radius;
    double angle;  // radians from +z towards +x at time 0
    double y;
    double reflectivity;
  };
  struct Tube {
    Point first;
    Direction axis, across, upwards;
    double length;
  };

  std::vector<Scatterer> still_;
  std::vector<Flowing> flowing_;
  std::vector<Turning> turning_;
  std::vector<Tube> tubes_;
  std::vector<Disk> disks_;
};

}  // namespace echoform
