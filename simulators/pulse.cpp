#include "simulators/pulse.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform {
namespace {

constexpr double pulse_reach = 6.0;  // standard deviations

/// s in samples: it follows from the amplitude spectrum exp(-2 pi^2 s^2 (f - f0)^2), which is 1/2 at f - f0 = bandwidth / 2.
double deviation(const Acquisition& acquisition, double fractional_bandwidth) {
  const double rate = acquisition.sample_rate.value;
  const double frequency = acquisition.probe.centre_frequency.value;
  return rate * std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * fractional_bandwidth * frequency);
}

}  // namespace

void add_pulse(const Acquisition& acquisition, double fractional_bandwidth, const Echo& echo, std::span<float> samples) noexcept {
  const double rate = acquisition.sample_rate.value;
  const double frequency = acquisition.probe.centre_frequency.value;
  // From here on all quantities are in samples.
  const double s = deviation(acquisition, fractional_bandwidth);
  const double centre = (echo.time - acquisition.start_time.value + acquisition.time_offset.value) * rate;
  const double last_sample = static_cast<double>(samples.size()) - 1.0;
  const double first = std::max(0.0, std::ceil(centre - pulse_reach * s));
  const double last = std::min(last_sample, std::floor(centre + pulse_reach * s));
  if (!(first <= last)) return;

  // On equally spaced samples a Gaussian's successive ratios form a geometric series, and the carrier rotates by a fixed angle.
  // So a sample takes three products and no call. The relative error after n samples is about n^2 eps, below 1e-11.
  const double t = first - centre;
  const double step = 1.0 / (s * s);
  const double turn = 2.0 * std::numbers::pi * frequency / rate;
  double gauss = echo.amplitude * std::exp(-0.5 * t * t * step);
  double ratio = std::exp(-(t + 0.5) * step);
  const double ratio_of_ratios = std::exp(-step);
  double re = std::cos(turn * t);
  double im = std::sin(turn * t);
  const double turn_re = std::cos(turn);
  const double turn_im = std::sin(turn);
  const auto end = static_cast<std::size_t>(last);
  for (auto n = static_cast<std::size_t>(first); n <= end; ++n) {
    samples[n] += static_cast<float>(gauss * re);
    gauss *= ratio;
    ratio *= ratio_of_ratios;
    const double next = re * turn_re - im * turn_im;
    im = re * turn_im + im * turn_re;
    re = next;
  }
}

double PulseTable::samples_of(const Acquisition& acquisition, double fractional_bandwidth) {
  return 2.0 * pulse_reach * deviation(acquisition, fractional_bandwidth);
}

PulseTable::PulseTable(const Acquisition& acquisition, double fractional_bandwidth)
    : rate_(acquisition.sample_rate.value), start_((acquisition.start_time - acquisition.time_offset).value) {
  const double s = deviation(acquisition, fractional_bandwidth);
  const double turn = 2.0 * std::numbers::pi * acquisition.probe.centre_frequency.value / rate_;
  reach_ = static_cast<std::size_t>(std::ceil(pulse_reach * s));
  width_ = 2 * reach_ + 2;
  // Between places d apart the error of a chord is d^2 / 8 of the second derivative, which is at most turn^2 + 1 / s^2.
  constexpr double error = 1e-7;
  places_ = static_cast<std::size_t>(std::ceil(std::sqrt((turn * turn + 1.0 / (s * s)) / (8.0 * error))));
  sampled_.resize((places_ + 1) * width_);
  for (std::size_t place = 0; place <= places_; ++place) {
    for (std::size_t k = 0; k < width_; ++k) {
      const double t =
          static_cast<double>(k) - static_cast<double>(reach_) - static_cast<double>(place) / static_cast<double>(places_);
      sampled_[place * width_ + k] = static_cast<float>(std::exp(-0.5 * t * t / (s * s)) * std::cos(turn * t));
    }
  }
}

void PulseTable::add(const Echo& echo, std::span<float> samples) const noexcept {
  const double centre = (echo.time - start_) * rate_;
  const double whole = std::floor(centre);
  const double begin = whole - static_cast<double>(reach_);
  if (!(begin < static_cast<double>(samples.size()) && begin + static_cast<double>(width_) > 0.0)) return;
  const double place = (centre - whole) * static_cast<double>(places_);
  const auto below = std::min(static_cast<std::size_t>(place), places_ - 1);
  const double share = place - static_cast<double>(below);
  const auto upper = static_cast<float>(echo.amplitude * share);
  const auto lower = static_cast<float>(echo.amplitude * (1.0 - share));
  const std::size_t skipped = begin < 0.0 ? static_cast<std::size_t>(-begin) : 0;
  const std::size_t first = begin < 0.0 ? 0 : static_cast<std::size_t>(begin);
  const std::size_t count = std::min(width_ - skipped, samples.size() - first);
  const float* const from = sampled_.data() + below * width_ + skipped;
  const float* const next = from + width_;
  float* const to = samples.data() + first;
  for (std::size_t k = 0; k < count; ++k) to[k] += lower * from[k] + upper * next[k];
}

}  // namespace echoform
