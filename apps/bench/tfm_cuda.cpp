// The beamform stage on the GPU, alone: 128 and 64 elements, three image sizes, both data paths, and three views of a half
// matrix (two of them symmetric), which cost 32,896 lookups a pixel.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/tfm_gpu.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

std::vector<ArrayCase> array_cases(const Options& options) {
  std::vector<ArrayCase> cases;
  const std::vector<std::size_t> elements = options.elements ? std::vector{*options.elements} : std::vector<std::size_t>{128, 64};
  const std::vector<std::size_t> sizes = options.pixels ? std::vector{*options.pixels} : std::vector<std::size_t>{256, 512, 1024};
  for (const std::size_t count : elements) {
    for (const std::size_t size : sizes) {
      ArrayCase test;
      test.elements = count;
      test.pixels = size;
      cases.push_back(test);
    }
  }
  ArrayCase views;
  views.elements = elements.front();
  views.pixels = sizes.front();
  views.matrix = MatrixKind::half;
  views.views = {"LL", "TT", "LT"};
  cases.push_back(views);
  for (ArrayCase& test : cases) test.samples = options.samples.value_or(test.samples);
  return cases;
}

void report_ceilings(const DeviceCeilings& ceilings, Outcome& outcome) {
  outcome.say(
      fmt::format("beamform stage alone on {}; a lookup is a delay, a linear interpolation of a complex sample and an "
                  "addition, within the A-scan",
                  ceilings.device));
  const auto ceiling = [&](const char* name, const Spread& measured, double computed) {
    outcome.add("ceilings", {.name = name,
                             .value = measured,
                             .unit = {"T/s", 1e12, 2},
                             .limit_name = "what clock and multiprocessors give,",
                             .limit = computed});
  };
  ceiling("shared loads of 8 bytes (a lookup, half)", ceilings.loads_8, ceilings.computed_loads_8);
  ceiling("shared loads of 16 bytes (a lookup, float)", ceilings.loads_16, ceilings.computed_loads_16);
  ceiling("instructions of a thread", ceilings.instructions, ceilings.computed_instructions);
}

void measure_case(const ArrayCase& test, const std::string& name, const DeviceCeilings& ceilings, std::size_t rounds,
                  Outcome& outcome) {
  const TfmGpuReport report = measure_tfm_gpu(test, rounds);
  const Spread& limit = report.half_path ? ceilings.loads_8 : ceilings.loads_16;
  outcome.add("beamform", {.name = name,
                           .value = report.lookups_per_second,
                           .unit = tera_lookups,
                           .limit_name = "one shared load a lookup,",
                           .limit = limit.median,
                           .note = fmt::format("{}; error {:.1e}; {:.1f} instructions a lookup would fill the issue slots",
                                               text_of(report.seconds, milliseconds_unit), report.relative_error,
                                               ceilings.instructions.median / report.lookups_per_second.median),
                           .more = {{"elements", test.elements},
                                    {"samples", test.samples},
                                    {"pixels", test.pixels},
                                    {"views", test.views},
                                    {"path", path_of(test.accuracy)},
                                    {"lookups", report.lookups},
                                    {"seconds", json_of(report.seconds)},
                                    {"relative_error", report.relative_error},
                                    {"stage_bytes", report.stage_bytes}}});
}

}  // namespace

Outcome tfm_cuda(const Options& options, LiveLine& progress) {
  Outcome outcome;
  progress.show("tfm: ceilings");
  const DeviceCeilings ceilings = measure_ceilings();
  report_ceilings(ceilings, outcome);
  for (const double accuracy : accuracies_of(options)) {
    for (ArrayCase test : array_cases(options)) {
      test.accuracy = accuracy;
      std::string views;
      for (const std::string& view : test.views) views += (views.empty() ? "" : "+") + view;
      const std::string name = fmt::format("{} x {}, {} x {}, {}, {}", test.elements, test.samples, test.pixels, test.pixels,
                                           views, path_of(accuracy));
      progress.show("tfm: " + name);
      outcome.attempt(name, [&] { measure_case(test, name, ceilings, options.frames.value_or(10), outcome); });
    }
  }
  outcome.values["device"] = ceilings.device;
  return outcome;
}

}  // namespace echoform::bench
