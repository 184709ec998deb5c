// Decoding the rows of a code into firings of single elements, against the copy of as many bytes.
#include "benchmarks/decoding.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "apps/bench/stage_times.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

Outcome decoding(const Options& options, BackendKind backend, LiveLine& progress) {
  DecodingCase test;
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.frames = options.frames.value_or(test.frames);
  test.backend = backend;
  test.threads = options.threads;
  const DecodingReport report = measure_decoding(test, [&](const std::string& what) { progress.show("decoding: " + what); });
  Outcome outcome;
  outcome.say(fmt::format(
      "decoding of {} events of as many elements x {} samples, float32, {}; a copy within memory moves {:.1f} GB/s",
      test.elements, test.samples, backend == BackendKind::cuda ? "cuda" : "cpu", 1e-9 * report.copy_bytes_per_second));
  add_stage_times("stages", report.stages, outcome);
  outcome.values.update(
      {{"elements", test.elements}, {"samples", test.samples}, {"copy_bytes_per_second", report.copy_bytes_per_second}});
  return outcome;
}

}  // namespace

Outcome decoding_cpu(const Options& options, LiveLine& progress) {
  return decoding(options, BackendKind::cpu, progress);
}

Outcome decoding_cuda(const Options& options, LiveLine& progress) {
  return decoding(options, BackendKind::cuda, progress);
}

}  // namespace echoform::bench
