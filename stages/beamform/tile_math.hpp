// Delays of the CUDA beamformer computed on the fly; for host and device, so that tests can check them without a GPU.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

/// A delay in single precision may lie this much outside of its bounds, in samples.
inline constexpr double rounding_guard = 0.02;

/// The window of a (tile, source) whose delays lie from `least` to `most`, in samples.
ECHOFORM_HOST_DEVICE SourceWindow window_between(double least, double most) {
  const auto base = static_cast<std::int32_t>(2.0 * floor(0.5 * (least - rounding_guard)));
  return {base, static_cast<std::int32_t>(ceil(most + rounding_guard)) - base};
}

/// Square root, exact to one or two units in the last place. Numbers below 1.2e-38 count as 0.
ECHOFORM_HOST_DEVICE float fast_sqrt(float value) {
#if defined(__CUDA_ARCH__)
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root;
#else
  return sqrtf(value);
#endif
}

ECHOFORM_HOST_DEVICE float fast_divide(float value, float by) {
#if defined(__CUDA_ARCH__)
  return __fdividef(value, by);
#else
  return value / by;
#endif
}

/// Delay of a pixel, whose coordinates are in samples, from a source's form: index_bits of index, the rest is the fraction.
/// On the half path coordinates count from the grid's middle, and the delay is exact to 1e-4 of a sample at distances below
/// 1000. On the float path they are relative to the tile's reference pixel, and d - d0 = (d^2 - d0^2) / (d + d0) is exact to
/// 2^(index_bits - 23) of a sample.
template <int index_bits, bool half>
ECHOFORM_HOST_DEVICE std::uint32_t delay_of(SourceForm form, float phase, float x, float z) {
  // form.d or `phase` contains an addend of 2^index_bits, so that the mantissa holds the delay and the exponent does not change.
  float delay;
  if constexpr (half) {
    const float dx = x - form.a;
    const float dz = z - form.b;
    delay = fast_sqrt(fmaf(dx, dx, fmaf(dz, dz, form.c))) + form.d;
  } else {
    const float difference = fmaf(x, x + form.a, z * (z + form.b));
    const float distance = fast_sqrt(fmaxf(difference + form.c, 0.0F));
    delay = fast_divide(difference, distance + form.d + 1e-20F) + phase;
  }
  return __builtin_bit_cast(std::uint32_t, delay) << 9;
}

/// As delay_of(), for a plane wave.
template <int index_bits, bool half>
ECHOFORM_HOST_DEVICE std::uint32_t plane_delay_of(SourceForm form, float phase, float x, float z) {
  const float delay = fmaf(x, form.a, fmaf(z, form.b, half ? form.d : phase));
  return __builtin_bit_cast(std::uint32_t, delay) << 9;
}

/// As delay_of(), for a wave of revolution from a virtual source. The float path computes d^2 from d, since the weight
/// occupies the place of d^2.
template <int index_bits, bool half>
ECHOFORM_HOST_DEVICE std::uint32_t turned_delay_of(SourceForm form, float phase, TurnedPlace place) {
  float delay;
  if constexpr (half) {
    const float dx = place.along - form.a;
    const float dz = place.out - form.b;
    delay = fast_sqrt(fmaf(dx, dx, dz * dz)) + form.d;
  } else {
    const float difference = fmaf(place.along, place.along + form.a, place.out * (place.out + form.b));
    const float distance = fast_sqrt(fmaxf(fmaf(form.d, form.d, difference), 0.0F));
    delay = fast_divide(difference, distance + form.d + 1e-20F) + phase;
  }
  return __builtin_bit_cast(std::uint32_t, delay) << 9;
}

}  // namespace echoform::beamform
