// Samples of demodulated channel data as those of the echoes themselves.
//
// USTB keeps iq(t) = a(t) exp(-2 pi i f t) of the analytic signal a, f the modulation frequency and t the time on the clock of
// the samples (+midprocess/das.m multiplies by exp(i w delay)). The echo is Re(iq(t) exp(2 pi i f t)); between samples iq is
// interpolated, so that the rate holds f and the band about it: as often as 2 (f + min(f, rate / 2)) asks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace echoform::formats {

class UffRemodulation {
 public:
  /// 0 <= modulation, finite; `first` is the time of sample 0. Takes what remodulation_factor() says, at least 1.
  UffRemodulation(std::size_t factor, Hertz rate, Hertz modulation, Seconds first);

  /// `echo` gets `factor` samples for each of `real` and `imaginary`, which are of one length. Beyond their ends both count as 0.
  void apply(std::span<const float> real, std::span<const float> imaginary, std::span<float> echo);

 private:
  std::size_t factor_;
  double turns_;                       ///< of the phase from one sample of the echo to the next
  double first_turns_;                 ///< at sample 0
  std::vector<double> weights_;        ///< [place between samples, tap]
  std::vector<double> cosine_, sine_;  ///< of the phase, by sample of the echo
};

/// How many samples of the echo are made of each; nothing is said of more than `most`: then that and one more.
[[nodiscard]] std::size_t remodulation_factor(Hertz rate, Hertz modulation, std::size_t most);

}  // namespace echoform::formats
