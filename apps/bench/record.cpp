// Recording against the disk, and the pipeline with a recorder against the pipeline without.
#include "benchmarks/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/scenario.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

// The default of the pipeline.
constexpr std::size_t slots = 4;
constexpr Unit frames_unit{"frames/s", 1.0, 1};

Outcome record(const Options& options, LiveLine& progress, BackendKind backend) {
  const Scenario scene = scene_of(options);
  RecordCase test;
  test.simulator = scene.simulator;
  test.setup = [&scene](const Acquisition& acquisition) {
    return make_imaging_setup(build_plan(scene.configuration, acquisition, scene.simulator.material, slots, ImagingUse::live));
  };
  test.backend = {false, backend};
  test.backend.threads = threads_of(options);
  test.folder = options.folder.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(options.folder);
  test.rounds = options.frames.value_or(test.rounds);
  // Each turn writes a quarter of a gigabyte where the time suffices.
  test.file_bytes = static_cast<std::size_t>(static_cast<double>(test.file_bytes) * std::min(1.0, 0.1 * options.hold));
  test.seconds = options.hold / static_cast<double>(test.rounds);
  const RecordReport report = measure_record(test, [&](const std::string& what) { progress.show("record: " + what); });
  Outcome outcome;
  const double mega = 1e-6 * static_cast<double>(report.frame_bytes);
  outcome.say(fmt::format("record: {} elements x {} samples FULL int16, {:.2f} MB a frame, in turns, in {}",
                          scene.simulator.elements, scene.simulator.samples, mega, test.folder.string()));
  const Spread disk = report.turns.spread("disk");
  const Spread without = report.turns.spread("without");
  const Spread writer = report.turns.spread("writer");
  const Spread with = report.turns.spread("with");
  outcome.say(fmt::format("  the disk itself, plain writes and fdatasync   {}, {:.0f} MB/s", text_of(disk, frames_unit),
                          mega * disk.median));
  outcome.add("figures", {.name = "MFMC, forced to the disk",
                          .value = writer,
                          .unit = frames_unit,
                          .limit = limit_of("the disk,", report.turns, "writer", "disk"),
                          .note = fmt::format("({:.0f} MB/s)", mega * writer.median)});
  outcome.say(fmt::format("  loopback TCP -> imaging, nobody recording     {}", text_of(without, images)));
  outcome.add("figures", {.name = "the same, every frame recorded",
                          .value = with,
                          .unit = images,
                          .limit = limit_of("that without,", report.turns, "with", "without"),
                          .note = fmt::format("({:.0f} MB/s)", mega * with.median)});
  outcome.say(fmt::format("  recorded {} frames, not recorded {}{}", report.recorded, report.not_recorded,
                          report.closes ? "" : ", COUNTERS DO NOT CLOSE"));
  outcome.values.update({{"elements", scene.simulator.elements},
                         {"samples", scene.simulator.samples},
                         {"frame_bytes", report.frame_bytes},
                         {"disk_frames_per_second", json_of(disk)},
                         {"images_without", json_of(without)},
                         {"turns", json_of(report.turns)},
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
