// Weights of the beamformer's sum as users choose them; apodization.hpp makes them.
#pragma once

#include <compare>
#include <cstdint>

#include "base/interval.hpp"

namespace echoform {

enum class ApodizationWindow : std::uint8_t { none, hann, tukey };
enum class ApodizationSides : std::uint8_t { both, transmit, receive };

/// Weights b_ij = w_tx(i, p) * w_rx(j, p).
struct Apodization {
  static constexpr Interval tukey_fractions{0.0, 1.0};
  static constexpr Interval angle_limits{1.0, 90.0};

  ApodizationWindow window = ApodizationWindow::none;  ///< over the whole aperture, by element index; a 2D array has a
                                                       ///< window along x times one along y
  double tukey_fraction = 0.5;                         ///< tapered part, 0 (rectangular) .. 1 (Hann)
  ApodizationSides sides = ApodizationSides::both;     ///< any but `both` makes b_ij != b_ji
  bool directivity = false;                            ///< weight by the element's directivity at the centre frequency
  double angle_limit = 90.0;                           ///< degrees from the element's normal; beyond it the weight is 0

  /// Whether weights follow the angles at which waves leave the elements.
  [[nodiscard]] bool angular() const { return directivity || angle_limit < 90.0; }
  [[nodiscard]] bool trivial() const { return window == ApodizationWindow::none && !angular(); }
  [[nodiscard]] bool symmetric() const { return sides == ApodizationSides::both; }

  auto operator<=>(const Apodization&) const = default;
};

}  // namespace echoform
