// Arithmetic of spectra that host and device share.
#pragma once

#include <math.h>

#include <cstddef>

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds a sample times (turn_re, turn_im) to a bin's sum.
ECHOFORM_HOST_DEVICE void add_turned(float re, float im, float turn_re, float turn_im, float& sum_re, float& sum_im) {
  sum_re += re * turn_re - im * turn_im;
  sum_im += re * turn_im + im * turn_re;
}

/// Returns the gate's power plus the power of a range's sum.
ECHOFORM_HOST_DEVICE float with_power(float power, float sum_re, float sum_im) {
  return power + (sum_re * sum_re + sum_im * sum_im);
}

ECHOFORM_HOST_DEVICE float root_mean(float power, std::size_t ranges) {
  return sqrtf(power / static_cast<float>(ranges));
}

}  // namespace echoform
