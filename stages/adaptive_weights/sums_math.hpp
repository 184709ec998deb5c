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

/// Sums over complex channels, of which energies are |s|^2: what pixels have.
template <ChannelSums sums>
struct ComplexSums {
  float real = 0.0F;  ///< of the weighted sum
  float imaginary = 0.0F;

  /// `heard` channels, for low frequencies.
  ECHOFORM_HOST_DEVICE ComplexSums(unsigned count, unsigned heard, float cosine)
      : heard_(heard), low_{{count, cosine}, {count, cosine}} {}

  /// A channel that is heard, of weight `w` > 0.
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
  float quadrature_ = 0.0F;  // of signs, those of the imaginary parts
  LowFrequencies low_[2];
};

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
