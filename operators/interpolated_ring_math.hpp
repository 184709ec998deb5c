// Rings of spheres as a device works them out, in pairs of single precision numbers: doubles' sines, cosines and conversions
// take longer than all samples of a ring. For host and device.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "operators/interpolated_brick_math.hpp"

namespace echoform::interpolated {

/// A double x as two floats: x rounded, and the remainder.
struct Pair {
  float value;
  float rest;
};
ECHOFORM_HOST_DEVICE Pair pair_of(double x) {
  const auto value = static_cast<float>(x);
  return {value, static_cast<float>(x - static_cast<double>(value))};
}

/// Steps of half a turn in the table of sines and cosines.
inline constexpr std::int32_t angle_steps = 1024;
/// Entry k of a table: sine and cosine of the angle k pi / angle_steps, for k from 0 to angle_steps.
struct alignas(16) AngleEntry {
  Pair sine;
  Pair cosine;
};
/// Computes entry k; to be called on the host.
inline AngleEntry angle_entry(std::int32_t k) {
  const double angle = static_cast<double>(k) * (pi / angle_steps);
  return {pair_of(sin(angle)), pair_of(cos(angle))};
}

/// What rings take from a detector's frame.
struct alignas(16) RingFrame {
  Pair place[3];
  Pair inward[3];
  float e1[3];
  float e2[3];
  float span[3];
  float inverse_span[3];
};
inline RingFrame ring_frame_of(const DetectorFrame& frame) {
  constexpr double least_span = 1e-6;  // such a ring is flat: its extent along the axis is nothing
  RingFrame ring{};
  for (int a = 0; a < 3; ++a) {
    ring.place[a] = pair_of(frame.place[a]);
    ring.inward[a] = pair_of(frame.inward[a]);
    ring.e1[a] = static_cast<float>(frame.e1[a]);
    ring.e2[a] = static_cast<float>(frame.e2[a]);
    ring.span[a] = static_cast<float>(frame.span[a]);
    ring.inverse_span[a] = static_cast<float>(1.0 / fmax(frame.span[a], least_span));
  }
  return ring;
}

/// A sphere whose rings are asked for.
struct RingShell {
  double step;  ///< angle of a ring
  Pair radius;
  float weight;
};

namespace detail {

/// The whole number next to x of at most 2^31, also as an int.
ECHOFORM_HOST_DEVICE double near_whole(double x, std::int32_t& whole) {
#if defined(__CUDA_ARCH__)
  constexpr double magic = 6755399441055744.0;  // 1.5 x 2^52: its lowest bits are the number's
  const double sum = x + magic;
  whole = __double2loint(sum);
  return sum - magic;
#else
  const double near = rint(x);
  whole = static_cast<std::int32_t>(near);
  return near;
#endif
}
/// The whole number nearest to x, for |x| below 2^22.
ECHOFORM_HOST_DEVICE float near_whole(float x) {
#if defined(__CUDA_ARCH__)
  constexpr float magic = 12582912.0F;  // 1.5 x 2^23
  return x + magic - magic;
#else
  return rintf(x);
#endif
}
ECHOFORM_HOST_DEVICE float root(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return sqrtf(x);
#endif
}
ECHOFORM_HOST_DEVICE float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(y, fmaf(-x, y, 1.0F), y);
#else
  return 1.0F / x;
#endif
}

/// Arc cosine to 7e-5 (Abramowitz and Stegun, 4.4.45); the argument is clamped to -1 .. 1.
inline constexpr float arc_cosine_error = 7e-5F;
ECHOFORM_HOST_DEVICE float arc_cosine(float x) {
  const float of = fminf(fabsf(x), 1.0F);
  const float series = fmaf(of, fmaf(of, fmaf(of, -0.0187293F, 0.0742610F), -0.2121144F), 1.5707288F);
  const float angle = root(1.0F - of) * series;
  return x < 0.0F ? static_cast<float>(pi) - angle : angle;
}

struct Arc {
  float from;
  float to;
};
ECHOFORM_HOST_DEVICE void add_common(Arc& hull, const Arc& arc, float from, float to) {
  const float begin = fmaxf(arc.from, from);
  const float end = fminf(arc.to, to);
  const bool any = begin <= end;
  hull.from = any ? fminf(hull.from, begin) : hull.from;
  hull.to = any ? fmaxf(hull.to, end) : hull.to;
}

}  // namespace detail

/// Samples of a ring that may be in a brick: `count` from `first` on, which may be before the ring's first or after its last.
struct RingPart {
  float centre[3];
  float cosine[3];
  float sine[3];
  float weight;
  float samples;  ///< of the ring, a whole number
  float inverse;  ///< 1 / samples
  std::int32_t first;
  std::int32_t count;
};

