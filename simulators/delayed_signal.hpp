// A sum of echoes that is needed at many delays. It is sampled a few times as densely, so that its value at any delay is a
// short sum over these samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "simulators/echo_model.hpp"
#include "simulators/pulse.hpp"

namespace echoform {

/// How signals of one acquisition are sampled for delays between two values. Lagrange's polynomials through eight samples are
/// right to 3e-7 of the amplitude.
class DelaySampling {
 public:
  /// Delays in seconds.
  DelaySampling(const Acquisition& acquisition, double fractional_bandwidth, double least_delay, double greatest_delay);

  /// Products that so many echoes take, delayed so often; by PulseTable::add() they take those of direct_cost().
  [[nodiscard]] double cost(const PulseTable& pulses, std::size_t echoes, std::size_t delays) const;
  [[nodiscard]] static double direct_cost(const PulseTable& pulses, std::size_t echoes, std::size_t delays);

  /// Replaces `sampled` by the sum of the echoes, [phase, sample].
  void sample(const PulseTable& pulses, std::span<const Echo> echoes, std::vector<float>& sampled) const;
  /// Adds weight times what was sampled, later by `delay`, to `sum`, which has the acquisition's samples.
  void add(std::span<const float> sampled, double delay, double weight, std::span<float> sum) const;

 private:
  static constexpr std::size_t taps = 8;

  double rate_;
  std::size_t samples_;
  std::size_t phases_;     // between two samples
  std::ptrdiff_t before_;  // samples ahead of the acquisition's first
  std::size_t length_;     // of a phase
};

}  // namespace echoform
