// Arithmetic of a baseband sample.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

/// Adds a sample's term to one part of the sum.
ECHOFORM_HOST_DEVICE float with_term(float sum, float factor, float sample) {
  return sum + factor * sample;
}

/// Real and imaginary part of (re + i im) (cosine + i sine): the sum times the kept sample's phase factor.
ECHOFORM_HOST_DEVICE float turned_re(float re, float im, float cosine, float sine) {
  return re * cosine - im * sine;
}
ECHOFORM_HOST_DEVICE float turned_im(float re, float im, float cosine, float sine) {
  return re * sine + im * cosine;
}

}  // namespace echoform