/// As ring_of() and pieces_within() have it: a superset, samples are checked one by one afterwards. The same bits for each brick.
ECHOFORM_HOST_DEVICE RingPart ring_part(const RingFrame& frame, const SeenBrick& seen, const Brick& brick,
                                        const AngleEntry* angles, const RingShell& shell, std::int32_t k) {
  // Sine and cosine of the sum of a table's angle and a rest below pi / 2048, whose series are short.
  const double angle = (static_cast<double>(k) + 0.5) * shell.step;
  std::int32_t entry = 0;
  const double whole = detail::near_whole(angle * (angle_steps / pi), entry);
  const auto rest = static_cast<float>(fma(whole, -pi / angle_steps, angle));
  const float square = rest * rest;
  const float sine_of_rest = fmaf(rest * square, -1.0F / 6.0F, rest);
  const float less = -0.5F * square;  // cosine - 1
  const AngleEntry at = angles[entry];
  const float sine_rest = at.sine.rest + fmaf(at.cosine.value, sine_of_rest, at.sine.value * less);
  const float cosine_rest = at.cosine.rest + fmaf(-at.sine.value, sine_of_rest, at.cosine.value * less);
  const auto times_radius = [&shell](float value, float of_rest) {
    const float product = shell.radius.value * value;
    return Pair{product,
                fmaf(shell.radius.value, value, -product) + fmaf(shell.radius.rest, value, shell.radius.value * of_rest)};
  };
  const Pair wide = times_radius(at.sine.value, sine_rest);
  const Pair along = times_radius(at.cosine.value, cosine_rest);
  const float across = wide.value + wide.rest;

  RingPart part;
  constexpr auto turn = static_cast<float>(2.0 * pi);
  constexpr auto turn_rest = static_cast<float>(2.0 * pi - static_cast<double>(turn));
  const float about = turn * wide.value;
  const float near = detail::near_whole(about);
  const float left = fmaf(turn, wide.value, -about) + fmaf(turn_rest, wide.value, turn * wide.rest);
  part.samples = fmaxf(near + detail::near_whole((about - near) + left), 1.0F);
  part.inverse = detail::reciprocal(part.samples);
  part.weight = shell.weight * (at.sine.value + sine_rest) * part.inverse;
  part.first = 0;
  part.count = 0;

  constexpr float guard = 0.01F;  // voxels: places are single precision
  const float inverse_across = detail::reciprocal(fmaxf(across, 1e-6F));
  detail::Arc arc{-seen.half_width, seen.half_width};  // from the brick's azimuth
  bool meets = true;
  for (int a = 0; a < 3; ++a) {
    part.centre[a] = fmaf(along.value, frame.inward[a].value, frame.place[a].value) +
                     fmaf(along.value, frame.inward[a].rest, fmaf(along.rest, frame.inward[a].value, frame.place[a].rest));
    part.cosine[a] = across * frame.e1[a];
    part.sine[a] = across * frame.e2[a];
    const float size = across * frame.span[a];
    const float to_size = inverse_across * frame.inverse_span[a];
    const float least = brick.low[a] - guard - part.centre[a];
    const float most = brick.high[a] + guard - part.centre[a];
    meets = meets && least <= size && most >= -size;
    // |angle - phase| is between the two.
    const float closest = detail::arc_cosine(most * to_size);
    const float furthest = detail::arc_cosine(least * to_size);
    const float phase = seen.phase[a];
    detail::Arc hull{1e4F, -1e4F};
    detail::add_common(hull, arc, phase + closest, phase + furthest);
    detail::add_common(hull, arc, phase - furthest, phase - closest);
    // One of the same arcs, shifted by a whole turn, can be within half a turn of the brick's azimuth.
    const bool ahead = phase >= 0.0F;
    const float beside = ahead ? phase - turn : phase + turn;
    detail::add_common(hull, arc, beside + (ahead ? closest : -furthest), beside + (ahead ? furthest : -closest));
    arc = hull;
  }
  const float to_samples = part.samples * static_cast<float>(0.5 / pi);
  const float slack = fmaf(detail::arc_cosine_error, to_samples, 0.02F);  // and of rounding
  const auto first = static_cast<std::int32_t>(ceilf(fmaf(seen.azimuth + arc.from, to_samples, -0.5F) - slack));
  const auto last = static_cast<std::int32_t>(floorf(fmaf(seen.azimuth + arc.to, to_samples, -0.5F) + slack));
  if (!meets || arc.from > arc.to || last < first) return part;
  const auto samples = static_cast<std::int32_t>(part.samples);
  part.first = first;
  part.count = last - first + 1 < samples ? last - first + 1 : samples;
  return part;
}

}  // namespace echoform::interpolated
