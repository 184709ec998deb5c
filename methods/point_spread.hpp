// How large a point appears in an image, along the rays that meet near one place: its spot there.
//
// Close to a place r the time of source i is t_i(r) + s_i . d, with the slowness s_i = grad t_i (Cerveny, Seismic Ray Theory,
// 2001, section 3.1: slowness vectors are gradients of travel time). A point at r is then imaged d away from it as
//
//   P(d) = | integral S(f) A_tx(f, d) A_rx(f, d) df |,   A(f, d) = sum over sources of w_i exp(2 pi i f s_i . d)
//
// with weights w and the part S of the pulse's spectrum that filters leave (pulse_spectrum.hpp). Effects that are not in the
// weights are left out, such as the spreading of waves, which makes spots wider by some per cent, and the transmission of
// interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/pulse_spectrum.hpp"

namespace echoform {

/// A ray at a place.
struct SpotRay {
  Direction slowness;      ///< s/m
  double weight = 1.0;     ///< at least 0
  std::size_t source = 0;  ///< source of the leg
};

/// Planes through a place: that of x and z, or that of y and z.
enum class SpreadPlane : std::uint8_t { along, across };

/// Whether rays have a component along y. Images in a plane of constant y do not need it.
enum class RaySpace : std::uint8_t { plane, volume };

/// A ray of weight 1 for each of `sources` (indexed by source of the leg) that has rays to and all around `place`.
/// Slownesses are central differences over `step` to either side, more than 0.
[[nodiscard]] std::vector<SpotRay> rays_to(const Leg& leg, const std::vector<bool>& sources, const Point& place, Metres step,
                                           RaySpace space = RaySpace::plane);

/// The waves that meet at a place: their rays on transmit and on receive, and their pulse. None of the three is empty, and
/// on either path some ray has a weight above 0.
struct Meeting {
  std::span<const SpotRay> transmit;
  std::span<const SpotRay> receive;
  std::span<const SpectralLine> spectrum;
};

/// Lengths of the edges of a pixel; y is 0 for an image.
struct PixelEdges {
  Metres x;
  Metres y;
  Metres z;
};

/// The loss in dB of a point that lies half a pixel off its pixels along all axes at once: of its envelope, and of the
/// oscillating image (the real part of P). The oscillating image is 0 dB at the point too. Infinite where nothing is left.
struct PixelLoss {
  double envelope = 0.0;
  double oscillating = 0.0;
};
[[nodiscard]] PixelLoss pixel_loss(const Meeting& at, const PixelEdges& pixel);

/// Edges of the largest square pixels (cubes in a volume) that lose no more than a given number of decibels.
struct CoarsestPixel {
  Metres envelope;
  Metres oscillating;
};
/// `decibels` above 0. Infinite edges where no pixel loses as much within 50 wavelengths.
[[nodiscard]] CoarsestPixel coarsest_pixel(const Meeting& at, double decibels, RaySpace space = RaySpace::plane);

/// Full width at -6 dB.
struct SpotWidth {
  double degrees = 0.0;         ///< from x, or y, towards z, 0 up to 180
  std::optional<Metres> width;  ///< nothing where it is more than a hundred wavelengths
};

/// The spot by its two principal axes.
struct Spot {
  SpotWidth lateral;
  SpotWidth axial;  ///< along the axis closer to the mean of s_i + s_j, in which echoes become later; along z if blind
  /// That mean is less than a tenth of its terms: the path back cancels the path out. Then only the different directions of
  /// the rays distinguish places along the axial axis, and a shorter pulse does not help.
  bool blind = false;
};

/// The spot within a plane. Its axes are the principal axes of the covariance C of the wave vectors 2 pi f (s_i + s_j),
/// over rays by their weights and over the spectrum, as P(d) / P(0) = 1 - d . C d / 2 near its peak. Its widths are those
/// of P itself. If the spectrum has one frequency, the axial width is that of the aperture.
[[nodiscard]] Spot spot_of(const Meeting& at, SpreadPlane plane = SpreadPlane::along);

}  // namespace echoform
