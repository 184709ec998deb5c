// Arithmetic of Jacobi's method that host and device share.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"

namespace echoform {

/// A complex Jacobi rotation. Column q is multiplied by the phase factor (turn_re, turn_im), so that the entry that couples
/// it to p is real. Then p and q become c p - s q and s p + c q.
struct ClutterRotation {
  double c;
  double s;
  double turn_re;
  double turn_im;
};

/// The rotation that makes the entry (re, im) in row p and column q of a Hermitian matrix 0. `of_p` and `of_q` are the
/// entries on the diagonal.
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

/// Limits of Jacobi sweeps: their maximum number, and the share of off-diagonal squares in all squares below which sweeps
/// end. It is smaller than the rounding of the samples, which are in single precision.
inline constexpr int most_clutter_sweeps = 32;
inline constexpr double small_beside_diagonal = 1e-26;

}  // namespace echoform
