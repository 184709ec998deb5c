// The shown forms of one pixel of an image with signed values.
#pragma once

#include "gpu/host_device.hpp"

namespace echoform {

ECHOFORM_HOST_DEVICE float magnitude_of(float value) {
  return value < 0.0F ? -value : value;
}

ECHOFORM_HOST_DEVICE float without_negative(float value) {
  return value < 0.0F ? 0.0F : value;
}

}  // namespace echoform
