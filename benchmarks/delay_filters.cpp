#include "benchmarks/delay_filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "stages/scan_lines/delay_filter_kind.hpp"
#include "stages/scan_lines/delay_filter_response.hpp"

namespace echoform::benchmarks {
namespace {

using Complex = std::complex<double>;

constexpr double turn = 2.0 * std::numbers::pi;
/// Samples on either side of the reference, so that no filter reaches an end of the data.
constexpr std::size_t margin = 20;

/// One term of a Fourier series: Re(amplitude exp(j 2 pi bin t / samples)).
struct Line {
  std::size_t bin = 0;
  Complex amplitude;
};

double frequency_of(const Line& line, std::size_t samples) {
  return static_cast<double>(line.bin) / static_cast<double>(samples);
}

/// Values of the series at the samples -margin .. samples + margin - 1, each taken `ahead` samples later.
std::vector<double> row_of(const std::vector<Line>& lines, std::size_t samples, double ahead) {
  std::vector<double> row(samples + 2 * margin, 0.0);
  for (const Line& line : lines) {
    const double turns = frequency_of(line, samples);
    const Complex step = std::polar(1.0, turn * turns);
    Complex value = line.amplitude * std::polar(1.0, turn * turns * (ahead - static_cast<double>(margin)));
    for (double& sample : row) {
      sample += value.real();
      value *= step;
    }
  }
  return row;
}

std::vector<Line> tone(std::size_t bin, std::mt19937& random) {
  return {{bin, std::polar(1.0, std::uniform_real_distribution<double>(0.0, turn)(random))}};
}

/// The spectrum, below half the sample rate, of Gaussian pulses at random times with random amplitudes.
std::vector<Line> train(const DelayFilterCase& test, std::size_t bin, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::normal_distribution<double> normal;
  std::vector<double> times(test.pulses);
  std::vector<double> amplitudes(test.pulses);
  for (std::size_t i = 0; i < test.pulses; ++i) {
    times[i] = uniform(random);
    amplitudes[i] = normal(random);
  }
  std::vector<Line> lines;
  for (std::size_t k = 1; 2 * k < test.samples; ++k) {
    const double away = (static_cast<double>(k) / static_cast<double>(bin) - 1.0) / (0.5 * test.bandwidth);
    const double spectrum = std::exp2(-away * away);
    if (spectrum < 1e-6) continue;
    Complex sum;
    for (std::size_t i = 0; i < test.pulses; ++i)
      sum += amplitudes[i] * std::polar(spectrum, -turn * static_cast<double>(k) * times[i]);
    lines.push_back({k, sum});
  }
  return lines;
}

double power(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum / static_cast<double>(values.size());
}

double delay_of(std::size_t i, std::size_t delays) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(delays);
}

/// A signal as the elements receive it.
struct Received {
  std::vector<double> reference;
  std::vector<std::vector<double>> rows;  ///< one row for each delay
};

Received receive(const DelayFilterCase& test, const std::vector<Line>& lines) {
  Received received;
  const std::vector<double> row = row_of(lines, test.samples, 0.0);
  received.reference.assign(row.begin() + margin, row.end() - margin);
  for (std::size_t i = 0; i < test.delays; ++i) received.rows.push_back(row_of(lines, test.samples, delay_of(i, test.delays)));
  return received;
}

Received receive_noise(const DelayFilterCase& test, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Received received;
  received.reference.assign(test.samples, 0.0);
  received.rows.assign(test.delays, std::vector<double>(test.samples + 2 * margin));
  for (std::vector<double>& row : received.rows) std::generate(row.begin(), row.end(), [&] { return normal(random); });
  return received;
}

struct Summed {
  std::vector<double> mean;  ///< mean over all elements, with their delays compensated
  double error = 0.0;        ///< mean power of the differences of single elements from the reference
};

Summed sum(const DelayFilter& filter, const Received& received) {
  Summed summed{std::vector<double>(received.reference.size(), 0.0), 0.0};
  const auto delays = static_cast<double>(received.rows.size());
  for (std::size_t i = 0; i < received.rows.size(); ++i) {
    const double back = static_cast<double>(margin) - delay_of(i, received.rows.size());
    for (std::size_t n = 0; n < summed.mean.size(); ++n) {
      const double value = evaluate<double>(filter, received.rows[i], static_cast<double>(n) + back);
      const double difference = value - received.reference[n];
      summed.mean[n] += value / delays;
      summed.error += difference * difference;
    }
  }
  summed.error /= delays * static_cast<double>(summed.mean.size());
  return summed;
}

/// Equation (5), for a sum that also contains `noise` times those values.
double ratio_of(const std::vector<double>& reference, const std::vector<double>& mean, double noise,
                const std::vector<double>& values) {
  double signal = 0.0;
  double rest = 0.0;
  for (std::size_t n = 0; n < mean.size(); ++n) {
    const double value = mean[n] + noise * values[n];
    signal += value * value;
    rest += (reference[n] - value) * (reference[n] - value);
  }
  return std::sqrt(signal / rest);
}

/// Power of the series after the mean of the filters, and power of its error.
struct Powers {
  double signal = 0.0;
  double error = 0.0;
};
Powers predicted_powers(const DelayFilter& filter, const std::vector<Line>& lines, std::size_t samples) {
  Powers powers;
  for (const Line& line : lines) {
    const Complex mean = mean_delay_response(filter, frequency_of(line, samples)).mean;
    powers.signal += 0.5 * std::norm(line.amplitude) * std::norm(mean);
    powers.error += 0.5 * std::norm(line.amplitude) * std::norm(1.0 - mean);
  }
  return powers;
}

std::string label_of(const DelayFilterOptions& options) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  std::string label = name_of(options);
  if (kind.uses_kaiser_beta) label += fmt::format(", beta {:g}", kaiser_beta_of(options));
  if (kind.uses_band) label += fmt::format(", {:g} wide at {:g}", options.bandwidth, options.centre);
  return label;
}

}  // namespace

