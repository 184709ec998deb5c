// Where a point lies, as seen from the part; for host and device.
#pragma once

#include <cstdint>

namespace echoform {

enum class PartSide : std::uint8_t { outside = 0, within = 1, on_surface = 2 };

}  // namespace echoform
