// Sums along scan lines for each delay filter and number of lines of an event, against plain loops and the duration of the
// echoes.
#include "benchmarks/scan_lines.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"

namespace echoform::bench {

using namespace benchmarks;

Outcome scan_lines(const Options& options, LiveLine& progress) {
  LinesCase test;
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  test.channels = options.elements.value_or(test.channels);
  test.samples = options.samples.value_or(test.samples);
  const LinesReport report = measure_lines(test, [&](const std::string& what) { progress.show("lines: " + what); });
  Outcome outcome;
  outcome.say(fmt::format(
      "scan lines, {} events x {} channels x {} samples of int16 at {:.0f} MHz, {} ranges a line, {} threads; plain loops by {}",
      test.events, test.channels, test.samples, 1e-6 * test.sample_rate, test.samples, report.threads, report.reference_flags));
  for (const LinesFigure& figure : report.figures) {
    const bool compared = figure.ratio.median > 0.0;
    outcome.say(fmt::format(
        "    {:<20} {:>2} of an event {}  {} x real time{}", figure.filter, figure.lines,
        text_of(figure.frames, {"frames/s", 1.0, 1}), text_of_ratio(figure.real_time, 2),
        compared ? fmt::format("  {} x the plain loop, {:.1e} from it", text_of_ratio(figure.ratio), figure.difference) : ""));
    outcome.values["figures"].push_back({{"filter", figure.filter},
                                         {"lines", figure.lines},
                                         {"frames", json_of(figure.frames)},
                                         {"real_time", json_of(figure.real_time)},
                                         {"ratio", json_of(figure.ratio)},
                                         {"difference", figure.difference}});
  }
  outcome.values["reference_flags"] = report.reference_flags;
  outcome.values["threads"] = report.threads;
  outcome.values["turns"] = json_of(report.turns);
  return outcome;
}

}  // namespace echoform::bench
