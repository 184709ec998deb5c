// The simulated pulse, where it is sampled.
//
// It is a cosine under a Gaussian, exp(-t^2 / (2 s^2)) cos(2 pi f t), s = sqrt(2 ln 2) / (pi * bandwidth * f): even, so the
// envelope of its analytic signal peaks exactly at t = 0, which lies at the echo's travel time between the samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/echo_model.hpp"

namespace echoform {

/// Adds amplitude * pulse(t - time) to the samples: only those that it reaches are touched; it is cut at 6 s, where the Gaussian
/// is 1.5e-8. `samples` start at acquisition.start_time, as the acquisition's conventions say.
void add_pulse(const Acquisition& acquisition, double fractional_bandwidth, const Echo& echo, std::span<float> samples) noexcept;

/// The same some ten times faster, for many echoes: pulses that were sampled ahead at places between two samples, close enough
/// that what is interpolated linearly between them is right to 1e-7 of the amplitude.
class PulseTable {
 public:
  PulseTable(const Acquisition& acquisition, double fractional_bandwidth);

  void add(const Echo& echo, std::span<float> samples) const noexcept;

  /// Samples that add() changes at most.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

  /// Number of samples that a pulse takes, and the maximum for which a table is made.
  [[nodiscard]] static double samples_of(const Acquisition& acquisition, double fractional_bandwidth);
  static constexpr double most_samples = 65536.0;

 private:
  double rate_;
  double start_;                // seconds, of sample 0
  std::size_t reach_;           // samples before the one in which a pulse's centre lies
  std::size_t width_;           // of a row
  std::size_t places_;          // between two samples
  std::vector<float> sampled_;  // [place, sample], the place of a whole sample counted in
};

}  // namespace echoform
