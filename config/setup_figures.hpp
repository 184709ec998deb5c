// The figures by which a set-up is judged before anything is imaged. Closed forms, each with its source; all lengths in m.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/acquisition.hpp"

namespace echoform {

/// Wavelength c / f. Expects a frequency above 0.
[[nodiscard]] Metres wavelength_of(MetresPerSecond velocity, Hertz frequency);

/// Mean distance between the centres of neighbouring elements; 0 for a single one.
[[nodiscard]] Metres pitch_of(const Probe& probe);

/// Length D of the active aperture: from the first to the last element's centre, and one element's width (a pitch, where the
/// width is not known).
[[nodiscard]] Metres aperture_of(const Probe& probe);

/// Near-field length N = D^2 / (4 lambda), beyond which an aperture cannot focus (Krautkraemer and Krautkraemer, Ultrasonic
/// Testing of Materials, 4th ed. 1990, section 4.2, for a piston of diameter D; taken for an array of length D).
[[nodiscard]] Metres near_field_length(Metres aperture, Metres wavelength);

/// Depth from which the rays of an aperture in couplant seem to come, as seen in the part below a plane surface and near the
/// axis: depth + stand_off * c_couplant / c, by Snell's law for small angles. Without a couplant it is the depth.
[[nodiscard]] Metres apparent_depth(Metres depth, Metres stand_off, MetresPerSecond couplant, MetresPerSecond velocity);

/// Width at -6 dB, along the array, of a point below the aperture's centre when both ways are focused on it with the whole
/// aperture: 0.8859 lambda / (2 sin theta), tan theta = D / (2 depth). 0.8859 is the width of sinc^2 at half its peak (Goodman,
/// Introduction to Fourier Optics, section 4.4, for one slit; its square for two ways). Far below the aperture it is 0.8859
/// lambda depth / D. Elements count as points that radiate alike to all sides. Expects aperture and depth above 0.
[[nodiscard]] Metres lateral_resolution(Metres aperture, Metres depth, Metres wavelength);

/// Width of the envelope at -6 dB along z for a Gaussian pulse whose spectrum is `bandwidth` wide at -6 dB:
/// (4 ln 2 / pi) / bandwidth / (1 / c_transmit + 1 / c_receive); with equal velocities (c / 2) 0.8825 / bandwidth. The product of
/// the two widths of a Gaussian is 4 ln 2 / pi. Expects a bandwidth above 0.
[[nodiscard]] Metres axial_resolution(MetresPerSecond transmit, MetresPerSecond receive, Hertz bandwidth);

/// Where an array of point-like elements radiates a grating lobe: sin(lobe) = sin(steered) - lambda / pitch (Wooh and Shi 1999,
/// Wave Motion 29, 245-265, among many).
struct GratingLobe {
  bool straight_ahead = false;  ///< pitch >= lambda: there is a lobe at every angle, straight ahead included
  double degrees = 0.0;         ///< straight_ahead: where that lobe stands; else the steering angle beyond which there is one
};
/// Nothing where no angle has a lobe: pitch <= lambda / 2.
[[nodiscard]] std::optional<GratingLobe> grating_lobe(Metres pitch, Metres wavelength);

/// Coarsest pixels that show a point's amplitude within 2 dB, wherever it lies between the pixels, for the shortest wavelength of
/// an image. The oscillating image is cos(4 pi z / lambda) under its envelope, so that half a pixel off it has lost cos(2 pi /
/// 10) = -1.8 dB for lambda / 10. The envelope of a pulse of 60 % bandwidth (Gaussian, as axial_resolution) and of an aperture as
/// long as the depth (as lateral_resolution, f-number 1) has lost 1.0 dB and 0.7 dB half a pixel off along both axes for lambda
/// / 3.3.
inline constexpr double pixels_per_wavelength_oscillating = 10.0;
inline constexpr double pixels_per_wavelength_envelope = 3.3;

/// Frames a second that a link of `bits_per_second` carries of `frame_bytes` each, counting nothing but samples.
[[nodiscard]] double frames_per_second_of_link(double bits_per_second, std::size_t frame_bytes);

}  // namespace echoform
