// Imaging from memory on the CPU, with every stage.
#include <fmt/format.h>

#include "apps/bench/lookup_rate.hpp"
#include "apps/bench/scenario.hpp"
#include "benchmarks/frame.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

Outcome frame_cpu(const Options& options, LiveLine& progress) {
  const Scenario scene = scene_of(options);
  progress.show("frame: imaging");
  const auto plan = build_plan(scene.configuration, acquisition_of(scene.simulator), scene.simulator.material);
  const std::size_t threads = threads_of(options);
  const FrameReport report = measure_frame(make_imaging_setup(plan), threads, options.frames.value_or(50));
  Outcome outcome;
  outcome.say(fmt::format("imaging from memory, {} elements x {} samples FULL int16, {} x {} pixels, {} threads",
                          plan->acquisition.elements(), plan->acquisition.samples, plan->grid.x.count, plan->grid.z.count,
                          threads));
  const LookupRate lookups = lookup_rate(*plan, report, threads);
  outcome.say(fmt::format("  {}  in the beamformer {}", text_of(report.images_per_second, images), text_of(lookups)));
  json stages = json::array();
  for (const StageFigure& figure : report.stages) {
    outcome.say(fmt::format("    {:<16} {:8.3f} ms ({:.3f} .. {:.3f})", figure.stage, 1e3 * figure.seconds.median,
                            1e3 * figure.seconds.least, 1e3 * figure.seconds.most));
    stages.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
  }
  const Spread limit = report.turns.spread("reads");
  const Spread of_limit = report.turns.ratio("images", "reads");
  outcome.say(fmt::format(
      "  limit, in turn: reading a frame's {:.1f} MB once, {:.1f} GB/s = {:.0f} frames/s, of which this is {} %; engine memory "
      "{:.1f} MB",
      1e-6 * static_cast<double>(report.frame_bytes), 1e-9 * report.read_bytes_per_second.median, limit.median,
      text_of_ratio(of_limit, 1, 100.0), 1e-6 * static_cast<double>(report.engine_bytes)));
  outcome.values = {{"images_per_second", json_of(report.images_per_second)},
                    {"stages", stages},
                    {"lookups", json_of(lookups)},
                    {"frame_bytes", report.frame_bytes},
                    {"engine_bytes", report.engine_bytes},
                    {"read_bytes_per_second", json_of(report.read_bytes_per_second)},
                    {"limit", json_of(limit)},
                    {"limit_name", "reads of the samples"},
                    {"ratio", json_of(of_limit)},
                    {"turns", json_of(report.turns)}};
  return outcome;
}

}  // namespace echoform::bench
