// How much of a plane wave is transmitted and reflected at an interface. The results are amplitudes whose squares are shares
// of the energy, so that both directions of a path have the same amplitude. Only magnitudes are given, since polarities are
// not simulated.
#pragma once

namespace echoform::simulated {

/// Fluid above, isotropic solid below. `slowness` is that along the interface, sin(angle) / velocity, the same on either side
/// (Snell's law). With Z = density * velocity / cos(angle) of each wave, a = Z_L cos^2(2 T), b = Z_T sin^2(2 T), D = a + b + Z:
///   reflection (a + b - Z) / D, transmission 2 sqrt(Z a) / D as L and 2 sqrt(Z b) / D as T; squared they add up to 1.
/// From below, in the solid: LL keeps (Z + b - a) / D, TT (Z + a - b) / D, and 2 sqrt(a b) / D go into the other mode; what is
/// left goes into the fluid as it would come from there. All nine are 1 - 2 v v^T / |v|^2 with v = sqrt(Z), sqrt(a), sqrt(b), by
/// which energy is kept and directions may be exchanged.
/// Beyond a critical angle the cosine is imaginary (Brekhovskikh and Godin 1990, Acoustics of Layered Media I, section 4.2).
struct FluidSolid {
  double fluid_velocity = 1480.0;
  double fluid_density = 1000.0;
  double longitudinal_velocity = 6320.0;
  double shear_velocity = 3130.0;
  double density = 2700.0;

  [[nodiscard]] double reflection(double slowness) const;
  /// 0 where the wave does not propagate.
  [[nodiscard]] double transmission(char mode, double slowness) const;
  /// Reflection of a wave in the solid at the fluid, into which part of the energy leaks; 0 where either wave does not
  /// propagate.
  [[nodiscard]] double reflection_from_below(char incident, char reflected, double slowness) const;
};

/// Solid above nothing. With s = sin(2 L) sin(2 T) and k = (c_L / c_T)^2 cos^2(2 T): LL and TT keep |s - k| / (s + k), and what
/// energy that leaves goes into the other mode; beyond the critical angle of L all T stays T (Achenbach 1973, Wave Propagation in
/// Elastic Solids, section 5.6).
struct SolidFree {
  double longitudinal_velocity = 6320.0;
  double shear_velocity = 3130.0;

  [[nodiscard]] double reflection(char incident, char reflected, double slowness) const;
};

}  // namespace echoform::simulated
