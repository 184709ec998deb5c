// What lies between the probe and the pixels: couplant or wedge, the part's front surface and its backwall.
#pragma once

#include <memory>

#include "base/units.hpp"
#include "rays/surface.hpp"

namespace echoform {

struct Scene {
  MetresPerSecond couplant{};               ///< velocity in the couplant or wedge; 0 where there is none
  std::shared_ptr<const Surface> surface;   ///< front surface; null: z = 0 where one is needed
  std::shared_ptr<const Surface> backwall;  ///< null where there is none
};

}  // namespace echoform
