// From raw samples to analytic signals: the half matrix and the Hilbert stages, against the copy of as many bytes.
#include "benchmarks/hilbert.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/paper_schedules.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

void add_figures(const std::string& key, const std::vector<HilbertFigure>& figures, Outcome& outcome) {
  for (const HilbertFigure& figure : figures) {
    // The floor is what a time cannot be below: the ratio is that of the rates.
    outcome.say(fmt::format("  {:<44} {}  {} % of the copy of its {:.0f} MB, {:.3f} ms", figure.name,
                            text_of(figure.seconds, milliseconds_unit), text_of_ratio(figure.ratio, 1, 100.0),
                            1e-6 * figure.bytes, 1e3 * figure.seconds_floor.median));
    outcome.values[key].push_back({{"name", figure.name},
                                   {"seconds", json_of(figure.seconds)},
                                   {"bytes", figure.bytes},
                                   {"limit", json_of(figure.seconds_floor)},
                                   {"limit_name", "copy of as many bytes"},
                                   {"ratio", json_of(figure.ratio)},
                                   {"turns", json_of(figure.turns)}});
  }
}

Outcome hilbert(const Options& options, BackendKind backend, LiveLine& progress) {
  HilbertCase test;
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.frames = options.frames.value_or(test.frames);
  test.backend = backend;
  test.threads = options.threads;
  const HilbertReport report = measure_hilbert(test, [&](const std::string& what) { progress.show("hilbert: " + what); });
  Outcome outcome;
  outcome.say(fmt::format("analytic signals of {} elements x {} samples, FULL int16, {}; a copy within memory moves {:.1f} GB/s",
                          test.elements, test.samples, backend == BackendKind::cuda ? "cuda" : "cpu",
                          1e-9 * report.copy_bytes_per_second));
  add_figures("stages", report.stages, outcome);
  add_figures("chains", report.chains, outcome);
  std::string paper;
  json platforms = json::object();
  for (const PaperPlatform& platform : paper_platforms) {
    paper += fmt::format("{}{:.0f} ms {}", paper.empty() ? "" : ", ", 1e3 * platform.hilbert, platform.name);
    platforms[platform.name] = platform.hilbert;
  }
  outcome.say("  Romero-Laorden et al. 2015, table 2, 128 elements x 4096: " + paper);
  outcome.values.update({{"elements", test.elements},
                         {"samples", test.samples},
                         {"copy_bytes_per_second", report.copy_bytes_per_second},
                         {"paper_seconds", platforms}});
  return outcome;
}

}  // namespace

Outcome hilbert_cpu(const Options& options, LiveLine& progress) {
  return hilbert(options, BackendKind::cpu, progress);
}

Outcome hilbert_cuda(const Options& options, LiveLine& progress) {
  return hilbert(options, BackendKind::cuda, progress);
}

}  // namespace echoform::bench