std::vector<DelayFilterOptions> compared_delay_filters() {
  std::vector<DelayFilterOptions> all;
  const auto add = [&](std::string kind, std::vector<std::size_t> sizes, double beta = 5.0, double centre = 0.125,
                       double bandwidth = 0.075) {
    for (const std::size_t size : sizes) all.push_back({kind, size, beta, centre, bandwidth});
  };
  add("nearest", {0});
  add("linear", {0});
  add("lagrange", {2, 3, 4, 5});
  add("windowed_sinc", {4, 6, 8, 12, 16}, 0.0);
  add("windowed_sinc", {4, 6, 8, 12, 16});
  add("least_squares", {4, 6, 8});
  add("least_squares", {4, 6, 8}, 5.0, 0.25, 0.25);
  add("upsampled", {11}, 0.0);
  add("upsampled", {7, 11, 15});
  return all;
}

std::vector<DelayFilterReport> measure_delay_filters(const DelayFilterCase& test, const Progress& progress) {
  std::mt19937 random(test.seed);
  const Received noise = receive_noise(test, random);
  struct Signal {
    std::vector<Line> lines;
    Received received;
  };
  struct Column {
    Signal tone;
    Signal train;
  };
  std::vector<Column> columns;
  progress(fmt::format("{} signals", 2 * test.frequencies.size()));
  for (const double frequency : test.frequencies) {
    const double cycles = std::round(frequency * static_cast<double>(test.samples));
    const auto bin = static_cast<std::size_t>(std::clamp(cycles, 1.0, static_cast<double>((test.samples - 1) / 2)));
    Column column;
    column.tone.lines = tone(bin, random);
    column.train.lines = train(test, bin, random);
    for (Signal* const signal : {&column.tone, &column.train}) signal->received = receive(test, signal->lines);
    columns.push_back(std::move(column));
  }
  std::vector<DelayFilterReport> reports;
  progress(fmt::format("{} filters", test.filters.size()));
  for (const DelayFilterOptions& options : test.filters) {
    const DelayFilter filter = make_delay_filter(options);
    DelayFilterReport report{label_of(options), options, mean_noise_gain(filter), {}};
    // White noise is filtered and summed in the same way as signals, once for all of them.
    const std::vector<double> heard = sum(filter, noise).mean;
    const double noise_power = test.noise * test.noise * report.noise_gain / static_cast<double>(test.delays);
    for (const Column& column : columns) {
      const Received& received = column.tone.received;
      const Summed summed = sum(filter, received);
      const double reference = power(received.reference);
      const double level = test.noise * std::sqrt(reference);
      const Powers powers = predicted_powers(filter, column.tone.lines, test.samples);
      const Powers of_train = predicted_powers(filter, column.train.lines, test.samples);
      DelayFilterFigures figures;
      figures.frequency = frequency_of(column.tone.lines.front(), test.samples);
      figures.tone = {ratio_of(received.reference, summed.mean, 0.0, heard), std::sqrt(powers.signal / powers.error)};
      const double rest = noise_power * reference;
      figures.noisy = {ratio_of(received.reference, summed.mean, level, heard),
                       std::sqrt((powers.signal + rest) / (powers.error + rest))};
      figures.train = {ratio_of(column.train.received.reference, sum(filter, column.train.received).mean, 0.0, heard),
                       std::sqrt(of_train.signal / of_train.error)};
      figures.rms_error = {std::sqrt(summed.error / reference), mean_delay_response(filter, figures.frequency).rms_error};
      if (const auto ideal = ideal_mean_response(options, figures.frequency)) figures.ideal = *ideal / (1.0 - *ideal);
      report.figures.push_back(figures);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

double truncated_sinc_passes_lagrange(std::size_t taps) {
  const DelayFilter sinc = make_delay_filter({"windowed_sinc", taps, 0.0, 0.125, 0.075});
  const DelayFilter lagrange = make_delay_filter({"lagrange", taps - 1, 0.0, 0.125, 0.075});
  const auto error = [](const DelayFilter& filter, double frequency) {
    const Complex mean = mean_delay_response(filter, frequency).mean;
    return std::abs(1.0 - mean) / std::abs(mean);
  };
  double frequency = 0.45;
  while (frequency > 0.0 && error(sinc, frequency) < error(lagrange, frequency)) frequency -= 0.001;
  return frequency;
}

DelayFilterDeviations measure_delay_filter_deviations() {
  constexpr std::size_t samples = 4096;
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> row(samples);
  std::generate(row.begin(), row.end(), [&] { return uniform(random); });
  const std::vector<double> exact(row.begin(), row.end());
  const DelayFilter line = make_delay_filter({});
  DelayFilterOptions options;
  options.kind = "upsampled";
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  const DelayFilter filter = make_delay_filter(options);
  std::vector<float> fine(upsampling_factor * samples);
  upsample(filter, row, fine);
  // These are computed with the coefficients in double precision.
  std::vector<double> exact_fine(fine.size(), 0.0);
  std::vector<double> coefficients(filter.taps);
  for (std::size_t phase = 0; phase < upsampling_factor; ++phase) {
    kind.coefficients(options, static_cast<double>(phase) / static_cast<double>(upsampling_factor), coefficients);
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t k = 0; k < filter.taps; ++k) {
        const std::size_t from = n + k - filter.left();  // wraps below 0, which is no sample either
        if (from < samples) exact_fine[upsampling_factor * n + phase] += coefficients[k] * exact[from];
      }
    }
  }
  double most[3] = {};
  double largest[3] = {};
  const auto compare = [&](std::size_t which, double single, double value) {
    most[which] = std::max(most[which], std::abs(single - value));
    largest[which] = std::max(largest[which], std::abs(single));
  };
  const auto between = [](const std::vector<double>& values, double u) {
    const auto n = static_cast<std::size_t>(u);
    return values[n] + (u - static_cast<double>(n)) * (values[n + 1] - values[n]);
  };
  for (std::size_t n = 0; n < fine.size(); ++n) compare(1, fine[n], exact_fine[n]);
  std::uniform_real_distribution<double> place(0.0, static_cast<double>(samples) - 1.0);
  for (std::size_t n = 0; n < 4 * samples; ++n) {
    const double u = place(random);
    compare(0, evaluate<float>(line, row, u), between(exact, u));
    compare(2, evaluate<float>(line, fine, 4.0 * u), between(exact_fine, 4.0 * u));
  }
  return {most[0] / largest[0], most[1] / largest[1], most[2] / largest[2]};
}

}  // namespace echoform::benchmarks
