// The filter test: signal-to-noise ratios of sums over many delays, next to the predictions from the filters' responses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/delay_filters.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

double decibels(double ratio) {
  return 20.0 * std::log10(ratio);
}

using Value = double (*)(const DelayFilterFigures&);

/// Prints a table of numbers, with filters as rows and frequencies as columns.
void say_table(Outcome& outcome, const std::vector<DelayFilterReport>& reports, std::string_view title, Value value, int digits) {
  outcome.say(fmt::format("  {}", title));
  std::string head = fmt::format("    {:<40}", "cycles a sample");
  for (const DelayFilterFigures& figures : reports.front().figures) head += fmt::format(" {:>7.3g}", figures.frequency);
  outcome.say(head);
  for (const DelayFilterReport& report : reports) {
    const auto none = [&](const DelayFilterFigures& figures) { return std::isnan(value(figures)); };
    if (std::all_of(report.figures.begin(), report.figures.end(), none)) continue;
    std::string line = fmt::format("    {:<40}", report.name);
    for (const DelayFilterFigures& figures : report.figures) {
      line += fmt::format(" {:>7.{}f}", value(figures), digits);
    }
    outcome.say(line);
  }
}

/// Largest difference between measured and predicted ratios, dB, where the prediction is below 100 dB. Above that, the rounding
/// of coefficients to single precision dominates.
double largest_difference(const std::vector<DelayFilterReport>& reports) {
  double most = 0.0;
  for (const DelayFilterReport& report : reports) {
    for (const DelayFilterFigures& figures : report.figures) {
      for (const DelayFilterRatios& ratios : {figures.tone, figures.train}) {
        if (ratios.predicted < 1e5) most = std::max(most, std::abs(decibels(ratios.measured / ratios.predicted)));
      }
    }
  }
  return most;
}

json json_of_filter(const DelayFilterReport& report) {
  json values{{"name", report.name}, {"kind", report.options.kind}, {"noise_gain", report.noise_gain}};
  for (const DelayFilterFigures& figures : report.figures) {
    json entry{{"frequency", figures.frequency},
               {"snr_db", decibels(figures.tone.measured)},
               {"predicted_snr_db", decibels(figures.tone.predicted)},
               {"noisy_snr_db", decibels(figures.noisy.measured)},
               {"predicted_noisy_snr_db", decibels(figures.noisy.predicted)},
               {"train_snr_db", decibels(figures.train.measured)},
               {"predicted_train_snr_db", decibels(figures.train.predicted)},
               {"rms_error", figures.rms_error.measured},
               {"predicted_rms_error", figures.rms_error.predicted}};
    if (figures.ideal) entry["closed_form_snr_db"] = decibels(*figures.ideal);
    values["figures"].push_back(std::move(entry));
  }
  return values;
}

}  // namespace

Outcome filters(const Options& options, LiveLine& progress) {
  DelayFilterCase test;
  test.filters = compared_delay_filters();
  for (int n = 1; n <= 9; ++n) test.frequencies.push_back(0.05 * n);
  test.samples = options.samples.value_or(test.samples);
  test.delays = options.elements.value_or(test.delays);
  const auto reports = measure_delay_filters(test, [&](const std::string& what) { progress.show("filters: " + what); });
  const DelayFilterDeviations deviations = measure_delay_filter_deviations();

  Outcome outcome;
  outcome.say(fmt::format("fractional delays: {} delays evenly over a sample taken back and summed, {} samples", test.delays,
                          test.samples));
  say_table(
      outcome, reports, "tones, no noise: signal over error of the sum, dB",
      [](const DelayFilterFigures& f) { return decibels(f.tone.measured); }, 1);
  say_table(
      outcome, reports, "the same predicted: |Hm| / |1 - Hm|, Hm the mean response over all delays, dB",
      [](const DelayFilterFigures& f) { return decibels(f.tone.predicted); }, 1);
  say_table(
      outcome, reports, "the same in closed form: sinc(f), sinc^2(f), sinc^2(f / 4), dB",
      [](const DelayFilterFigures& f) { return f.ideal ? decibels(*f.ideal) : std::nan(""); }, 1);
  say_table(
      outcome, reports,
      fmt::format("tones with white noise at {:.0f} dB: signal over error of the sum, dB", decibels(test.noise)),
      [](const DelayFilterFigures& f) { return decibels(f.noisy.measured); }, 1);
  say_table(
      outcome, reports, fmt::format("trains of pulses {:.0f} % wide, no noise, dB", 100.0 * test.bandwidth),
      [](const DelayFilterFigures& f) { return decibels(f.train.measured); }, 1);
  say_table(
      outcome, reports, "tones: error of single delays over the signal, root mean square, %",
      [](const DelayFilterFigures& f) { return 100.0 * f.rms_error.measured; }, 3);
  const double difference = largest_difference(reports);
  outcome.say(fmt::format("  measured and predicted differ by {:.3f} dB at most (tones and trains, below 100 dB)", difference));
  const double four = truncated_sinc_passes_lagrange(4);
  const double six = truncated_sinc_passes_lagrange(6);
  outcome.say(fmt::format(
      "  a truncated sinc is better than Lagrange's filter above {:.3f} cycles a sample with 4 taps, {:.3f} with 6; paper 003: "
      "above 0.26",
      four, six));
  outcome.say("  largest deviation from double precision, white noise: here (float) and as paper 003's Table 2 has its kernels");
  struct Row {
    std::string_view name;
    double here;
    std::string_view published;
  };
  for (const Row& row : {Row{"linear", deviations.linear, "3.46e-4 (TEXF, texture, beamformed)"},
                         Row{"upsampling, 11 taps", deviations.upsampled, "5.7e-5 (4xUP)"},
                         Row{"upsampling and linear", deviations.upsampled_linear, "1.04e-4 (1/4 TEXF, texture, beamformed)"}}) {
    outcome.say(fmt::format("    {:<40} {:.1e}  {}", row.name, row.here, row.published));
  }
  outcome.values = {
      {"samples", test.samples},
      {"delays", test.delays},
      {"noise_db", decibels(test.noise)},
      {"largest_difference_db", difference},
      {"deviations",
       {{"linear", deviations.linear}, {"upsampled", deviations.upsampled}, {"upsampled_linear", deviations.upsampled_linear}}}};
  for (const DelayFilterReport& report : reports) outcome.values["filters"].push_back(json_of_filter(report));
  return outcome;
}

}  // namespace echoform::bench
