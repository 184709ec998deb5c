// The channels of a ChannelWindow as channels_math.hpp reads them.
#pragma once

#include <cstddef>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::adaptive {

template <bool is_complex>
struct PackedChannels {
  static constexpr bool complex = is_complex;
  const ChannelWindow& window;

  [[nodiscard]] float weight(std::size_t n) const { return window.weights[n]; }
  [[nodiscard]] float real(std::size_t k, std::size_t n) const { return window.real[k * window.channels + n]; }
  [[nodiscard]] float imaginary(std::size_t k, std::size_t n) const { return window.imaginary[k * window.channels + n]; }
};

}  // namespace echoform::adaptive
