// Arithmetic of the autocorrelation that host and device share.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds |a|^2 to `power`.
ECHOFORM_HOST_DEVICE void add_power(float re, float im, float& power) {
  power += re * re + im * im;
}

/// Adds next conj(a) to (sum_re, sum_im).
ECHOFORM_HOST_DEVICE void add_turn(float re, float im, float next_re, float next_im, float& sum_re, float& sum_im) {
  sum_re += next_re * re + next_im * im;
  sum_im += next_im * re - next_re * im;
}

}  // namespace echoform
