// Ranges of the numbers that an acquisition, a file or a configuration states. They are wide: a number outside them is a
// mistake of units or an attack, and would lead the arithmetic of images, in float, to infinities and NaN.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"
#include "base/units.hpp"

namespace echoform {

inline constexpr Hertz minimum_sample_rate(1.0);
inline constexpr Hertz maximum_sample_rate(1e12);
inline constexpr Hertz minimum_frequency(1.0);  ///< of a probe's centre frequency and bandwidth, where they are known
inline constexpr Hertz maximum_frequency(1e12);
inline constexpr Hertz minimum_pulse_repetition(1e-3);  ///< of transmit events, where it is known
inline constexpr Hertz maximum_pulse_repetition(1e6);
inline constexpr MetresPerSecond minimum_velocity(1.0);
inline constexpr MetresPerSecond maximum_velocity(1e5);
inline constexpr Metres farthest_element(1e3);         ///< of each coordinate from 0
inline constexpr double minimum_sample_scale = 1e-30;  ///< of its magnitude, as of what follows
inline constexpr double maximum_sample_scale = 1e30;
inline constexpr double minimum_weight = 1e-9;
inline constexpr double maximum_weight = 1e9;

/// Whether `hertz` is a valid pulse repetition frequency.
[[nodiscard]] constexpr bool is_pulse_repetition(double hertz) {
  return hertz >= minimum_pulse_repetition.value && hertz <= maximum_pulse_repetition.value;
}

/// Throws InputError, naming `where` and the velocity, unless each is 0 (unknown) or within minimum_velocity and
/// maximum_velocity.
void validate(const Material& material, std::string_view where);

}  // namespace echoform
