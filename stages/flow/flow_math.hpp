// Arithmetic of flow that host and device share.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// Whether there is flow to speak of; not where the power is no number.
ECHOFORM_HOST_DEVICE bool flows(float power, float least) {
  return power > 0.0F && power >= least;
}

/// `of_radian`: metres a second for a radian between two samples.
ECHOFORM_HOST_DEVICE float flow_velocity(float turn_re, float turn_im, float of_radian) {
  return of_radian * atan2f(turn_im, turn_re);
}

/// Of a power above 0; `twice_square`: 2 of_radian^2.
ECHOFORM_HOST_DEVICE float flow_variance(float power, float turn_re, float turn_im, float twice_square) {
  const float coherent = sqrtf(turn_re * turn_re + turn_im * turn_im) / power;
  return coherent < 1.0F ? twice_square * (1.0F - coherent) : 0.0F;
}

}  // namespace echoform
