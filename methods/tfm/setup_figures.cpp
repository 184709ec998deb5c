#include "methods/tfm/setup_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform {
namespace {

double in_degrees(double radians) {
  return radians * 180.0 / std::numbers::pi;
}

}  // namespace

Metres wavelength_of(MetresPerSecond velocity, Hertz frequency) {
  return velocity / frequency;
}

Metres near_field_length(Metres aperture, Metres wavelength) {
  return aperture * (aperture / wavelength) / 4.0;
}

Metres near_field_left(Metres near_field, Metres path, MetresPerSecond couplant, MetresPerSecond velocity) {
  return std::max(Metres(), near_field - path * (couplant / velocity));
}

std::optional<GratingLobe> grating_lobe(Metres pitch, Metres wavelength) {
  if (2.0 * pitch <= wavelength) return std::nullopt;
  const double ratio = wavelength / pitch;
  if (ratio <= 1.0) return GratingLobe{true, in_degrees(std::asin(ratio))};
  return GratingLobe{false, in_degrees(std::asin(ratio - 1.0))};
}

double frames_per_second_of_link(double bits_per_second, std::size_t frame_bytes) {
  return bits_per_second / (8.0 * static_cast<double>(frame_bytes));
}

}  // namespace echoform
