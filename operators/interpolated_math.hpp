// Where a sphere about a detector is sampled, for host and device. Lengths are in voxels, places count from one voxel before the
// first: the image has a border of zeros one voxel wide, and is 0 from there on.
#pragma once

#include <math.h>

#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::interpolated {

inline constexpr double pi = 3.14159265358979323846;

/// A detector and axes of its own: spheres about it are cut in rings around the line from it to the grid's middle.
struct DetectorFrame {
  double place[3];   ///< x, y, z, as all threes here
  double inward[3];  ///< of length 1, to the grid's middle
  double e1[3];      ///< of length 1, across
  double e2[3];      ///< of length 1, across both; level: along no z
  double phase[3];   ///< where on rings x, y and z are largest: atan2(e2, e1)
  double span[3];    ///< how far they get then, on a ring of radius 1: hypot(e1, e2)
  double distance;   ///< to the grid's middle
  double reach;      ///< radius of the sphere about the grid's middle that holds the grid
};

/// The cap of a sphere about the detector that lies within its reach, in rings as wide as a voxel or little less.
struct Shell {
  double radius;
  double step;         ///< angle of a ring
  std::int64_t rings;  ///< 0: the sphere is out of reach
};

/// Samples of a ring are at centre + cosine cos(a) + sine sin(a), a = 2 pi (n + 1/2) / count.
struct Ring {
  float centre[3];
  float cosine[3];
  float sine[3];
  std::int32_t count;
  double share;     ///< of a sample: the ring's solid angle / (4 pi count)
  double size[3];   ///< |(cosine, sine)|
  double phase[3];  ///< where x, y and z are largest
};

/// The shell of `radius` for a detector anywhere: a detector within the reach has whole spheres. There, and beyond the
/// reach, the argument of acos leaves -1 .. 1.
ECHOFORM_HOST_DEVICE Shell shell_of(const DetectorFrame& frame, double radius) {
  Shell shell{radius, 0.0, 0};
  if (!(radius > 0.0)) return shell;
  const double most = (frame.distance * frame.distance + radius * radius - frame.reach * frame.reach);
  const double twice = 2.0 * frame.distance * radius;
  if (most >= twice) return shell;
  const double angle = most <= -twice ? pi : acos(most / twice);
  const double rings = ceil(radius * angle);
  shell.rings = rings < 1.0 ? 1 : static_cast<std::int64_t>(rings);
  shell.step = angle / static_cast<double>(shell.rings);
  return shell;
}

/// Ring k, at the middle of its angles; its area is exact: cos a - cos b = 2 sin((a + b) / 2) sin((b - a) / 2).
ECHOFORM_HOST_DEVICE Ring ring_of(const DetectorFrame& frame, const Shell& shell, std::int64_t k) {
  const double angle = (static_cast<double>(k) + 0.5) * shell.step;
  const double sine = sin(angle);
  const double along = shell.radius * cos(angle);
  const double across = shell.radius * sine;
  const double count = floor(2.0 * pi * across + 0.5);
  Ring ring;
  ring.count = count < 1.0 ? 1 : static_cast<std::int32_t>(count);
  ring.share = sine * sin(0.5 * shell.step) / static_cast<double>(ring.count);
  for (int a = 0; a < 3; ++a) {
    ring.centre[a] = static_cast<float>(frame.place[a] + along * frame.inward[a]);
    ring.cosine[a] = static_cast<float>(across * frame.e1[a]);
    ring.sine[a] = static_cast<float>(across * frame.e2[a]);
    ring.size[a] = across * frame.span[a];
    ring.phase[a] = frame.phase[a];
  }
  return ring;
}

/// a b + c: rounded once on devices, and twice on the host, where no instruction set shall differ from another.
ECHOFORM_HOST_DEVICE float added(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return fmaf(a, b, c);
#else
  return c + a * b;
#endif
}

struct OnCircle {
  float cosine;
  float sine;
};

