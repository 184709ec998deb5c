// Arithmetic of adaptive weights that follow from sums over the channels of a point, for host and device: one channel after the
// other. adaptive_weights.hpp has the formulas.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"
#include "stages/adaptive_weights/channel_sums.hpp"

namespace echoform::adaptive {

/// -1, 0 or 1.
ECHOFORM_HOST_DEVICE float sign_of(float value) {
  return value > 0.0F ? 1.0F : value < 0.0F ? -1.0F : 0.0F;
}

inline constexpr unsigned most_frequencies = 8;

/// The energy of a point's channels at low spatial frequencies, the sum of |S(m)|^2 over |m| <= M0 of the DFT over those that are
/// heard, by Goertzel's recurrence q_n = s_n + 2 cos(2 pi m / N) q_(n - 1) - q_(n - 2). Of real channels; of complex ones it is
/// that of their real parts and that of their imaginary parts, since frequencies come in pairs. Loops are of constant length, so
/// that a kernel keeps the numbers in registers.
class LowFrequencies {
 public:
  /// `cosine`: cos(2 pi / N); at most most_frequencies.
  ECHOFORM_HOST_DEVICE LowFrequencies(unsigned count, float cosine) : count_(count) {
    float lower = 1.0F;
    float here = cosine;
    for (unsigned m = 0; m < most_frequencies; ++m) {
      twice_[m] = 2.0F * here;
      last_[m] = before_[m] = 0.0F;
      const float higher = fmaf(2.0F * cosine, here, -lower);
      lower = here;
      here = higher;
    }
  }

  ECHOFORM_HOST_DEVICE void add(float s) {
    constant_ += s;
    for (unsigned m = 0; m < most_frequencies; ++m) {
      if (m < count_) {
        const float next = fmaf(twice_[m], last_[m], s - before_[m]);
        before_[m] = last_[m];
        last_[m] = next;
      }
    }
  }

  /// Of `heard` channels, N. Each frequency of N is there once.
  [[nodiscard]] ECHOFORM_HOST_DEVICE float energy(unsigned heard) const {
    float sum = constant_ * constant_;
    for (unsigned m = 0; m < most_frequencies; ++m) {
      const unsigned twice = 2 * (m + 1);
      if (m < count_ && twice <= heard) {
        const float squares = fmaf(last_[m], last_[m], before_[m] * before_[m]);
        const float power = fmaf(-twice_[m] * last_[m], before_[m], squares);
        sum += twice < heard ? 2.0F * power : power;
      }
    }
    return sum;
  }

 private:
  unsigned count_;
  float constant_ = 0.0F;
  float twice_[most_frequencies];  // cosines, of m = 1 on
  float last_[most_frequencies];
  float before_[most_frequencies];
};

/// The weighted sum over the channels of a point and what ChannelSums has beside it, but for low frequencies.
template <ChannelSums sums>
struct BesideSums {
  float sum = 0.0F;
  float second = 0.0F;

  /// A channel that is heard, of weight `w` > 0.
  ECHOFORM_HOST_DEVICE void add(float s, float w) {
    if constexpr (sums == ChannelSums::roots) {
      const float square = w * fabsf(s);
      sum += copysignf(sqrtf(square), s);
      second += square;
      return;
    }
    const float weighted = w * s;
    sum += weighted;
    if constexpr (sums == ChannelSums::squares) second = fmaf(weighted, s, second);
    if constexpr (sums == ChannelSums::signs) second = fmaf(w, sign_of(s), second);
    if constexpr (sums == ChannelSums::low_frequencies) second = fmaf(s, s, second);
  }
};

/// What a factor divides by each other, once each is summed over the window.
struct Energies {
  float coherent;
  float total;
};

/// Of a point, from its sums; names as PointSums has them.
template <ChannelSums sums>
ECHOFORM_HOST_DEVICE Energies energies_of(float sum, float second, float low, float weight) {
  if constexpr (sums == ChannelSums::signs) return {second * second, weight * weight};
  if constexpr (sums == ChannelSums::low_frequencies) return {low, weight * second};
  return {sum * sum, weight * second};
}

/// 0 without energy. Rounding alone takes it above 1.
ECHOFORM_HOST_DEVICE float ratio_of(const Energies& window) {
  if (!(window.total > 0.0F)) return 0.0F;
  return fminf(window.coherent / window.total, 1.0F);
}

/// The factor that a ratio of energies becomes. Of signs the root is infinitely steep at 0, where rounding of sums over hundreds
/// of channels would show as 1.4e-3.
template <ChannelSums sums>
ECHOFORM_HOST_DEVICE float factor_of(float ratio) {
  if constexpr (sums != ChannelSums::signs) return ratio;
  constexpr float rounding = 2e-6F;
  const float apart = 1.0F - ratio;
  return 1.0F - (apart > rounding ? sqrtf(apart) : 0.0F);
}

/// f_dmas.
ECHOFORM_HOST_DEVICE float mean_of_pairs(float sum, float second, float pairs) {
  return 0.5F * (sum * sum - second) * pairs;
}

}  // namespace echoform::adaptive
