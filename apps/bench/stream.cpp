// The whole pipeline over loopback TCP. It is the same on both backends, except for the default sizes.
#include <fmt/format.h>

#include "apps/bench/scenario.hpp"
#include "apps/bench/stream_case.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

std::string trial_text(const StreamTrial& trial) {
  return fmt::format("{:7.1f} images/s seen, dropped {}, missed {}, latency p50 {:.2f} ms p99 {:.2f} ms{}",
                     trial.published_per_second, trial.dropped, trial.missed, 1e3 * trial.latency_p50, 1e3 * trial.latency_p99,
                     trial.closes ? "" : ", COUNTERS DO NOT CLOSE");
}

json json_of_trial(const StreamTrial& trial) {
  json values{{"rate", trial.rate},
              {"images_per_second", trial.published_per_second},
              {"dropped", trial.dropped},
              {"missed", trial.missed},
              {"latency_p50", trial.latency_p50},
              {"latency_p99", trial.latency_p99},
              {"closes", trial.closes}};
  if (trial.device_bytes_before != 0) {
    values["device_bytes_before"] = trial.device_bytes_before;
    values["device_bytes_after"] = trial.device_bytes_after;
  }
  return values;
}

/// Trials of the report, in the order of measurement.
std::vector<const StreamTrial*> trials_of(const StreamReport& report) {
  std::vector<const StreamTrial*> trials;
  for (const StreamLink& link : report.links) {
    for (const StreamTrial& trial : link.full_speed) trials.push_back(&trial);
  }
  for (const StreamTrial& trial : report.search) trials.push_back(&trial);
  if (report.sustained > 0.0) trials.push_back(&report.at_80_percent);
  return trials;
}

Spread latency_of(const StreamLink& link, double StreamTrial::*percentile) {
  std::vector<double> seconds;
  for (const StreamTrial& trial : link.full_speed) seconds.push_back(trial.*percentile);
  return benchmarks::spread_of(std::move(seconds));
}

void report_links(const StreamReport& report, Outcome& outcome) {
  const double giga = 1e-9 * static_cast<double>(report.frame_bytes);
  for (const StreamLink& link : report.links) {
    json trials = json::array();
    std::uint64_t dropped = 0;
    std::uint64_t missed = 0;
    for (const StreamTrial& trial : link.full_speed) {
      trials.push_back(json_of_trial(trial));
      dropped += trial.dropped;
      missed += trial.missed;
      if (!trial.closes) outcome.say(fmt::format("  COUNTERS OF TRIAL {} DO NOT CLOSE", trials.size()));
    }
    const Spread rate = link.turns.spread("pipeline");
    const Spread bare = link.turns.spread("bare");
    const Spread p50 = latency_of(link, &StreamTrial::latency_p50);
    const Spread p99 = latency_of(link, &StreamTrial::latency_p99);
    outcome.say(fmt::format("  full speed, {} connections, {} trials: dropped {}, missed {}, latency p50 {}, p99 {}",
                            link.connections, link.full_speed.size(), dropped, missed, text_of(p50, milliseconds_unit),
                            text_of(p99, milliseconds_unit)));
    outcome.add("links", {.name = fmt::format("  against bare sockets, {:.2f} GB/s", giga * rate.median),
                          .value = rate,
                          .unit = images,
                          .limit = limit_of("bare sockets in turn,", link.turns, "pipeline", "bare"),
                          .note = fmt::format("({:.1f} .. {:.1f}, {:.2f} GB/s)", bare.least, bare.most, giga * bare.median),
                          .more = {{"connections", link.connections},
                                   {"trials", trials},
                                   {"latency_p50", json_of(p50)},
                                   {"latency_p99", json_of(p99)},
                                   {"turns", json_of(link.turns)},
                                   {"bare_frames_per_second", json_of(bare)}}});
  }
}

