// Weights w(element, pixel) of one side of the beamformer; b_ij(p) = w_tx(i, p) * w_rx(j, p).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/beamform/beamform_options.hpp"

namespace echoform::beamform {

/// The window at `t` of the way from one edge of an aperture to the other, 0 .. 1.
[[nodiscard]] double window_at(ApodizationWindow window, double tukey_fraction, double t);

/// Places along a line by their order: 0 of the first, 1 of the next ... where they stand evenly, and in proportion between the
/// first and the last where they do not.
struct Ranks {
  std::vector<double> of_place;
  double distinct = 1.0;  ///< of the places, to `same_place` of their extent

  /// Of a rank, from one edge of the aperture to the other: edges are half a step beyond the outermost places.
  [[nodiscard]] double way(double rank) const { return (0.5 + rank) / distinct; }
};
/// Of one or more places.
[[nodiscard]] Ranks ranks_of(std::vector<double> places);

/// Window over `elements` elements at its middle points, w_i = window((i + 0.5) / elements): Hann sin^2(pi t); Tukey with
/// cosine tapers over `tukey_fraction` of the aperture (0: rectangular, 1: Hann).
[[nodiscard]] std::vector<double> aperture_window(ApodizationWindow window, double tukey_fraction, std::size_t elements);

using Side = BeamformSide;

/// Whether the side has weights other than 1.
[[nodiscard]] bool has_weights(const Aperture& aperture, Side side);
/// Whether either has.
[[nodiscard]] bool has_weights(const Aperture& aperture);
/// That window by source of a side, or the weights of events; empty where the side has no weights.
[[nodiscard]] std::vector<double> source_window(const Aperture& aperture, Side side, std::size_t sources);

/// Weights of an event where those are stated, else of the element behind source `source` of `leg`, of this side, for `pixels` (0
/// .. 1), into `weights`. Angles are those from the element's normal at which the leg's wave leaves it: along the straight line
/// to the pixel, or as the leg says where rays bend. Directivity is |sinc(w sin(a) / lambda) sinc(l sin(b) / lambda)| cos(theta)
/// of an element of width w and length l (a rectangular piston: Goodman, Introduction to Fourier Optics, section 4.4), with
/// sin(a) and sin(b) the direction's components along both (theta = a and b = 0 within the plane of a linear array, and where
/// rays bend), and lambda at the probe's centre frequency in the medium where the wave leaves (directivity_velocity()). A pixel
/// behind the element has weight 0 under either; so has one that no ray reaches.
void element_weights(const Aperture& aperture, Side side, const Leg& leg, std::size_t source, double window_weight,
                     std::span<const Point> pixels, std::span<float> weights);

/// Wave speed that an element's directivity on this leg follows: that at which the leg's wave leaves, else that of longitudinal
/// waves.
[[nodiscard]] MetresPerSecond directivity_velocity(const Aperture& aperture, const Leg& leg, std::size_t source);

}  // namespace echoform::beamform
