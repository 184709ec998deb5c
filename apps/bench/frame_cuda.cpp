// Imaging from pinned memory on the GPU, transfers included, several frames in flight, against the copy of the samples alone.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/copy_bound.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

struct Case {
  ArrayCase array;
  std::size_t frames;
};

/// One case where sizes are given, else those that docs/performance.md quotes.
std::vector<Case> cases_of(const Options& options) {
  std::vector<Case> cases;
  for (const double accuracy : accuracies_of(options)) {
    ArrayCase basis;
    basis.accuracy = accuracy;
    basis.elements = options.elements.value_or(basis.elements);
    basis.samples = options.samples.value_or(basis.samples);
    const bool sized = options.elements || options.samples || options.pixels;
    for (const bool gated : {false, true}) {
      if ((options.gate && !gated) || (sized && gated != options.gate)) continue;
      for (const std::size_t pixels : {std::size_t{256}, std::size_t{512}, std::size_t{1024}}) {
        ArrayCase test = basis;
        test.pixels = options.pixels.value_or(pixels);
        test.gated = gated;
        cases.push_back({test, 400});
        if (options.pixels) break;
      }
    }
    if (sized || options.gate) continue;
    ArrayCase small = basis;
    small.elements = 64;
    small.samples = 2048;
    small.pixels = 128;
    cases.push_back({small, 2000});
    ArrayCase views = basis;
    views.matrix = MatrixKind::half;
    views.views = {"LL", "TT", "LT"};
    cases.push_back({views, 400});
  }
  return cases;
}

std::string name_of(const ArrayCase& test) {
  std::string views;
  for (const std::string& view : test.views) views += (views.empty() ? "" : "+") + view;
  return fmt::format("{} x {} {}, {} x {}, {}, {}{}", test.elements, test.samples,
                     test.matrix == MatrixKind::full ? "FULL" : "HALF", test.pixels, test.pixels, views, path_of(test.accuracy),
                     test.gated ? ", gated" : "");
}

void measure_case(const Case& test, const std::string& name, std::size_t frames, Outcome& outcome) {
  const auto plan = std::make_shared<const ImagingPlan>(array_plan(test.array));
  CopyBound bound(*plan);
  bound.measure(10);
  const RingReport report = measure_ring(plan, {false, BackendKind::cuda}, frames);
  bound.measure(10);
  json stages = json::array();
  std::string stage_text;
  for (const StageFigure& figure : report.stages) {
    stages.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
    stage_text += fmt::format("{}{} {:.3f}", stage_text.empty() ? "" : ", ", figure.stage, 1e3 * figure.seconds.median);
  }
  const double bytes = static_cast<double>(bound.bytes());
  outcome.add("frames", {.name = name,
                         .value = report.images_per_second,
                         .unit = images,
                         .limit_name = "copies/s,",
                         .limit = 1.0 / bound.best(),
                         .note = fmt::format("({:.1f} MB at {:.1f} GB/s)", 1e-6 * bytes, 1e-9 * bytes / bound.best()),
                         .more = {{"elements", test.array.elements},
                                  {"samples", test.array.samples},
                                  {"pixels", test.array.pixels},
                                  {"views", test.array.views},
                                  {"path", path_of(test.array.accuracy)},
                                  {"gated", test.array.gated},
                                  {"gate", plan->gate ? plan->gate->count : test.array.samples},
                                  {"copy_bytes", bound.bytes()},
                                  {"copy_seconds", json_of(benchmarks::spread_of(bound.seconds()))},
                                  {"alone_seconds", json_of(report.alone_seconds)},
                                  {"stages", stages},
                                  {"engine_bytes", report.engine_bytes}}});
  outcome.say(fmt::format("      one frame alone {}; stages, ms: {}", text_of(report.alone_seconds, milliseconds_unit),
                          stage_text.empty() ? "not timed by this engine" : stage_text));
}

}  // namespace

Outcome frame_cuda(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.say(
      fmt::format("imaging from pinned memory on {}, int16, transfers included, 4 frames in flight; limit: the best of 20 "
                  "copies of the samples alone",
                  device_facts().text()));
  for (const Case& test : cases_of(options)) {
    const std::string name = name_of(test.array);
    progress.show("frame: " + name);
    const std::size_t frames = std::max<std::size_t>(10, options.frames.value_or(test.frames));
    outcome.attempt(name, [&] { measure_case(test, name, frames, outcome); });
  }
  return outcome;
}

}  // namespace echoform::bench