void report_memory(const StreamReport& report, Outcome& outcome) {
  outcome.say(
      fmt::format("  memory: slots and engine {} bytes, fixed; whole process {:.1f} MB after the first frames, {:.1f} MB after "
                  "the last trial",
                  report.pipeline_bytes, 1e-6 * static_cast<double>(report.resident_before),
                  1e-6 * static_cast<double>(report.resident_after)));
  const auto trials = trials_of(report);
  if (trials.front()->device_bytes_before == 0) return;
  std::int64_t growth = 0;
  for (const StreamTrial* trial : trials) {
    growth += static_cast<std::int64_t>(trial->device_bytes_after) - static_cast<std::int64_t>(trial->device_bytes_before);
  }
  outcome.say(
      fmt::format("  device memory in use: {:.1f} MB with frames flowing; changed by {} bytes over the frames of {} trials",
                  1e-6 * static_cast<double>(trials.back()->device_bytes_after), growth, trials.size()));
  outcome.values["device_bytes_growth"] = growth;
}

// The default of the pipeline.
constexpr std::size_t frames_in_flight = 4;

}  // namespace

Outcome run_stream(const Options& options, const Scenario& scene, StreamCase test, LiveLine& progress) {
  test.simulator = scene.simulator;
  test.setup = [&scene](const Acquisition& acquisition) {
    return make_imaging_setup(
        build_plan(scene.configuration, acquisition, scene.simulator.material, frames_in_flight, ImagingUse::live));
  };
  test.backend.threads = threads_of(options);
  if (options.connections) test.connections = {*options.connections};
  test.hold = options.hold;
  test.engine_frames = options.frames.value_or(test.engine_frames);
  const StreamReport report = measure_stream(test, [&](const std::string& what) { progress.show("stream: " + what); });
  Outcome outcome;
  outcome.say(fmt::format(
      "stream: simulated source -> loopback TCP -> imaging -> ZeroMQ -> subscriber, {} elements x {} samples FULL int16, of "
      "which {} are imaged, {} x {} pixels",
      scene.simulator.elements, scene.simulator.samples, report.imaged_samples, scene.configuration.grid.pixels.x,
      scene.configuration.grid.pixels.z));
  report_links(report, outcome);
  json search = json::array();
  for (const StreamTrial& trial : report.search) {
    outcome.say(fmt::format("  at {:7.1f} frames/s  {}", trial.rate, trial_text(trial)));
    search.push_back(json_of_trial(trial));
  }
  outcome.say(fmt::format(
      "  sustained {:.1f} images/s on {} connections, held {:.0f} s without a drop; {:.0f} % of the engine alone, in turn with "
      "the trials at full speed: {}",
      report.sustained, report.links.back().connections, test.hold,
      100.0 * report.sustained / report.engine_images_per_second.median, text_of(report.engine_images_per_second, images)));
  outcome.say(fmt::format(
      "  at 80 % of that      {}: p99 / p50 = {:.2f}", trial_text(report.at_80_percent),
      report.at_80_percent.latency_p50 > 0.0 ? report.at_80_percent.latency_p99 / report.at_80_percent.latency_p50 : 0.0));
  report_memory(report, outcome);
  outcome.values.update({{"elements", scene.simulator.elements},
                         {"samples", scene.simulator.samples},
                         {"pixels", scene.configuration.grid.pixels.x},
                         {"frame_bytes", report.frame_bytes},
                         {"imaged_samples", report.imaged_samples},
                         {"sustained", report.sustained},
                         {"engine_images_per_second", json_of(report.engine_images_per_second)},
                         {"search", search},
                         {"at_80_percent", json_of_trial(report.at_80_percent)},
                         {"pipeline_bytes", report.pipeline_bytes},
                         {"resident_before", report.resident_before},
                         {"resident_after", report.resident_after}});
  return outcome;
}

Outcome stream_cpu(const Options& options, LiveLine& progress) {
  const Scenario scene = scene_of(options);
  StreamCase test;
  test.backend = {false, BackendKind::cpu};
  return run_stream(options, scene, test, progress);
}

}  // namespace echoform::bench
