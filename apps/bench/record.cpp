// Recording against the disk, and the pipeline with a recorder against the pipeline without.
#include "benchmarks/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/scenario.hpp"
#include "config/plan.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

// As the pipeline's default.
constexpr std::size_t slots = 4;
constexpr Unit frames_unit{"frames/s", 1.0, 1};

Outcome record(const Options& options, LiveLine& progress, BackendKind backend) {
  const Scenario scene = scene_of(options);
  RecordCase test;
  test.simulator = scene.simulator;
  test.plan = [&scene](const Acquisition& acquisition) {
    return build_plan(scene.configuration, acquisition, scene.simulator.material, slots, PlanUse::live);
  };
  test.backend = {false, backend};
  test.backend.threads = threads_of(options);
  test.folder = options.folder.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(options.folder);
  test.rounds = options.frames.value_or(test.rounds);
  // A quarter of a gigabyte a turn where there is time.
  test.file_bytes = static_cast<std::size_t>(static_cast<double>(test.file_bytes) * std::min(1.0, 0.1 * options.hold));
  test.seconds = options.hold / static_cast<double>(test.rounds);
  const RecordReport report = measure_record(test, [&](const std::string& what) { progress.show("record: " + what); });
  Outcome outcome;
  const double mega = 1e-6 * static_cast<double>(report.frame_bytes);
  outcome.say(fmt::format("record: {} elements x {} samples FULL int16, {:.2f} MB a frame, in turns, in {}",
                          scene.simulator.elements, scene.simulator.samples, mega, test.folder.string()));
  outcome.say(fmt::format("  the disk itself, plain writes and fdatasync   {}, {:.0f} MB/s",
                          text_of(report.disk_frames_per_second, frames_unit), mega * report.disk_frames_per_second.median));
  outcome.add("figures", {.name = "MFMC, forced to the disk",
                          .value = report.writer_frames_per_second,
                          .unit = frames_unit,
                          .limit_name = "the disk's median",
                          .limit = report.disk_frames_per_second.median,
                          .note = fmt::format("({:.0f} MB/s)", mega * report.writer_frames_per_second.median)});
  outcome.say(fmt::format("  loopback TCP -> imaging, nobody recording     {}", text_of(report.images_without, images)));
  outcome.add("figures", {.name = "the same, every frame recorded",
                          .value = report.images_with,
                          .unit = images,
                          .limit_name = "that without",
                          .limit = report.images_without.median,
                          .note = fmt::format("({:.0f} MB/s)", mega * report.images_with.median)});
  outcome.say(fmt::format("  recorded {} frames, not recorded {}{}", report.recorded, report.not_recorded,
                          report.closes ? "" : ", COUNTERS DO NOT CLOSE"));
  outcome.values.update({{"elements", scene.simulator.elements},
                         {"samples", scene.simulator.samples},
                         {"frame_bytes", report.frame_bytes},
                         {"disk_frames_per_second", json_of(report.disk_frames_per_second)},
                         {"images_without", json_of(report.images_without)},
                         {"recorded", report.recorded},
                         {"not_recorded", report.not_recorded},
                         {"closes", report.closes}});
  outcome.failed = !report.closes;
  return outcome;
}

}  // namespace

Outcome record_cpu(const Options& options, LiveLine& progress) {
  return record(options, progress, BackendKind::cpu);
}

Outcome record_cuda(const Options& options, LiveLine& progress) {
  return record(options, progress, BackendKind::cuda);
}

}  // namespace echoform::bench
