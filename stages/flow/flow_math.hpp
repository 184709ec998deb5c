// Arithmetic of flow that host and device share.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// Whether the power indicates flow: it is above 0 and at least `least`. False for NaN.
ECHOFORM_HOST_DEVICE bool flows(float power, float least) {
  return power > 0.0F && power >= least;
}

/// The velocity. `of_radian` is the velocity, in m/s, for a rotation of one radian between two samples.
ECHOFORM_HOST_DEVICE float flow_velocity(float turn_re, float turn_im, float of_radian) {
  return of_radian * atan2f(turn_im, turn_re);
}

/// The variance of velocities, for a power above 0. `twice_square` is 2 of_radian^2.
ECHOFORM_HOST_DEVICE float flow_variance(float power, float turn_re, float turn_im, float twice_square) {
  const float coherent = sqrtf(turn_re * turn_re + turn_im * turn_im) / power;
  return coherent < 1.0F ? twice_square * (1.0F - coherent) : 0.0F;
}

}  // namespace echoform
