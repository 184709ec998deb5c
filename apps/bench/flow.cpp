// Flow images from ensembles in memory: wall filters, autocorrelation and velocity, against the copy of as many bytes.
#include "benchmarks/flow.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "apps/bench/stage_times.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

Outcome flow(const Options& options, BackendKind backend, LiveLine& progress) {
  FlowCase test;
  test.lines = test.ranges = options.pixels.value_or(test.lines);
  test.frames = options.frames.value_or(test.frames);
  test.backend = backend;
  test.threads = options.threads;
  const FlowReport report = measure_flow(test, [&](const std::string& what) { progress.show("flow: " + what); });
  Outcome outcome;
  outcome.say(
      fmt::format("flow of {} lines x {} ranges x {} samples of an ensemble, complex single precision, {}, mean over {} ranges; "
                  "a copy within "
                  "memory moves {:.1f} GB/s",
                  test.lines, test.ranges, test.ensemble, backend == BackendKind::cuda ? "cuda" : "cpu", 2 * test.half_window + 1,
                  1e-9 * report.copy_bytes_per_second));
  add_stage_times("stages", report.stages, outcome);
  outcome.say("  from ensembles to images, bytes of those alone");
  add_stage_times("chains", report.chains, outcome);
  outcome.values.update({{"lines", test.lines},
                         {"ranges", test.ranges},
                         {"ensemble", test.ensemble},
                         {"copy_bytes_per_second", report.copy_bytes_per_second}});
  return outcome;
}

}  // namespace

Outcome flow_cpu(const Options& options, LiveLine& progress) {
  return flow(options, BackendKind::cpu, progress);
}

Outcome flow_cuda(const Options& options, LiveLine& progress) {
  return flow(options, BackendKind::cuda, progress);
}

}  // namespace echoform::bench
