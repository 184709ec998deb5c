// Arithmetic of adaptive weights that follow from sums over the channels of a point, for host and device. Channels are added
// one after the other. adaptive_weights.hpp has the formulas.
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

/// The energy of a point's channels at low spatial frequencies: the sum of |S(m)|^2 over |m| <= M0, where S is the DFT over
/// the channels of weight > 0. It is found by Goertzel's recurrence q_n = s_n + 2 cos(2 pi m / N) q_(n - 1) - q_(n - 2).
/// Channels are real. The energy of complex channels is the energy of their real parts plus that of their imaginary parts,
/// since frequencies come in pairs. Loops have a constant length, so that a kernel keeps the numbers in registers.
class LowFrequencies {
 public:
  /// `count` is M0, at most most_frequencies. `cosine` is cos(2 pi / N).
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

  /// The energy after `heard` channels were added, which is N. Each of the N frequencies counts once.
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
  float twice_[most_frequencies];  // 2 cos(2 pi m / N), from m = 1 on
  float last_[most_frequencies];
  float before_[most_frequencies];
};

/// The weighted sum over the channels of a point and the additional sums of ChannelSums, except those of low frequencies.
template <ChannelSums sums>
struct BesideSums {
  float sum = 0.0F;
  float second = 0.0F;

  /// Adds a channel of weight `w` > 0.
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

/// The two energies whose ratio a factor follows from, once each is summed over the window.
struct Energies {
  float coherent;
  float total;
};

/// The energies of a point from its sums, whose names are those of PointSums.
template <ChannelSums sums>
ECHOFORM_HOST_DEVICE Energies energies_of(float sum, float second, float low, float weight) {
  if constexpr (sums == ChannelSums::signs) return {second * second, weight * weight};
  if constexpr (sums == ChannelSums::low_frequencies) return {low, weight * second};
  return {sum * sum, weight * second};
}

/// Sums over complex channels, as pixels have them. The energy of a channel is |s|^2.
template <ChannelSums sums>
struct ComplexSums {
  float real = 0.0F;  ///< real part of the weighted sum
  float imaginary = 0.0F;

  /// Prepares for `heard` channels. `count`, `heard` and `cosine` matter for low frequencies only.
  ECHOFORM_HOST_DEVICE ComplexSums(unsigned count, unsigned heard, float cosine)
      : heard_(heard), low_{{count, cosine}, {count, cosine}} {}

  /// Adds a channel of weight `w` > 0.
  ECHOFORM_HOST_DEVICE void add(float re, float im, float w) {
    real += w * re;
    imaginary += w * im;
    weight_ += w;
    if constexpr (sums == ChannelSums::squares) second_ += w * (re * re + im * im);
    if constexpr (sums == ChannelSums::signs) {
      second_ += w * sign_of(re);
      quadrature_ += w * sign_of(im);
    }
    if constexpr (sums == ChannelSums::low_frequencies) {
      second_ += re * re + im * im;
      low_[0].add(re);
      low_[1].add(im);
    }
  }

  [[nodiscard]] ECHOFORM_HOST_DEVICE Energies energies() const {
    if constexpr (sums == ChannelSums::signs) {
      return {0.5F * (second_ * second_ + quadrature_ * quadrature_), weight_ * weight_};
    }
    if constexpr (sums == ChannelSums::low_frequencies) {
      return {low_[0].energy(heard_) + low_[1].energy(heard_), static_cast<float>(heard_) * second_};
    }
    return {real * real + imaginary * imaginary, weight_ * second_};
  }

 private:
  unsigned heard_;
  float weight_ = 0.0F;
  float second_ = 0.0F;
  float quadrature_ = 0.0F;  // sum of the signs of the imaginary parts
  LowFrequencies low_[2];
};

/// The ratio of the energies, 0 without energy. Only rounding could take it above 1, so it is limited to 1.
ECHOFORM_HOST_DEVICE float ratio_of(const Energies& window) {
  if (!(window.total > 0.0F)) return 0.0F;
  return fminf(window.coherent / window.total, 1.0F);
}

/// The factor that follows from a ratio of energies. For signs it contains a root that is infinitely steep at 0, where
/// rounding of sums over hundreds of channels would show as 1.4e-3.
template <ChannelSums sums>
ECHOFORM_HOST_DEVICE float factor_of(float ratio) {
  if constexpr (sums != ChannelSums::signs) return ratio;
  constexpr float rounding = 2e-6F;
  const float apart = 1.0F - ratio;
  return 1.0F - (apart > rounding ? sqrtf(apart) : 0.0F);
}

/// The value of the kind f_dmas.
ECHOFORM_HOST_DEVICE float mean_of_pairs(float sum, float second, float pairs) {
  return 0.5F * (sum * sum - second) * pairs;
}

}  // namespace echoform::adaptive
