// Imaging from memory on the CPU, every stage.
#include <fmt/format.h>

#include "apps/bench/scenario.hpp"
#include "benchmarks/frame.hpp"
#include "config/plan.hpp"

namespace echoform::bench {

using namespace benchmarks;

Outcome frame_cpu(const Options& options, LiveLine& progress) {
  const Scenario scene = scene_of(options);
  progress.show("frame: imaging");
  const auto plan = build_plan(scene.configuration, acquisition_of(scene.simulator), scene.simulator.material);
  const std::size_t threads = threads_of(options);
  const FrameReport report = measure_frame(plan, threads, options.frames.value_or(50));
  Outcome outcome;
  outcome.lines.push_back(fmt::format("imaging from memory, {} elements x {} samples FULL int16, {} x {} pixels, {} threads",
                                      plan->acquisition.elements(), plan->acquisition.samples, plan->grid.x.count,
                                      plan->grid.z.count, threads));
  outcome.lines.push_back(fmt::format("  {:7.1f} images/s ({:.1f} .. {:.1f}), {:.3f} G lookups/s in the beamformer",
                                      report.images_per_second.median, report.images_per_second.least,
                                      report.images_per_second.most, 1e-9 * report.lookups_per_second));
  json stages = json::array();
  for (const StageFigure& figure : report.stages) {
    outcome.lines.push_back(fmt::format("    {:<16} {:8.3f} ms ({:.3f} .. {:.3f})", figure.stage, 1e3 * figure.seconds.median,
                                        1e3 * figure.seconds.least, 1e3 * figure.seconds.most));
    stages.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
  }
  const double limit = report.read_bytes_per_second.median / static_cast<double>(report.frame_bytes);
  outcome.lines.push_back(
      fmt::format("  limit: reading a frame's {:.1f} MB once, {:.1f} GB/s = {:.0f} frames/s; engine memory {:.1f} MB",
                  1e-6 * static_cast<double>(report.frame_bytes), 1e-9 * report.read_bytes_per_second.median, limit,
                  1e-6 * static_cast<double>(report.engine_bytes)));
  outcome.values = {{"images_per_second", json_of(report.images_per_second)},
                    {"stages", stages},
                    {"lookups_per_second", report.lookups_per_second},
                    {"frame_bytes", report.frame_bytes},
                    {"engine_bytes", report.engine_bytes},
                    {"read_bytes_per_second", json_of(report.read_bytes_per_second)}};
  return outcome;
}

}  // namespace echoform::bench
