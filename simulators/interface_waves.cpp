#include "simulators/interface_waves.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace echoform::simulated {
namespace {

using Complex = std::complex<double>;

struct Parts {
  Complex fluid;
  Complex longitudinal;  // a of the header
  Complex shear;         // b
};

Complex cosine(double sine) {
  return std::sqrt(Complex(1.0 - sine * sine, 0.0));
}

/// The slowness of a wave that comes through the fluid, kept just off grazing incidence, where cosines vanish.
double off_grazing(const FluidSolid& at, double slowness) {
  return std::min(slowness, 0.999999 / at.fluid_velocity);
}

Parts parts_of(const FluidSolid& at, double p) {
  const Complex fluid = cosine(p * at.fluid_velocity);
  const Complex longitudinal = cosine(p * at.longitudinal_velocity);
  const Complex shear = cosine(p * at.shear_velocity);
  const double sine = p * at.shear_velocity;
  const double twice = 1.0 - 2.0 * sine * sine;  // cos(2 T)
  const auto apart_from_zero = [](Complex value) { return std::abs(value) < 1e-6 ? Complex(1e-6, 0.0) : value; };
  return {at.fluid_density * at.fluid_velocity / apart_from_zero(fluid),
          at.density * at.longitudinal_velocity / apart_from_zero(longitudinal) * twice * twice,
          at.density * at.shear_velocity * 4.0 * sine * sine * shear};
}

}  // namespace

double FluidSolid::reflection(double slowness) const {
  const Parts part = parts_of(*this, off_grazing(*this, slowness));
  const Complex solid = part.longitudinal + part.shear;
  return std::min(1.0, std::abs((solid - part.fluid) / (solid + part.fluid)));
}

double FluidSolid::transmission(char mode, double slowness) const {
  if (slowness * (mode == 'L' ? longitudinal_velocity : shear_velocity) >= 1.0) return 0.0;
  const Parts part = parts_of(*this, off_grazing(*this, slowness));
  const Complex through = mode == 'L' ? part.longitudinal : part.shear;
  return 2.0 * std::sqrt(std::abs(part.fluid * through)) / std::abs(part.fluid + part.longitudinal + part.shear);
}

double FluidSolid::reflection_from_below(char incident, char reflected, double slowness) const {
  const auto velocity = [&](char mode) { return mode == 'L' ? longitudinal_velocity : shear_velocity; };
  if (slowness * velocity(incident) >= 1.0 || slowness * velocity(reflected) >= 1.0) return 0.0;
  const Parts part = parts_of(*this, slowness);
  const Complex all = part.fluid + part.longitudinal + part.shear;
  if (incident != reflected) return 2.0 * std::sqrt(std::abs(part.longitudinal * part.shear)) / std::abs(all);
  const Complex own = incident == 'L' ? part.longitudinal : part.shear;
  return std::min(1.0, std::abs(all - 2.0 * own) / std::abs(all));
}

double SolidFree::reflection(char incident, char reflected, double slowness) const {
  const double longitudinal = slowness * longitudinal_velocity;
  const double shear = slowness * shear_velocity;
  if (shear >= 1.0) return 0.0;
  if (longitudinal >= 1.0) return incident == 'T' && reflected == 'T' ? 1.0 : 0.0;
  const double ratio = longitudinal_velocity / shear_velocity;
  const double twice = 1.0 - 2.0 * shear * shear;
  const double s = 4.0 * longitudinal * shear * std::sqrt((1.0 - longitudinal * longitudinal) * (1.0 - shear * shear));
  const double k = ratio * ratio * twice * twice;
  const double kept = std::abs(s - k) / (s + k);
  return incident == reflected ? kept : std::sqrt(std::max(0.0, 1.0 - kept * kept));
}

}  // namespace echoform::simulated
