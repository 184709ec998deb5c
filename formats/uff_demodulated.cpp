#include "formats/uff_demodulated.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform::formats {
namespace {

// Taps on either side of a place, and the window's shape: a Kaiser window of beta 8 attenuates by 80 dB beyond its band.
constexpr std::size_t half_taps = 16;
constexpr double window_shape = 8.0;

double window_at(double place) {  // place from -1 to 1
  const double inside = std::max(0.0, 1.0 - place * place);
  return std::cyl_bessel_i(0.0, window_shape * std::sqrt(inside)) / std::cyl_bessel_i(0.0, window_shape);
}

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double part_of_turn(double turns) {
  return turns - std::floor(turns);
}

}  // namespace

UffRemodulation::UffRemodulation(std::size_t factor, Hertz rate, Hertz modulation, Seconds first)
    : factor_(factor),
      turns_(modulation.value / (rate.value * static_cast<double>(factor))),
      first_turns_(part_of_turn(modulation.value * first.value)) {
  for (std::size_t place = 0; place < factor; ++place) {
    const double after = static_cast<double>(place) / static_cast<double>(factor);
    for (std::size_t tap = 0; tap < 2 * half_taps; ++tap) {
      const double away = after - (static_cast<double>(tap) - static_cast<double>(half_taps - 1));
      weights_.push_back(sinc(away) * window_at(away / static_cast<double>(half_taps)));
    }
  }
}

void UffRemodulation::apply(std::span<const float> real, std::span<const float> imaginary, std::span<float> echo) {
  if (cosine_.size() < echo.size()) {
    cosine_.resize(echo.size());
    sine_.resize(echo.size());
    for (std::size_t n = 0; n < echo.size(); ++n) {
      const double phase = 2.0 * std::numbers::pi * (part_of_turn(static_cast<double>(n) * turns_) + first_turns_);
      cosine_[n] = std::cos(phase);
      sine_[n] = std::sin(phase);
    }
  }
  for (std::size_t n = 0; n < echo.size(); ++n) {
    const std::size_t sample = n / factor_;
    const double* const weights = weights_.data() + n % factor_ * 2 * half_taps;
    double re = 0.0;
    double im = 0.0;
    if (n % factor_ == 0) {
      re = real[sample];
      im = imaginary[sample];
    } else {
      // Tap k is at sample index sample + k - (half_taps - 1).
      const std::size_t first = sample < half_taps - 1 ? half_taps - 1 - sample : 0;
      const std::size_t last = std::min(2 * half_taps, real.size() + half_taps - 1 - sample);
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t at = sample + k - (half_taps - 1);
        re += weights[k] * real[at];
        im += weights[k] * imaginary[at];
      }
    }
    echo[n] = static_cast<float>(re * cosine_[n] - im * sine_[n]);
  }
}

std::size_t remodulation_factor(Hertz rate, Hertz modulation, std::size_t most) {
  const double highest = modulation.value + std::min(modulation.value, 0.5 * rate.value);
  const double factor = std::ceil(2.0 * highest / rate.value);
  return factor <= static_cast<double>(most) ? std::max<std::size_t>(1, static_cast<std::size_t>(factor)) : most + 1;
}

}  // namespace echoform::formats
