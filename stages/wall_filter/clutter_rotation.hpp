// Arithmetic of Jacobi's method that host and device share.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// Column q is turned by (turn_re, turn_im), so that what couples it to p is real; then p and q become c p - s q and s p + c q.
struct ClutterRotation {
  double c;
  double s;
  double turn_re;
  double turn_im;
};

/// What makes the entry (re, im) in row p and column q of a Hermitian matrix 0, `of_p` and `of_q` being those on the diagonal.
ECHOFORM_HOST_DEVICE ClutterRotation clutter_rotation(double of_p, double of_q, double re, double im) {
  ClutterRotation rotation{1.0, 0.0, 1.0, 0.0};
  const double strength = hypot(re, im);
  if (!(strength > 0.0)) return rotation;
  rotation.turn_re = re / strength;
  rotation.turn_im = -im / strength;
  const double theta = (of_q - of_p) / (2.0 * strength);
  const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  rotation.c = 1.0 / sqrt(t * t + 1.0);
  rotation.s = t * rotation.c;
  return rotation;
}

/// Of a Jacobi sweep: so many at most, and done where the squares beside the diagonal are less than this share of all: beyond
/// the rounding of the samples, which are in single precision.
inline constexpr int most_clutter_sweeps = 32;
inline constexpr double small_beside_diagonal = 1e-26;

}  // namespace echoform
