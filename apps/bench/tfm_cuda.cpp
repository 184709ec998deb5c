// The beamform stage on the GPU, alone. The cases: 128 and 64 elements, three image sizes, both data paths; three views of a half
// matrix (two of them symmetric), which cost 32,896 lookups a pixel; one view with weights; 32 plane waves; and volumes below
// matrix arrays.
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
  ArrayCase weighted;
  weighted.elements = elements.front();
  weighted.pixels = sizes.front();
  weighted.weighted = true;
  cases.push_back(weighted);
  for (const std::size_t size : sizes) {
    ArrayCase waves;
    waves.elements = elements.front();
    waves.samples = 2048;
    waves.pixels = size;
    waves.waves = 32;
    cases.push_back(waves);
  }
  for (ArrayCase& test : cases) test.samples = options.samples.value_or(test.samples);
  if (options.elements || options.samples || options.pixels) return cases;
  for (const std::size_t side : {std::size_t{8}, std::size_t{16}}) {
    ArrayCase volume;
    volume.elements = volume.rows = side;
    volume.samples = side == 8 ? 1024 : 2048;
    volume.pixels = 128;
    cases.push_back(volume);
  }
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
                             .limit = fixed_limit("what clock and multiprocessors give,", measured, computed)});
  };
  ceiling("shared loads of 8 bytes (a lookup, half)", ceilings.loads_8, ceilings.computed_loads_8);
  ceiling("shared loads of 16 bytes (a lookup, float)", ceilings.loads_16, ceilings.computed_loads_16);
  ceiling("instructions of a thread", ceilings.instructions, ceilings.computed_instructions);
}

void measure_case(const ArrayCase& test, const std::string& name, std::size_t rounds, Outcome& outcome) {
  const TfmGpuReport report = measure_tfm_gpu(test, rounds);
  const Spread slots = report.turns.ratio("instructions", "lookups");
  outcome.add("beamform",
              {.name = name,
               .value = report.lookups_per_second,
               .unit = tera_lookups,
               .limit = limit_of("one shared load a lookup,", report.turns, "lookups", "loads"),
               .note = fmt::format("{}; error {:.1e}; the device could issue {} instructions a lookup",
                                   text_of(report.seconds, milliseconds_unit), report.relative_error, text_of_ratio(slots)),
               .more = {{"elements", test.element_count()},
                        {"rows", test.rows},
                        {"samples", test.samples},
                        {"pixels", test.pixels},
                        {"views", test.views},
                        {"weighted", test.weighted},
                        {"waves", test.waves},
                        {"path", path_of(test.accuracy)},
                        {"lookups", report.lookups},
                        {"seconds", json_of(report.seconds)},
                        {"issue_slots_a_lookup", json_of(slots)},
                        {"relative_error", report.relative_error},
                        {"turns", json_of(report.turns)},
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
      const std::string kind = test.waves > 0 ? fmt::format(", {} plane waves", test.waves) : test.weighted ? ", weighted" : "";
      const std::string name =
          fmt::format("{} x {}, {}, {}{}, {}", test.array_text(), test.samples, test.grid_text(), views, kind, path_of(accuracy));
      progress.show("tfm: " + name);
      outcome.attempt(name, [&] { measure_case(test, name, options.frames.value_or(10), outcome); });
    }
  }
  outcome.values["device"] = ceilings.device;
  return outcome;
}

}  // namespace echoform::bench
