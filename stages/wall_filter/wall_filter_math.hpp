// Arithmetic of the wall filter that host and device share.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds a x to (re, im), all complex.
ECHOFORM_HOST_DEVICE void add_product(float a_re, float a_im, float x_re, float x_im, float& re, float& im) {
  re += a_re * x_re - a_im * x_im;
  im += a_re * x_im + a_im * x_re;
}

}  // namespace echoform
