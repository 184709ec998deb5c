// Tomography on the CPU: back-projection against plain loops, and a live ring from memory.
#include "benchmarks/tomography.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/frame.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void measure_volume(const Options& options, LiveLine& progress, Outcome& outcome) {
  ProjectionCase test;
  test.rings = options.elements.value_or(test.rings);
  test.samples = options.samples.value_or(test.samples);
  test.across = options.pixels.value_or(test.across);
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  const ProjectionReport report =
      measure_projections(test, [&](const std::string& what) { progress.show("tomography: " + what); });
  outcome.say(fmt::format(
      "back-projection, {} x {} detectors x {} samples of float onto {} x {} x {} voxels, planes out of the middle of "
      "{}, {} threads; plain loops, on {} of the planes, by {}",
      test.rings, test.views, test.samples, test.across, test.across, test.planes, ProjectionCase::all_planes, report.threads,
      test.plain_planes, report.reference_flags));
  const Unit pairs{"G pairs/s", 1e9, 3};
  const Unit seconds{"s", 1.0, 2};
  json figures = json::array();
  for (const ProjectionFigure& figure : report.figures) {
    outcome.say(fmt::format("    {}  {}  {} x the plain loop, {:.1e} from it; all {} planes would take {}", figure.algorithm,
                            text_of(figure.rate, pairs), text_of_ratio(figure.ratio), figure.difference,
                            ProjectionCase::all_planes, text_of(figure.whole_seconds, seconds)));
    figures.push_back({{"algorithm", figure.algorithm},
                       {"pairs", figure.pairs},
                       {"seconds", json_of(figure.seconds)},
                       {"pairs_per_second", json_of(figure.rate)},
                       {"whole_volume_seconds", json_of(figure.whole_seconds)},
                       {"plain_pairs_per_second", json_of(figure.plain_rate)},
                       {"ratio", json_of(figure.ratio)},
                       {"difference", figure.difference},
                       {"turns", json_of(figure.turns)}});
  }
  outcome.values["figures"] = figures;
  outcome.values["reference_flags"] = report.reference_flags;
  outcome.values["threads"] = report.threads;
  outcome.values["planes"] = test.planes;
  outcome.values["plain_planes"] = test.plain_planes;
}

void measure_live_ring(const Options& options, LiveLine& progress, Outcome& outcome) {
  LiveRingCase test;
  test.detectors = options.elements.value_or(test.detectors);
  test.samples = options.samples.value_or(test.samples);
  test.pixels = options.pixels.value_or(test.pixels);
  test.threads = options.threads;
  progress.show("tomography: a ring");
  const std::size_t threads = threads_of(options);
  const FrameReport report = measure_frame(live_ring_setup(test), threads, options.frames.value_or(50));
  outcome.say(fmt::format("a ring from memory, {} detectors x {} samples of int16, {} x {} pixels, {} threads", test.detectors,
                          test.samples, test.pixels, test.pixels, threads));
  outcome.say(fmt::format("  {}", text_of(report.images_per_second, images)));
  json stages = json::array();
  for (const StageFigure& figure : report.stages) {
    outcome.say(fmt::format("    {:<20} {}", figure.stage, text_of(figure.seconds, milliseconds_unit)));
    stages.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
  }
  const Spread of_limit = report.turns.ratio("images", "reads");
  outcome.say(fmt::format(
      "  limit, in turn: reading a frame's {:.1f} MB once, {:.0f} frames/s, of which this is {} %; engine memory {:.1f} MB",
      1e-6 * static_cast<double>(report.frame_bytes), report.turns.spread("reads").median, text_of_ratio(of_limit, 1, 100.0),
      1e-6 * static_cast<double>(report.engine_bytes)));
  outcome.values["ring"] = {{"images_per_second", json_of(report.images_per_second)},
                            {"stages", stages},
                            {"frame_bytes", report.frame_bytes},
                            {"engine_bytes", report.engine_bytes},
                            {"limit", json_of(report.turns.spread("reads"))},
                            {"limit_name", "reads of the samples"},
                            {"ratio", json_of(of_limit)},
                            {"turns", json_of(report.turns)}};
}

}  // namespace

Outcome tomography_cpu(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.attempt("back-projection", [&] { measure_volume(options, progress, outcome); });
  outcome.attempt("ring", [&] { measure_live_ring(options, progress, outcome); });
  return outcome;
}

}  // namespace echoform::bench
