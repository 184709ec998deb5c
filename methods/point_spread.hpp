// How large a point appears in an image, along the rays that meet near one place: its spot there.
//
// Close to a place r the time of source i is t_i(r) + s_i . d, with the slowness s_i = grad t_i (Cerveny, Seismic Ray Theory,
// 2001, section 3.1: slowness vectors are gradients of travel time). A point at r is then imaged d away from it as
//
//   P(d) = | integral S(f) A_tx(f, d) A_rx(f, d) df |,   A(f, d) = sum over sources of w_i exp(2 pi i f s_i . d)
//
// with what filters leave of the pulse's spectrum S (pulse_spectrum.hpp) and weights w. What is not in the weights is left out,
// such as the spreading of waves, which makes spots wider by some per cent, and what interfaces let through.
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
  std::size_t source = 0;  ///< of the leg
};

/// Planes through a place: that of x and z, or that of y and z.
enum class SpreadPlane : std::uint8_t { along, across };

/// Whether rays have a part along y: of images in a plane of constant y nobody asks.
enum class RaySpace : std::uint8_t { plane, volume };

/// One of weight 1 for each of `sources` (by source of the leg) with rays to and all around `place`, by central differences over
/// `step` to either side, more than 0.
[[nodiscard]] std::vector<SpotRay> rays_to(const Leg& leg, const std::vector<bool>& sources, const Point& place, Metres step,
                                           RaySpace space = RaySpace::plane);

/// What waves do that meet at a place: on their way out, on their way back, and their pulse. None of the three is empty, and some
/// ray of either way has a weight above 0.
struct Meeting {
  std::span<const SpotRay> transmit;
  std::span<const SpotRay> receive;
  std::span<const SpectralLine> spectrum;
};

/// Edges of a pixel; along y 0 of an image.
struct PixelEdges {
  Metres x;
  Metres y;
  Metres z;
};

/// What an image loses of a point that lies half a pixel off its pixels, along all axes at once, in dB: of its envelope, and of
/// the oscillating image (the real part of P), which is 0 dB at the point too. Infinite where nothing is left.
struct PixelLoss {
  double envelope = 0.0;
  double oscillating = 0.0;
};
[[nodiscard]] PixelLoss pixel_loss(const Meeting& at, const PixelEdges& pixel);

/// Edges of the largest square pixels, of a volume cubes, that lose no more than that.
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
  SpotWidth axial;  ///< along the axis closer to the mean of s_i + s_j, the way on which echoes become later; along z where blind
  /// That mean is less than a tenth of what it is made of: the way back undoes what the way out does, and only the rays'
  /// different directions, no pulse however short, tell places along the axial axis apart.
  bool blind = false;
};

/// The spot within a plane. Its axes are the principal axes of the covariance C of the wave vectors 2 pi f (s_i + s_j), over rays
/// by their weights and over the spectrum, as P(d) / P(0) = 1 - d . C d / 2 near its peak. Its widths are those of P itself. Of a
/// spectrum of one frequency the axial width is that of the aperture.
[[nodiscard]] Spot spot_of(const Meeting& at, SpreadPlane plane = SpreadPlane::along);

}  // namespace echoform
