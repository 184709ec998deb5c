// Sound of a ball that light has put under pressure instantaneously, uniformly or blurred by a Gaussian, in closed form.
//
// A source that depends on the distance r from its middle alone, p0(r) = a f(r), in a medium of one speed c, gives at distance d
//   p(d, t) = a / (2 d) [(d - c t) f(|d - c t|) + (d + c t) f(d + c t)],   t >= 0,
// the spherically symmetric solution of the wave equation (d'Alembert's of d p). f is 1 up to the radius R of a ball; blurred by
// a Gaussian of standard deviation s in each direction
//   f(r) = 1/2 [erf((R - r) / (sqrt2 s)) + erf((R + r) / (sqrt2 s))]
//          - s / (sqrt(2 pi) r) [exp(-(R - r)^2 / (2 s^2)) - exp(-(R + r)^2 / (2 s^2))],
// which is the same as the sound of the ball blurred in time by a Gaussian of s / c.
#pragma once

#include "base/units.hpp"

namespace echoform {

/// The standard deviation s, in metres, of a Gaussian with this full width at half maximum.
[[nodiscard]] double deviation_of_width(Metres width);

/// `radius` is above 0; `deviation` is s in metres, 0 for a ball that is not blurred.
class BallSound {
 public:
  BallSound(Metres radius, double deviation);

  /// f at r >= 0: within rounding of 1e-15, at r = 0 too.
  [[nodiscard]] double profile(double r) const;
  /// Pressure of a ball of amplitude 1 at `distance` > 0, when sound has travelled `way` = c t, both in metres; 0 before the
  /// light (`way` < 0).
  [[nodiscard]] double pressure(double distance, double way) const;
  /// The radius in metres beyond which f is below 1e-16, so that it counts as 0.
  [[nodiscard]] double reach() const { return reach_; }

 private:
  double radius_;
  double deviation_;
  double reach_;
};

}  // namespace echoform
