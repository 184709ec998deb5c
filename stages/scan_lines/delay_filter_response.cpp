#include "stages/scan_lines/delay_filter_response.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "stages/scan_lines/delay_filter_kind.hpp"

namespace echoform {
namespace {

using Complex = std::complex<double>;

/// exp(j 2 pi turns)
Complex phasor(double turns) {
  return std::polar(1.0, 2.0 * std::numbers::pi * turns);
}

/// What a row of coefficients makes of a tone at its place, relative to the tone at the sample from which places are counted.
template <class Value>
Complex sum(std::span<const Value> coefficients, double frequency) {
  const double left = static_cast<double>((coefficients.size() - 1) / 2);
  Complex value;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    value += static_cast<double>(coefficients[k]) * phasor(frequency * (static_cast<double>(k) - left));
  }
  return value;
}

/// The sums of all rows of the table.
std::vector<Complex> sums_of(const DelayFilter& filter, double frequency) {
  std::vector<Complex> sums;
  for (std::size_t phase = 0; phase <= filter.phases; ++phase) sums.push_back(sum(filter.row(phase), frequency));
  return sums;
}

/// The place of `fraction`, counted from the sample to which it belongs.
double place_of(double fraction, double offset) {
  return fraction - std::floor(fraction + offset);
}

}  // namespace

Complex delay_response(const DelayFilter& filter, double frequency, double fraction) {
  const double place = place_of(fraction, filter.offset());
  const double phase = (place + filter.offset()) * static_cast<double>(filter.phases);
  const std::size_t index = std::min(static_cast<std::size_t>(phase), filter.phases - 1);
  const double share = phase - static_cast<double>(index);
  const Complex value = (1.0 - share) * sum(filter.row(index), frequency) + share * sum(filter.row(index + 1), frequency);
  return value * phasor(-frequency * place);
}

Complex exact_delay_response(const DelayFilterOptions& options, double frequency, double fraction) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  const std::size_t taps = kind.taps(kind.size_of(options));
  const double offset = taps % 2 == 0 ? 0.0 : 0.5;
  const double place = place_of(fraction, offset);
  std::vector<double> values(taps);
  const auto at = [&](double where) {
    kind.coefficients(options, where, values);
    return sum(std::span<const double>(values), frequency);
  };
  if (kind.phases == tabulated_phases) return at(place) * phasor(-frequency * place);
  const auto phases = static_cast<double>(kind.phases);
  const double index = std::floor((place + offset) * phases);
  const double share = (place + offset) * phases - index;
  return ((1.0 - share) * at(index / phases - offset) + share * at((index + 1.0) / phases - offset)) * phasor(-frequency * place);
}

MeanDelayResponse mean_delay_response(const DelayFilter& filter, double frequency) {
  // Between the phases i and i + 1 the sum is a straight line. So the mean is that of the phases times the transform of a
  // triangle; the first and the last phase have half a triangle.
  const std::vector<Complex> sums = sums_of(filter, frequency);
  const auto phases = static_cast<double>(filter.phases);
  const double step = 1.0 / phases;
  const double angle = 2.0 * std::numbers::pi * frequency * step;
  // The integral of (1 - t) exp(-j angle t), t = 0 .. 1.
  const double sine = std::sin(0.5 * angle);
  const Complex half = angle < 1e-3 ? Complex(0.5 - angle * angle / 24.0, -angle / 6.0)
                                    : Complex(2.0 * sine * sine / (angle * angle), (std::sin(angle) - angle) / (angle * angle));
  MeanDelayResponse mean;
  double power = 0.0;
  for (std::size_t i = 0; i <= filter.phases; ++i) {
    const Complex response = sums[i] * phasor(-frequency * (static_cast<double>(i) * step - filter.offset()));
    if (i < filter.phases) mean.mean += step * response * half;
    if (i > 0) mean.mean += step * response * std::conj(half);
    if (i == 0) continue;
    power +=
        step / 3.0 *
        (std::norm(sums[i - 1]) + std::norm(sums[i]) + sums[i - 1].real() * sums[i].real() + sums[i - 1].imag() * sums[i].imag());
  }
  mean.rms_error = std::sqrt(std::max(0.0, 1.0 - 2.0 * mean.mean.real() + power));
  return mean;
}

double mean_noise_gain(const DelayFilter& filter) {
  double gain = 0.0;
  for (std::size_t phase = 0; phase < filter.phases; ++phase) {
    const std::span<const float> here = filter.row(phase);
    const std::span<const float> next = filter.row(phase + 1);
    for (std::size_t k = 0; k < filter.taps; ++k) {
      const double a = here[k];
      const double b = next[k];
      gain += (a * a + a * b + b * b) / 3.0;
    }
  }
  return gain / static_cast<double>(filter.phases);
}

std::optional<double> ideal_mean_response(const DelayFilterOptions& options, double frequency) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  if (kind.ideal_mean == nullptr) return std::nullopt;
  return kind.ideal_mean(frequency);
}

}  // namespace echoform