/// Cosine and sine of the angle 2 pi (n + 1/2) / count, to 1e-7 and without a branch; `inverse` = 1 / count in float. The
/// angle within its quarter is first computed in whole numbers, so it is exact up to its own rounding.
ECHOFORM_HOST_DEVICE OnCircle on_circle(std::int32_t n, std::int32_t count, float inverse) {
  const std::int32_t quarters = 4 * n + 2;  // of a turn, times count
  const auto quarter = static_cast<std::int32_t>(static_cast<float>(quarters) * inverse + 0.5F);
  const float v = static_cast<float>(quarters - quarter * count) * inverse;  // -1/2 .. 1/2 quarters of a turn
  const float v2 = v * v;
  // Taylor's series of sin(pi v / 2) and cos(pi v / 2).
  const float s3 = added(v2, added(v2, 0.000160441185F, -0.00468175414F), 0.0796926262F);
  const float s = v * added(v2, added(v2, s3, -0.645964098F), 1.57079633F);
  const float c3 = added(v2, added(v2, 0.000919260275F, -0.0208634807F), 0.253669508F);
  const float c = added(v2, added(v2, c3, -1.23370055F), 1.0F);
  const bool swapped = (quarter & 1) != 0;
  const float cosine = swapped ? s : c;
  const float sine = swapped ? c : s;
  return {((quarter + 1) & 2) != 0 ? -cosine : cosine, (quarter & 2) != 0 ? -sine : sine};
}

ECHOFORM_HOST_DEVICE float on_ring(const Ring& ring, int axis, const OnCircle& at) {
  return added(ring.sine[axis], at.sine, added(ring.cosine[axis], at.cosine, ring.centre[axis]));
}

/// Which pieces of a ring may have samples between `low` and `high`: bit k is samples k piece .. (k + 1) piece - 1.
struct Pieces {
  std::uint64_t bits;
  std::int32_t piece;
};

/// Samples that are worked on together: a piece is one or more of these.
inline constexpr std::int32_t batch = 32;

namespace detail {

/// Bits of the pieces that hold samples from..to of a ring, whole numbers that may lie outside of it.
ECHOFORM_HOST_DEVICE std::uint64_t pieces_between(double from, double to, std::int32_t count, std::int32_t piece) {
  const double turn = count;
  if (to - from >= turn - 1.0) return ~std::uint64_t{0};
  const double round = floor(from / turn) * turn;
  const auto first = static_cast<std::int64_t>(from - round);
  const auto last = static_cast<std::int64_t>(to - round);  // below 2 count
  const auto bits = [piece](std::int64_t a, std::int64_t b) {
    const std::int64_t below = a / piece;
    const std::int64_t width = b / piece - below + 1;
    return (width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << below;
  };
  if (last < count) return bits(first, last);
  return bits(first, count - 1) | bits(0, last - count);
}

}  // namespace detail

/// A superset: samples are checked one by one afterwards.
ECHOFORM_HOST_DEVICE Pieces pieces_within(const Ring& ring, const float low[3], const float high[3]) {
  constexpr double guard = 0.01;  // voxels: places are single precision
  Pieces pieces{0, batch};
  for (int a = 0; a < 3; ++a) {
    const double centre = ring.centre[a];
    if (low[a] - guard - centre > ring.size[a] || high[a] + guard - centre < -ring.size[a]) return pieces;
  }
  while (static_cast<std::int64_t>(pieces.piece) * 64 < ring.count) pieces.piece += batch;
  const std::int32_t used = (ring.count + pieces.piece - 1) / pieces.piece;
  pieces.bits = used == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
  // Two arc cosines take as long as two batches.
  if (ring.count < 8 * batch) return pieces;
  const double to_samples = static_cast<double>(ring.count) / (2.0 * pi);
  for (int a = 0; a < 3; ++a) {
    const double size = ring.size[a];
    const double least = low[a] - guard - ring.centre[a];
    const double most = high[a] + guard - ring.centre[a];
    if (least <= -size && most >= size) continue;
    // |angle - phase| is between the two.
    const double near = most >= size ? 0.0 : acos(most / size);
    const double far = least <= -size ? pi : acos(least / size);
    const double phase = ring.phase[a];
    const auto samples = [&](double from, double to) {
      return detail::pieces_between(floor(from * to_samples - 1.5), ceil(to * to_samples + 0.5), ring.count, pieces.piece);
    };
    pieces.bits &= near == 0.0 ? samples(phase - far, phase + far)
                   : far == pi ? samples(phase + near, phase + 2.0 * pi - near)
                               : (samples(phase + near, phase + far) | samples(phase - far, phase - near));
  }
  return pieces;
}

}  // namespace echoform::interpolated
