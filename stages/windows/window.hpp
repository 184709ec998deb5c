// Windows that taper an aperture: weights 0 .. 1 across it. A new window needs a function NAME_at() in window.cpp and a line
// in the list below; configuration, checks, messages and pages follow from the list.
#pragma once

#include <compare>
#include <cstdint>

#include "base/interval.hpp"

namespace echoform {

#define ECHOFORM_WINDOWS(WINDOW) \
  WINDOW(none)                   \
  WINDOW(hann)                   \
  WINDOW(hamming)                \
  WINDOW(blackman)               \
  WINDOW(tukey)                  \
  WINDOW(kaiser)                 \
  WINDOW(gauss)

#define ECHOFORM_ENUMERATOR(NAME) NAME,
enum class WindowKind : std::uint8_t { ECHOFORM_WINDOWS(ECHOFORM_ENUMERATOR) };
#undef ECHOFORM_ENUMERATOR

/// A window and its parameters.
struct Window {
  static constexpr Interval tukey_fractions{0.0, 1.0};
  static constexpr Interval kaiser_betas{0.0, 40.0};
  static constexpr Interval gauss_widths{0.05, 10.0};

  WindowKind kind = WindowKind::none;
  double tukey_fraction = 0.5;  ///< of `tukey`: the part that is tapered, 0 (none) .. 1 (Hann)
  double kaiser_beta = 4.0;     ///< of `kaiser`: 0 is none
  double gauss_width = 0.4;     ///< of `gauss`: its standard deviation over half the aperture

  constexpr auto operator<=>(const Window&) const = default;
};

/// The weight at the position `t` in the aperture, from 0 at one edge to 1 at the other; symmetric, 1 in the middle.
/// Formulas: F. J. Harris, Proc. IEEE 66(1), 51 (1978).
///   hann     sin^2(pi t)              hamming  0.54 - 0.46 cos(2 pi t)
///   tukey    cosine tapers at both ends, together tukey_fraction of the aperture
///   kaiser   I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta)
///   gauss    exp(-((2 t - 1) / gauss_width)^2 / 2)      blackman  0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)
[[nodiscard]] double window_at(const Window& window, double t);

/// Throws InputError, naming `where`, if a parameter is out of its range.
void validate(const Window& window, const char* where);

}  // namespace echoform
