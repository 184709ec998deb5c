// Magnitude of an analytic sample.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// sqrt(re^2 + im^2). Squares that overflow make infinity: magnitudes are below 1.8e19 wherever they mean anything.
ECHOFORM_HOST_DEVICE float magnitude(float re, float im) {
  return sqrtf(re * re + im * im);
}

}  // namespace echoform
