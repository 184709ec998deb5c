#include "stages/filter/filter_response.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stages/filter/chirp_sums.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

constexpr double whole_turn = 2.0 * std::numbers::pi;

/// Rises from 0 to 1 around `edge`; the frequencies of 1 % and 99 % are `skirt` apart.
double rise(double frequency, double edge, double skirt) {
  constexpr double deviations = 2.0 * 2.3263478740408408;  // distance of a Gaussian's 1st and 99th percentiles
  return 0.5 * std::erfc(-(frequency - edge) * deviations / (skirt * std::numbers::sqrt2));
}

double band_factor(const FilterOptions& options, double frequency) {
  double factor = 1.0;
  const Hertz upper = options.upper_skirt.value > 0.0 ? options.upper_skirt : options.skirt;
  if (options.high < 0.5 * options.sample_rate) factor -= rise(frequency, options.high.value, upper.value);
  if (options.low.value > 0.0) factor -= 1.0 - rise(frequency, options.low.value, options.skirt.value);
  return std::max(factor, 0.0);
}

double notch_factor(const Notch& notch, double frequency) {
  const double distance = (frequency - notch.centre.value) / (0.5 * notch.width.value);
  return 1.0 - std::exp2(-distance * distance);
}

/// The spectrum of a measured pulse. Its greatest absolute value in time counts as 1 so that no sum overflows.
class PulseSpectrum {
 public:
  explicit PulseSpectrum(const MeasuredPulse& pulse) : sample_rate_(pulse.sample_rate.value) {
    double most = 0.0;
    for (const double sample : pulse.samples) most = std::max(most, std::abs(sample));
    for (const double sample : pulse.samples) samples_.emplace_back(sample / most);
    centre_ = centre();
    const std::size_t bins = 4 * samples_.size();
    const std::vector<Complex> sums = chirp_sums(samples_, 0.5 / static_cast<double>(bins), bins + 1);
    for (std::size_t k = 1; k <= bins; ++k) peak_ = std::max(peak_, std::abs(sums[k]));
  }

  /// The spectrum at k * step, for k from 0 as far as the pulse's sample rate represents it, with at most `most` values. The
  /// greatest value of the envelope is at time 0. The spectrum is divided by its greatest absolute value; the value at frequency
  /// 0 does not count there.
  [[nodiscard]] std::vector<Complex> at_multiples(double step, std::size_t most) const {
    const double turns = step / sample_rate_;
    // At equal sample rates the last frequency is half a cycle per sample, except for rounding.
    const double held = std::floor(0.5 * (1.0 + 1e-12) / turns);
    if (!(held >= 1.0)) return {};
    std::vector<Complex> sums = chirp_sums(samples_, turns, std::min(most, static_cast<std::size_t>(std::min(held, 1e9)) + 1));
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] *= std::polar(1.0 / peak_, whole_turn * std::fmod(static_cast<double>(k) * turns * centre_, 1.0));
    }
    return sums;
  }

 private:
  /// The place of the envelope's maximum, in samples. The pulse counts as followed by as many zeros, so that its ends do not
  /// meet.
  [[nodiscard]] double centre() const {
    const std::size_t count = samples_.size();
    const double step = 1.0 / static_cast<double>(2 * count);
    // The positive frequencies of 2 count bins, as conjugates, so that chirp_sums() transforms them back.
    std::vector<Complex> bins = chirp_sums(samples_, step, count);
    bins.front() = 0.0;
    for (Complex& bin : bins) bin = std::conj(bin);
    const std::vector<Complex> envelope_at = chirp_sums(bins, step, count);
    const auto abs_less = [](const Complex& a, const Complex& b) { return std::abs(a) < std::abs(b); };
    const auto most = std::max_element(envelope_at.begin(), envelope_at.end(), abs_less);
    const auto best = static_cast<double>(most - envelope_at.begin());
    const auto envelope = [&](double time) {
      const Complex phasor = std::polar(1.0, -whole_turn * time * step);
      Complex sum;
      for (auto bin = bins.rbegin(); bin != bins.rend(); ++bin) sum = sum * phasor + *bin;  // Horner's rule
      return std::abs(sum);
    };
    // The envelope has one maximum between the neighbours of the best sample, since it is band-limited and these are its samples.
    double first = best - 1.0;
    double last = best + 1.0;
    while (last - first > 1e-6) {
      const double third = (last - first) / 3.0;
      if (envelope(first + third) < envelope(last - third)) {
        first += third;
      } else {
        last -= third;
      }
    }
    return 0.5 * (first + last);
  }

  double sample_rate_;
  std::vector<Complex> samples_;
  double centre_ = 0.0;
  double peak_ = 0.0;
};

RowResponse wiener_factors(const FilterOptions& options, std::size_t samples) {
  RowResponse factors(samples / 2 + 1);
  const PulseSpectrum pulse(*options.pulse);
  const std::vector<Complex> spectrum =
      pulse.at_multiples(options.sample_rate.value / static_cast<double>(samples), factors.size());
  for (std::size_t k = 1; k < spectrum.size(); ++k) {
    factors[k] = std::conj(spectrum[k]) / (std::norm(spectrum[k]) + options.noise);
  }
  return factors;
}

}  // namespace

RowResponse filter_response(const FilterOptions& options, std::size_t samples) {
  RowResponse factors(samples / 2 + 1, 1.0);
  if (options.kind == FilterKind::none) return factors;
  const auto frequency = [&](std::size_t k) {
    return options.sample_rate.value * static_cast<double>(k) / static_cast<double>(samples);
  };
  if (options.kind == FilterKind::wiener) {
    factors = wiener_factors(options, samples);
  } else if (options.kind == FilterKind::band) {
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = band_factor(options, frequency(k));
  }
  if (options.kind != FilterKind::band || options.low.value > 0.0) factors[0] = 0.0;
  if (options.notch) {
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] *= notch_factor(*options.notch, frequency(k));
  }
  if (samples % 2 == 0) factors.back().imag(0.0);
  return factors;
}

ResponseSize response_size(const FilterOptions& options) {
  if (options.kind == FilterKind::none) return {};
  const std::vector<double> response = impulse_response(filter_response(options, response_samples), response_samples);
  double peak = 0.0;
  ResponseSize size{0, 0.0};
  for (const double value : response) {
    peak = std::max(peak, std::abs(value));
    size.gain += std::abs(value);
  }
  for (std::size_t n = 0; n <= response_samples / 2; ++n) {
    const double here = std::max(std::abs(response[n]), std::abs(response[(response_samples - n) % response_samples]));
    if (here > 1e-3 * peak) size.length = n;
  }
  return size;
}

}  // namespace echoform
