// Arithmetic of images of unmixed components that host and device share.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// Share of a component in the sum of both. NaN where the sum is not above `least`, where a quotient would be meaningless.
ECHOFORM_HOST_DEVICE float share_of(float component, float other, float least) {
  const float total = component + other;
  return total > least ? component / total : NAN;
}

}  // namespace echoform
