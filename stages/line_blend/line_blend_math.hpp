// A term of a sum of lines.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// The sum with a line's number at a range, times its weight there.
ECHOFORM_HOST_DEVICE float blended(float sum, float weight, float value) {
  return sum + weight * value;
}

}  // namespace echoform
