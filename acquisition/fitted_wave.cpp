#include "acquisition/fitted_wave.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr std::size_t unknowns = 4;  // delay at the centre, x and y of the direction, curvature, in units of the aperture
constexpr int most_steps = 60;
constexpr double steepest = 1.0 - 1e-9;  // largest x and y of a direction

using Vector = std::array<double, unknowns>;
using Matrix = std::array<Vector, unknowns>;

/// A + damping on its diagonal is positive definite, so the elimination needs no pivoting.
Vector solved(Matrix a, Vector b) {
  for (std::size_t i = 0; i < unknowns; ++i) {
    for (std::size_t j = i + 1; j < unknowns; ++j) {
      const double by = a[j][i] / a[i][i];
      for (std::size_t k = i; k < unknowns; ++k) a[j][k] -= by * a[i][k];
      b[j] -= by * b[i];
    }
  }
  for (std::size_t i = unknowns; i-- > 0;) {
    for (std::size_t k = i + 1; k < unknowns; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

struct Place {
  Direction at;
  double delay;
};

/// Difference between a place's delay and that of the wave, and its derivatives with respect to the unknowns. With
/// q = sqrt(1 - 2 k e.u + k^2 e^2) the wave is early by g = (k e^2 - 2 e.u) / (1 + q), which holds for k = 0 too.
double residual_of(const Place& place, const Vector& wave, Vector& change) {
  const double u_z = std::sqrt(1.0 - wave[1] * wave[1] - wave[2] * wave[2]);
  const double along = place.at.x * wave[1] + place.at.y * wave[2] + place.at.z * u_z;
  const double square = dot(place.at, place.at);
  const double k = wave[3];
  const double q = std::sqrt(std::max(1e-12, 1.0 - 2.0 * k * along + k * k * square));
  const double g = (k * square - 2.0 * along) / (1.0 + q);
  const double by_along = -1.0 / q;
  change = {1.0, -by_along * (place.at.x - place.at.z * wave[1] / u_z), -by_along * (place.at.y - place.at.z * wave[2] / u_z),
            -(square - g * g) / (2.0 * q)};
  return place.delay - (wave[0] - g);
}

double sum_of_squares(std::span<const Place> places, const Vector& wave) {
  Vector unused{};
  double sum = 0.0;
  for (const Place& place : places) {
    const double residual = residual_of(place, wave, unused);
    sum += residual * residual;
  }
  return sum;
}

/// One step of the fit; nothing where no step reduces the error.
std::optional<Vector> stepped(std::span<const Place> places, const Vector& wave) {
  Matrix normal{};
  Vector right{};
  for (const Place& place : places) {
    Vector change{};
    const double residual = residual_of(place, wave, change);
    for (std::size_t i = 0; i < unknowns; ++i) {
      right[i] += change[i] * residual;
      for (std::size_t j = 0; j < unknowns; ++j) normal[i][j] += change[i] * change[j];
    }
  }
  // An unknown that no delay depends on, such as y of a row's wave, stays as it is.
  for (std::size_t i = 0; i < unknowns; ++i) normal[i][i] += 1e-13 * static_cast<double>(places.size());
  const Vector step = solved(normal, right);
  const double before = sum_of_squares(places, wave);
  for (double share = 1.0; share > 1e-3; share *= 0.5) {
    Vector next = wave;
    for (std::size_t i = 0; i < unknowns; ++i) next[i] += share * step[i];
    if (std::hypot(next[1], next[2]) < steepest && sum_of_squares(places, next) < before) return next;
  }
  return std::nullopt;
}

}  // namespace

std::optional<FittedWave> fit_wave(std::span<const DelayedPlace> places, MetresPerSecond velocity) {
  double unit_length = 0.0;
  for (const DelayedPlace& place : places) unit_length = std::max(unit_length, length(place.from_centre));
  if (!(unit_length > 0.0)) return std::nullopt;
  const double unit_time = unit_length / velocity.value;
  std::vector<Place> scaled_places;
  Vector wave{};
  for (const DelayedPlace& place : places) {
    scaled_places.push_back({scaled(place.from_centre, 1.0 / unit_length), place.delay / unit_time});
    wave[0] += scaled_places.back().delay / static_cast<double>(places.size());
  }
  bool ended = false;
  for (int step = 0; step < most_steps && !ended; ++step) {
    const auto next = stepped(scaled_places, wave);
    ended = !next;
    if (next) wave = *next;
  }
  FittedWave fitted;
  fitted.direction = {wave[1], wave[2], std::sqrt(1.0 - wave[1] * wave[1] - wave[2] * wave[2])};
  fitted.curvature = wave[3] / unit_length;
  Vector unused{};
  for (const Place& place : scaled_places) {
    fitted.residual = std::max(fitted.residual, Seconds(unit_time * std::abs(residual_of(place, wave, unused))));
  }
  return std::isfinite(fitted.residual.value) ? std::optional(fitted) : std::nullopt;
}

}  // namespace echoform
