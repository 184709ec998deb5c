// How the beamformer interpolates between two samples.
#pragma once

#include <cstdint>

namespace echoform {

enum class Interpolation : std::uint8_t { nearest, linear };

}  // namespace echoform
