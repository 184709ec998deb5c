// Paths from elements to places in the part and to walls, in space. Echoes are computed from them.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "simulators/sampled_shape.hpp"

namespace echoform::simulated {

/// The path from an element to a place in the part.
struct Way {
  double time = std::numeric_limits<double>::quiet_NaN();  ///< seconds; NaN where there is none
  Spot first;                                              ///< where the element's own leg ends
  Spot last;                                               ///< where the leg that arrives begins
  /// Sum of length * velocity over legs, by the first leg's velocity: how far off the source seems through a plane.
  double reach = 0.0;
  double share = 1.0;  ///< amplitude that interfaces have left

  [[nodiscard]] bool found() const { return time == time; }
};

/// The path from one element by reflection at a wall to another element.
struct WallWay {
  Way transmit;
  Way receive;         ///< likewise from its element
  double share = 1.0;  ///< amplitude that the reflection has left
};

class Ways {
 public:
  virtual ~Ways() = default;
  Ways() = default;
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  /// The path of a side with the modes "L", "TL" or "TTT", in the order of travel from the element.
  [[nodiscard]] virtual Way side(std::size_t element, const std::string& modes, const Spot& to) const = 0;
  /// The path in the couplant to the front surface and back. Nothing without a couplant, or where the surface reflects no
  /// wave.
  [[nodiscard]] virtual std::optional<WallWay> front_echo(std::size_t transmit, std::size_t receive) const = 0;
  /// The path to the backwall in mode `down`, and back in mode `up`. Nothing without a backwall.
  [[nodiscard]] virtual std::optional<WallWay> backwall_echo(std::size_t transmit, std::size_t receive, char down,
                                                             char up) const = 0;
};

}  // namespace echoform::simulated
