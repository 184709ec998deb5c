// A number of baseband.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds a sample's term to one part of the sum.
ECHOFORM_HOST_DEVICE float with_term(float sum, float factor, float sample) {
  return sum + factor * sample;
}

/// (re + i im) (cosine + i sine), the sum turned by the kept sample's phase: the parts of the product.
ECHOFORM_HOST_DEVICE float turned_re(float re, float im, float cosine, float sine) {
  return re * cosine - im * sine;
}
ECHOFORM_HOST_DEVICE float turned_im(float re, float im, float cosine, float sine) {
  return re * sine + im * cosine;
}

}  // namespace echoform
