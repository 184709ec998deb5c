// The figures by which a set-up is judged before anything is imaged. They are closed forms, each with its source; all lengths are
// in m.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Wavelength c / f. Expects a frequency above 0.
[[nodiscard]] Metres wavelength_of(MetresPerSecond velocity, Hertz frequency);

/// Near-field length N = D^2 / (4 lambda), beyond which an aperture cannot focus (Krautkraemer and Krautkraemer, Ultrasonic
/// Testing of Materials, 4th ed. 1990, section 4.2, for a piston of diameter D; taken for an array of length D).
[[nodiscard]] Metres near_field_length(Metres aperture, Metres wavelength);

/// The part of the near field that lies below the surface, after a path of length `path` in couplant: N - path * c_couplant / c,
/// at least 0 (Snell's law for small angles: rays diverge in the part as if they had come from path * c_couplant / c above it).
[[nodiscard]] Metres near_field_left(Metres near_field, Metres path, MetresPerSecond couplant, MetresPerSecond velocity);

/// Where an array of point-like elements radiates a grating lobe: sin(lobe) = sin(steered) - lambda / pitch (Wooh and Shi 1999,
/// Wave Motion 29, 245-265, among many).
struct GratingLobe {
  bool straight_ahead = false;  ///< pitch >= lambda: there is a lobe at every angle, straight ahead included
  double degrees = 0.0;         ///< straight_ahead: where that lobe stands; else the steering angle beyond which there is one
};
/// Nothing where no angle has a lobe: pitch <= lambda / 2.
[[nodiscard]] std::optional<GratingLobe> grating_lobe(Metres pitch, Metres wavelength);

/// Frames a second that a link of `bits_per_second` carries of `frame_bytes` each, counting nothing but samples.
[[nodiscard]] double frames_per_second_of_link(double bits_per_second, std::size_t frame_bytes);

}  // namespace echoform
