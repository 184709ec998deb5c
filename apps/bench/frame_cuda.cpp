// Imaging from pinned memory on the GPU, transfers included, several frames in flight, against the copy of the samples alone.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/copy_bound.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

struct Case {
  ArrayCase array;
  bool gated = false;
  std::size_t frames = 400;
};

// The default of [imaging] guard.
constexpr std::size_t guard = 64;

/// One case where sizes are given, otherwise the cases that docs/performance.md quotes.
std::vector<Case> frame_cases(const Options& options) {
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
        cases.push_back({test, gated});
        if (options.pixels) break;
      }
    }
    if (sized || options.gate) continue;
    ArrayCase small = basis;
    small.elements = 64;
    small.samples = 2048;
    small.pixels = 128;
    cases.push_back({small, false, 2000});
    ArrayCase views = basis;
    views.matrix = MatrixKind::half;
    views.views = {"LL", "TT", "LT"};
    cases.push_back({views});
    for (const std::size_t pixels : {std::size_t{256}, std::size_t{512}}) {
      ArrayCase waves = basis;
      waves.samples = 2048;
      waves.pixels = pixels;
      waves.waves = 32;
      cases.push_back({waves});
    }
    ArrayCase volume = basis;
    volume.elements = volume.rows = 8;
    volume.samples = 1024;
    volume.pixels = 128;
    cases.push_back({volume});
    volume.elements = volume.rows = 16;
    volume.samples = 2048;
    cases.push_back({volume, false, 60});
  }
  return cases;
}

std::string name_of(const Case& which) {
  const ArrayCase& test = which.array;
  std::string views;
  for (const std::string& view : test.views) views += (views.empty() ? "" : "+") + view;
  const Acquisition acquisition = array_plan(test).acquisition;
  const std::string pairs = test.waves > 0                                                         ? pairs_text(acquisition)
                            : acquisition.a_scans() == test.element_count() * test.element_count() ? "FULL"
                                                                                                   : "HALF";
  return fmt::format("{} x {} {}, {}, {}, {}{}", test.array_text(), test.samples, pairs, test.grid_text(), views,
                     path_of(test.accuracy), which.gated ? ", gated" : "");
}

json json_of_stages(const std::vector<StageFigure>& stages) {
  json values = json::array();
  for (const StageFigure& figure : stages) values.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
  return values;
}

/// Formats stage times, for example "upload 2.431, compute 1.012, download 0.021".
std::string text_of_stages(const std::vector<StageFigure>& stages) {
  std::string text;
  for (const StageFigure& figure : stages) {
    text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", figure.stage, 1e3 * figure.seconds.median);
  }
  return text;
}

void measure_case(const Case& test, const std::string& name, std::size_t frames, Outcome& outcome) {
  ImagingPlan imaging = array_plan(test.array);
  if (test.gated) imaging.gate = choose_gate(imaging, guard);
  const auto plan = std::make_shared<const ImagingPlan>(std::move(imaging));
  CopyBound bound(*plan);
  const BackendChoice cuda{false, BackendKind::cuda};
  const RingReport report =
      measure_ring(make_imaging_setup(plan), cuda, frames, {{"copies", [&] { return bound.copies_per_second(); }}});
  const std::vector<StageFigure> eager = eager_stages(make_imaging_setup(plan), cuda, 20);
  const auto bytes = static_cast<double>(bound.bytes());
  const Spread copies = report.turns.spread("copies");
  outcome.add("frames", {.name = name,
                         .value = report.images_per_second,
                         .unit = images,
                         .limit = limit_of("copies/s,", report.turns, "images", "copies"),
                         .note = fmt::format("({:.1f} MB at {:.1f} GB/s)", 1e-6 * bytes, 1e-9 * bytes * copies.median),
                         .more = {{"elements", test.array.element_count()},
                                  {"rows", test.array.rows},
                                  {"samples", test.array.samples},
                                  {"pixels", test.array.pixels},
                                  {"waves", test.array.waves},
                                  {"views", test.array.views},
                                  {"path", path_of(test.array.accuracy)},
                                  {"gated", test.gated},
                                  {"imaged_samples", plan->imaged_samples().count},
                                  {"copy_bytes", bound.bytes()},
                                  {"turns", json_of(report.turns)},
                                  {"alone_seconds", json_of(report.alone_seconds)},
                                  {"stages", json_of_stages(report.stages)},
                                  {"eager_stages", json_of_stages(eager)},
                                  {"engine_bytes", report.engine_bytes}}});
  outcome.say(fmt::format("      one frame alone {}: {}; stage by stage, ms: {}",
                          text_of(report.alone_seconds, milliseconds_unit), text_of_stages(report.stages),
                          text_of_stages(eager)));
}

}  // namespace

Outcome frame_cuda(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.say(
      fmt::format("imaging from pinned memory on {}, int16, transfers included, 4 frames in flight; limit: copies "
                  "of the samples alone, in turn with the windows of frames",
                  device_facts().text()));
  for (const Case& test : frame_cases(options)) {
    const std::string name = name_of(test);
    progress.show("frame: " + name);
    const std::size_t frames = std::max<std::size_t>(10, options.frames.value_or(test.frames));
    outcome.attempt(name, [&] { measure_case(test, name, frames, outcome); });
  }
  return outcome;
}

}  // namespace echoform::bench
