#include "simulators/delayed_signal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform {

DelaySampling::DelaySampling(const Acquisition& acquisition, double fractional_bandwidth, double least_delay,
                             double greatest_delay)
    : rate_(acquisition.sample_rate.value), samples_(acquisition.samples) {
  // The frequency three deviations above the centre, in radians a sample. Beyond it the spectrum is at most about a
  // hundredth of the centre's.
  const double turn = 2.0 * std::numbers::pi * acquisition.probe.centre_frequency.value / rate_;
  const double deviation = PulseTable::samples_of(acquisition, fractional_bandwidth) / 12.0;
  // The polynomial's error is 1.07e-3 of the eighth derivative: 2.4e-7 for 0.35 radians.
  phases_ = static_cast<std::size_t>(std::ceil((turn + 3.0 / deviation) / 0.35));
  constexpr double margin = taps;
  before_ = static_cast<std::ptrdiff_t>(std::ceil(std::max(greatest_delay, 0.0) * rate_) + margin);
  length_ = samples_ + static_cast<std::size_t>(before_) +
            static_cast<std::size_t>(std::ceil(std::max(-least_delay, 0.0) * rate_) + margin);
}

double DelaySampling::direct_cost(const PulseTable& pulses, std::size_t echoes, std::size_t delays) {
  return 2.0 * static_cast<double>(pulses.width()) * static_cast<double>(echoes) * static_cast<double>(delays);
}

double DelaySampling::cost(const PulseTable& pulses, std::size_t echoes, std::size_t delays) const {
  return direct_cost(pulses, echoes, phases_) + static_cast<double>(phases_ * length_) +
         static_cast<double>(taps * samples_) * static_cast<double>(delays);
}

void DelaySampling::sample(const PulseTable& pulses, std::span<const Echo> echoes, std::vector<float>& sampled) const {
  sampled.assign(phases_ * length_, 0.0F);
  for (std::size_t phase = 0; phase < phases_; ++phase) {
    const double shift = (static_cast<double>(before_) - static_cast<double>(phase) / static_cast<double>(phases_)) / rate_;
    const std::span<float> row = std::span(sampled).subspan(phase * length_, length_);
    for (const Echo& echo : echoes) pulses.add({echo.time + shift, echo.amplitude}, row);
  }
}

void DelaySampling::add(std::span<const float> sampled, double delay, double weight, std::span<float> sum) const {
  // The offset of the first sample's time in the sampled signal, in steps of a phase.
  const double place = -delay * rate_ * static_cast<double>(phases_);
  const double whole = std::floor(place);
  const double part = place - whole;
  const auto phases = static_cast<std::ptrdiff_t>(phases_);
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(whole) + before_ * phases - static_cast<std::ptrdiff_t>(taps / 2 - 1);
  for (std::size_t tap = 0; tap < taps; ++tap) {
    double factor = weight;
    for (std::size_t other = 0; other < taps; ++other) {
      if (other == tap) continue;
      const double at = part + static_cast<double>(taps / 2 - 1) - static_cast<double>(other);
      factor *= at / (static_cast<double>(tap) - static_cast<double>(other));
    }
    if (factor == 0.0) continue;
    const std::ptrdiff_t step = first + static_cast<std::ptrdiff_t>(tap);
    const float* const from = sampled.data() + static_cast<std::size_t>(step % phases) * length_ + step / phases;
    const auto by = static_cast<float>(factor);
    for (std::size_t n = 0; n < samples_; ++n) sum[n] += by * from[n];
  }
}

}  // namespace echoform
