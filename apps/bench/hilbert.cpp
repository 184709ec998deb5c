// Conversion of raw samples to analytic signals: the half matrix and the Hilbert stages, against the copy of as many bytes.
#include "benchmarks/hilbert.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "apps/bench/stage_times.hpp"
#include "benchmarks/paper_schedules.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

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
  add_stage_times("stages", report.stages, outcome);
  add_stage_times("chains", report.chains, outcome);
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
