// Arithmetic of a sum of lines.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds a line's value at a range, times its weight there, to the sum.
ECHOFORM_HOST_DEVICE float blended(float sum, float weight, float value) {
  return sum + weight * value;
}

}  // namespace echoform
