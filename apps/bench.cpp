// echoform bench: sustained rates against the limits measured in the same run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "benchmarks/frame.hpp"
#include "benchmarks/ingest.hpp"
#include "benchmarks/stream.hpp"
#include "benchmarks/tfm.hpp"
#include "config/configuration.hpp"
#include "config/plan.hpp"
#include "cpu/cpu_backend.hpp"
#include "formats/atomic_file.hpp"
#include "pipeline/errors.hpp"

namespace echoform {
namespace {

using namespace benchmarks;
using nlohmann::json;

struct Options {
  std::string name;
  std::optional<std::size_t> elements;
  std::optional<std::size_t> samples;
  std::optional<std::size_t> pixels;
  std::optional<std::size_t> frames;
  std::size_t threads = 0;
  double hold = 10.0;
  std::string backend;
  std::string json_file;
};

/// What a benchmark found, for people and for programs.
struct Outcome {
  std::vector<std::string> lines;
  json values;
};

json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

std::string giga(const Spread& spread) {
  return fmt::format("{:7.3f} G lookups/s  ({:.3f} .. {:.3f})", 1e-9 * spread.median, 1e-9 * spread.least, 1e-9 * spread.most);
}

Outcome bench_tfm(const Options& options, LiveLine& progress) {
  TfmCase test;
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.pixels = options.pixels.value_or(test.pixels);
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  // The plain loop's delays, and tables of the kernels: at most three of them and the one for runs from the cache, then one more.
  const auto places = static_cast<double>((test.pixels + 3) / 4 * 4) * static_cast<double>((test.pixels + 3) / 4 * 4);
  const auto pairs = static_cast<double>(test.elements * (test.elements + 1) / 2);
  const double needed =
      static_cast<double>(test.elements) * places * (4.0 + 5.0 * 5.0) + 16.0 * pairs * static_cast<double>(test.samples + 80);
  if (needed > default_memory_limit()) {
    throw InputError("bench tfm",
                     fmt::format("{} elements, {} samples and {} x {} pixels, which need {:.2f} GB", test.elements, test.samples,
                                 test.pixels, test.pixels, 1e-9 * needed),
                     fmt::format("a case that fits into {:.2f} GB", 1e-9 * default_memory_limit()));
  }
  const TfmReport report = measure_tfm(test, [&](const std::string& what) { progress.show("tfm: " + what); });
  Outcome outcome;
  outcome.lines.push_back(fmt::format(
      "beamforming {} elements x {} samples, {} x {} pixels: {:.4g} lookups an image, delay tables {:.1f} MB", test.elements,
      test.samples, test.pixels, test.pixels, report.lookups, 1e-6 * static_cast<double>(report.table_bytes)));
  const auto line = [&](const std::string& name, const TfmFigure& figure) {
    outcome.lines.push_back(fmt::format("  {:<22} {:2} threads {}  {:5.1f} x reference", name, figure.threads,
                                        giga(figure.lookups_per_second),
                                        figure.lookups_per_second.median / report.reference.lookups_per_second.median));
  };
  line("reference loop", report.reference);
  outcome.lines.push_back(fmt::format("    built by {}", report.reference_flags));
  for (const TfmFigure& figure : report.beamformer) line(figure.name, figure);
  for (const TfmFigure& figure : report.scaling) line("scaling, " + figure.name, figure);
  line("limit: all in cache", report.limit);
  outcome.lines.push_back(
      fmt::format("  {} : reference = {:.1f} ({:.1f} .. {:.1f}), round by round; {:.0f} % of the limit; images differ by {:.1e}",
                  report.beamformer.front().name, report.ratio.median, report.ratio.least, report.ratio.most,
                  100.0 * report.beamformer.front().lookups_per_second.median / report.limit.lookups_per_second.median,
                  report.relative_difference));
  const auto figure_json = [](const TfmFigure& figure) {
    return json{{"name", figure.name}, {"threads", figure.threads}, {"lookups_per_second", json_of(figure.lookups_per_second)}};
  };
  outcome.values = {{"elements", test.elements},
                    {"samples", test.samples},
                    {"pixels", test.pixels},
                    {"lookups", report.lookups},
                    {"reference", figure_json(report.reference)},
                    {"reference_flags", report.reference_flags},
                    {"limit", figure_json(report.limit)},
                    {"ratio", json_of(report.ratio)},
                    {"relative_difference", report.relative_difference},
                    {"table_bytes", report.table_bytes},
                    {"beamformer", json::array()},
                    {"scaling", json::array()}};
  for (const TfmFigure& figure : report.beamformer) outcome.values["beamformer"].push_back(figure_json(figure));
  for (const TfmFigure& figure : report.scaling) outcome.values["scaling"].push_back(figure_json(figure));
  return outcome;
}

/// The demo's source, or one with other sizes above a grid that its gate reaches.
struct Scene {
  Configuration configuration;
  SimulatorConfiguration simulator;
};

Scene scene_of(const Options& options) {
  Scene scene;
  SimulatorConfiguration& source = scene.configuration.simulator.source;
  source.elements = options.elements.value_or(source.elements);
  source.samples = options.samples.value_or(source.samples);
  source.cycle_frames = 8;
  const std::size_t pixels = options.pixels.value_or(256);
  scene.configuration.grid.pixels = {pixels, pixels};
  scene.configuration.grid.x = {Metres(-18e-3), Metres(18e-3)};
  scene.configuration.grid.z = {Metres(3e-3), Metres(39e-3)};
  scene.configuration.imaging.threads = options.threads;
  scene.simulator = simulator_configuration(scene.configuration);
  return scene;
}

Outcome bench_frame(const Options& options, LiveLine& progress) {
  const Scene scene = scene_of(options);
  progress.show("frame: imaging");
  const auto plan = build_plan(scene.configuration, acquisition_of(scene.simulator), scene.simulator.material);
  const std::size_t threads = options.threads != 0 ? options.threads : usable_processors();
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

Outcome bench_ingest(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.lines.push_back("ingest: TCP source into slots against a bare Boost.Asio receiver, same sender, taking turns");
  outcome.values = json::array();
  for (const std::size_t shot_bytes : {std::size_t{64} << 10U, std::size_t{1} << 20U}) {
    for (const std::size_t connections : {1U, 2U, 4U}) {
      progress.show(fmt::format("ingest: {} connections, shots of {} KiB", connections, shot_bytes >> 10U));
      IngestCase test;
      test.connections = connections;
      test.shot_bytes = shot_bytes;
      test.rounds = options.frames.value_or(test.rounds);
      const IngestRates rates = measure_ingest(test);
      outcome.lines.push_back(
          fmt::format("  {} connections, shots of {:4} KiB: {:.2f} GB/s ({:.2f} .. {:.2f}), bare {:.2f} GB/s ({:.2f} .. {:.2f}), "
                      "ratio {:.2f} ({:.2f} .. {:.2f})",
                      connections, shot_bytes >> 10U, 1e-9 * rates.source.median, 1e-9 * rates.source.least,
                      1e-9 * rates.source.most, 1e-9 * rates.bare.median, 1e-9 * rates.bare.least, 1e-9 * rates.bare.most,
                      rates.ratio.median, rates.ratio.least, rates.ratio.most));
      outcome.values.push_back({{"connections", connections},
                                {"shot_bytes", shot_bytes},
                                {"source", json_of(rates.source)},
                                {"bare", json_of(rates.bare)},
                                {"ratio", json_of(rates.ratio)}});
    }
  }
  return outcome;
}

std::string trial_text(const StreamTrial& trial) {
  return fmt::format("{:7.1f} images/s seen, dropped {}, missed {}, latency p50 {:.2f} ms p99 {:.2f} ms{}",
                     trial.published_per_second, trial.dropped, trial.missed, 1e3 * trial.latency_p50, 1e3 * trial.latency_p99,
                     trial.closes ? "" : ", COUNTERS DO NOT CLOSE");
}

json json_of(const StreamTrial& trial) {
  return {{"rate", trial.rate},
          {"images_per_second", trial.published_per_second},
          {"dropped", trial.dropped},
          {"missed", trial.missed},
          {"latency_p50", trial.latency_p50},
          {"latency_p99", trial.latency_p99},
          {"closes", trial.closes}};
}

Outcome bench_stream(const Options& options, LiveLine& progress) {
  const Scene scene = scene_of(options);
  StreamCase test;
  test.simulator = scene.simulator;
  test.plan = [&scene](const Acquisition& acquisition) {
    return build_plan(scene.configuration, acquisition, scene.simulator.material);
  };
  test.threads = options.threads != 0 ? options.threads : usable_processors();
  test.hold = options.hold;
  test.engine_frames = options.frames.value_or(50);
  const StreamReport report = measure_stream(test, [&](const std::string& what) { progress.show("stream: " + what); });
  Outcome outcome;
  outcome.lines.push_back(fmt::format(
      "stream: simulated source -> loopback TCP -> imaging -> ZeroMQ -> subscriber, {} elements x {} samples FULL int16, {} x {} "
      "pixels",
      scene.simulator.elements, scene.simulator.samples, scene.configuration.grid.pixels[0], scene.configuration.grid.pixels[1]));
  outcome.lines.push_back(fmt::format("  full speed           {}", trial_text(report.full_speed)));
  json search = json::array();
  for (const StreamTrial& trial : report.search) {
    outcome.lines.push_back(fmt::format("  at {:7.1f} frames/s  {}", trial.rate, trial_text(trial)));
    search.push_back(json_of(trial));
  }
  outcome.lines.push_back(fmt::format(
      "  sustained {:.1f} images/s, held {:.0f} s without a drop; {:.0f} % of the engine alone in this run ({:.1f} images/s)",
      report.sustained, test.hold, 100.0 * report.sustained / report.engine_images_per_second, report.engine_images_per_second));
  outcome.lines.push_back(fmt::format(
      "  at 80 % of that      {}: p99 / p50 = {:.2f}", trial_text(report.at_80_percent),
      report.at_80_percent.latency_p50 > 0.0 ? report.at_80_percent.latency_p99 / report.at_80_percent.latency_p50 : 0.0));
  outcome.lines.push_back(
      fmt::format("  memory: slots and engine {} bytes, fixed; whole process {:.1f} MB after the first frames, {:.1f} MB after "
                  "the last trial",
                  report.pipeline_bytes, 1e-6 * static_cast<double>(report.resident_before),
                  1e-6 * static_cast<double>(report.resident_after)));
  outcome.values = {{"sustained", report.sustained},
                    {"engine_images_per_second", report.engine_images_per_second},
                    {"full_speed", json_of(report.full_speed)},
                    {"search", search},
                    {"at_80_percent", json_of(report.at_80_percent)},
                    {"pipeline_bytes", report.pipeline_bytes},
                    {"resident_before", report.resident_before},
                    {"resident_after", report.resident_after}};
  return outcome;
}

struct Benchmark {
  std::string_view name;
  Outcome (*run)(const Options& options, LiveLine& progress);
};

constexpr Benchmark all_benchmarks[] = {
    {"tfm", bench_tfm},
    {"frame", bench_frame},
    {"ingest", bench_ingest},
    {"stream", bench_stream},
};

int bench(const Options& options) {
  Configuration backend_wish;
  apply_backend_option(options.backend, backend_wish);
  if (backend_wish.imaging.backend == BackendWish::cuda) throw InputError("--backend", "cuda, which is not measured yet", "cpu");
  std::string names;
  bool known = options.name == "all";
  for (const Benchmark& benchmark : all_benchmarks) {
    known = known || benchmark.name == options.name;
    names += fmt::format("{}, ", benchmark.name);
  }
  if (!known) throw InputError("bench", fmt::format("\"{}\"", options.name), names + "all");
  // Before minutes of measurements.
  if (!options.json_file.empty()) check_output_place(options.json_file);

  json values{{"processors", usable_processors()}, {"simd", std::string(to_string(simd_level()))}};
  fmt::print("{} processors, {}\n", usable_processors(), to_string(simd_level()));
  for (const Benchmark& benchmark : all_benchmarks) {
    if (options.name != "all" && options.name != benchmark.name) continue;
    LiveLine progress;
    const Outcome outcome = benchmark.run(options, progress);
    progress.finish();
    for (const std::string& line : outcome.lines) fmt::print("{}\n", line);
    std::fflush(stdout);
    values[std::string(benchmark.name)] = outcome.values;
  }
  if (!options.json_file.empty()) {
    const std::string text = values.dump(2) + '\n';
    write_file(options.json_file, std::as_bytes(std::span(text)));
  }
  return 0;
}

}  // namespace

Action define_bench(CLI::App& options) {
  auto chosen = std::make_shared<Options>();
  options.add_option("name", chosen->name, "tfm, frame, ingest, stream, or all")->required();
  options.add_option("--elements", chosen->elements, "Elements of the probe (tfm 128, else 32)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  options.add_option("--samples", chosen->samples, "Samples of an A-scan (tfm 4096, else 1024)")
      ->check(CLI::Range(64, 65536))
      ->option_text("M");
  options.add_option("--pixels", chosen->pixels, "Pixels of the image along x and z (256)")
      ->check(CLI::Range(1, 8192))
      ->option_text("S");
  options.add_option("--frames", chosen->frames, "Measurements of each figure (tfm 5, else 50)")
      ->check(CLI::Range(1, 100000))
      ->option_text("K");
  options.add_option("--threads", chosen->threads, "Threads of the CPU backend; 0: all processors")
      ->check(CLI::Range(0, 1024))
      ->option_text("T (0)");
  options.add_option("--hold", chosen->hold, "stream: seconds that a rate must be held")
      ->check(CLI::Range(0.5, 3600.0))
      ->option_text("S (10)");
  add_backend_option(options, chosen->backend);
  options.add_option("--json", chosen->json_file, "Also write every figure as JSON")->option_text("FILE");
  return [chosen] { return bench(*chosen); };
}

}  // namespace echoform
