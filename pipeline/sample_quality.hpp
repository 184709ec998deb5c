// Faults of a frame's samples, counted by stages that read received samples.
#pragma once

#include <cstdint>

namespace echoform {

struct SampleQuality {
  std::uint64_t clipped = 0;  ///< integer samples at either end of their encoding's range
  std::uint64_t invalid = 0;  ///< NaN, infinite, or 2^56 or more in magnitude; 0 was used in their place

  constexpr auto operator<=>(const SampleQuality&) const = default;
};

}  // namespace echoform
