// Weights w(element, pixel) of one side of the beamformer; b_ij(p) = w_tx(i, p) * w_rx(j, p).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/beamform/beamform_options.hpp"

namespace echoform::beamform {

/// The value of the window at the position `t` in an aperture, from 0 at one edge to 1 at the other.
[[nodiscard]] double window_at(ApodizationWindow window, double tukey_fraction, double t);

/// Ranks of places along a line: 0 for the first, 1 for the next and so on, where places are evenly spaced. Uneven places
/// have ranks in proportion to their position between the first and the last.
struct Ranks {
  std::vector<double> of_place;
  double distinct = 1.0;  ///< number of distinct places; places closer than `same_place` of the extent count as one

  /// The position of a rank in the aperture, from 0 at one edge to 1 at the other. Edges are half a step beyond the
  /// outermost places.
  [[nodiscard]] double way(double rank) const { return (0.5 + rank) / distinct; }
};
/// The ranks of one or more places.
[[nodiscard]] Ranks ranks_of(std::vector<double> places);

/// Window over `elements` elements, evaluated at their middle points, w_i = window((i + 0.5) / elements): Hann sin^2(pi t);
/// Tukey with cosine tapers over `tukey_fraction` of the aperture (0: rectangular, 1: Hann).
[[nodiscard]] std::vector<double> aperture_window(ApodizationWindow window, double tukey_fraction, std::size_t elements);

using Side = BeamformSide;

/// Whether the side has weights other than 1.
[[nodiscard]] bool has_weights(const Aperture& aperture, Side side);
/// Whether either side has weights other than 1.
[[nodiscard]] bool has_weights(const Aperture& aperture);
/// The value of the aperture's window for each source of a side, or the weights of events. Empty where the side has no weights.
[[nodiscard]] std::vector<double> source_window(const Aperture& aperture, Side side, std::size_t sources);

/// Writes the weights (0 .. 1) of a source of this side at `pixels` to `weights`: the weight of the event where the aperture
/// has such, else that of the element of source `source` of `leg`. Angles are measured from the element's normal to the
/// direction in which the leg's wave leaves: along the straight line to the pixel, or as given by the leg where rays bend.
/// Directivity is |sinc(w sin(a) / lambda) sinc(l sin(b) / lambda)| cos(theta) of an element of width w and length l (a
/// rectangular piston: Goodman, Introduction to Fourier Optics, section 4.4), with sin(a) and sin(b) the direction's
/// components along both (theta = a and b = 0 within the plane of a linear array, and where rays bend), and lambda at the
/// probe's centre frequency in the medium where the wave leaves (directivity_velocity()). A pixel behind the element has
/// weight 0 under directivity and under an angle limit. So has a pixel that no ray reaches.
void element_weights(const Aperture& aperture, Side side, const Leg& leg, std::size_t source, double window_weight,
                     std::span<const Point> pixels, std::span<float> weights);

/// The wave speed for an element's directivity on this leg: that at which the leg's wave leaves if the leg states it, else
/// that of longitudinal waves.
[[nodiscard]] MetresPerSecond directivity_velocity(const Aperture& aperture, const Leg& leg, std::size_t source);

}  // namespace echoform::beamform
