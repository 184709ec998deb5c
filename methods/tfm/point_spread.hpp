// How large a point appears in an image, along the actual rays of a view: its spot near one pixel.
//
// Close to a pixel r the time of element i is t_i(r) + s_i . d, with the slowness s_i = grad t_i (Cerveny, Seismic Ray Theory,
// 2001, section 3.1: slowness vectors are gradients of travel time). A point at r is then imaged d away from it as
//
//   P(d) = | integral S(f) A_tx(f, d) A_rx(f, d) df |,   A(f, d) = sum over elements of exp(2 pi i f s_i . d)
//
// with the pulse's spectrum S, a Gaussian. Elements count alike: their directivity, the spreading of waves and what interfaces
// let through are left out; measured spots differ by up to a quarter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/curve.hpp"

namespace echoform {

/// Planes through a pixel: that of x and z, or that of y and z, whose vectors have y in the place of x.
enum class SpreadPlane : std::uint8_t { along, across };

/// Slowness vectors within a plane, s/m, at `pixel`, one for each of `elements` (by source of the leg) with rays to and all
/// around it, by central differences over `step` to either side, more than 0.
[[nodiscard]] std::vector<Vector2> slownesses_at(const Leg& leg, const std::vector<bool>& elements, const Point& pixel,
                                                 Metres step, SpreadPlane plane = SpreadPlane::along);

/// What an image loses of a point that lies half a pixel off its pixels, along both axes at once, in dB: of its envelope, and of
/// the oscillating image (the real part of P), which is 0 dB at the point too. Infinite where nothing is left.
struct PixelLoss {
  double envelope = 0.0;
  double oscillating = 0.0;
};
/// For pixels of `x` by `z`; arguments otherwise as those of spot_of().
[[nodiscard]] PixelLoss pixel_loss(std::span<const Vector2> transmit, std::span<const Vector2> receive, Hertz centre_frequency,
                                   Hertz bandwidth, Metres x, Metres z);

/// Edges of the largest square pixels that lose no more than that.
struct CoarsestPixel {
  Metres envelope;
  Metres oscillating;
};
/// Arguments as those of spot_of(); `decibels` above 0. Infinite edges where no pixel loses as much within 50 wavelengths.
[[nodiscard]] CoarsestPixel coarsest_pixel(std::span<const Vector2> transmit, std::span<const Vector2> receive,
                                           Hertz centre_frequency, Hertz bandwidth, double decibels);

/// Full width at -6 dB.
struct SpotWidth {
  double degrees = 0.0;         ///< from x towards z, 0 up to 180
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

/// The spot of a point whose waves come and go with these slownesses; neither is empty. Its axes are the principal axes of the
/// covariance C of the wave vectors 2 pi f (s_i + s_j), over elements and spectrum, as P(d) / P(0) = 1 - d . C d / 2 near its
/// peak. Its widths are those of P itself. Expects a centre frequency above 0. A bandwidth of 0 is one frequency alone, whose
/// axial width is that of the aperture.
[[nodiscard]] Spot spot_of(std::span<const Vector2> transmit, std::span<const Vector2> receive, Hertz centre_frequency,
                           Hertz bandwidth);

}  // namespace echoform
