// echoform record: records the frames of a sender to a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/doors.hpp"
#include "apps/frame_recorder.hpp"
#include "apps/imaging_server.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "formats/frame_writer.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/scan_setup.hpp"

namespace echoform {
namespace {

struct RecordOptions {
  std::string output;
  std::string listen;
  std::string config;
  std::uint64_t frames = 0;
  double seconds = 0.0;
};

PipelineOptions recording_pipeline_options(const Configuration& configuration) {
  const InputSection& input = configuration.input;
  PipelineOptions options;
  options.slots = input.slots;
  options.policy = input.drop_policy;
  options.incomplete_timeout = in_milliseconds(input.incomplete_timeout);
  options.limits = limits_of(input);
  options.memory_limit = static_cast<std::size_t>(memory_limit(configuration));
  // With a slow disk, frames that were received are still written.
  options.drain_limit = std::chrono::seconds(10);
  return options;
}

using Sources = std::vector<std::unique_ptr<AcquisitionSource>>;

bool anybody_connected(const Sources& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [](const auto& source) { return source != nullptr && source->counters().connections_open > 0; });
}

/// Waits until no sender is connected, `enough` holds, or the time is over.
template <class Enough>
void await_farewells(const Sources& sources, std::chrono::milliseconds patience, const Enough& enough) {
  constexpr std::chrono::milliseconds look{5};
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (anybody_connected(sources) && !enough() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(look);
}

/// Ends the connections of a recording that has its frames. A sender without further frames may finish; a sender with more frames
/// is informed that the recording is complete. Otherwise either would find its connection cut and take that for a fault.
void part_from_senders(const Sources& sources, const FrameRecorder& recorder) {
  using namespace std::chrono_literals;
  await_farewells(sources, 1s, [&] { return recorder.progress().left_out > 0; });
  for (const auto& source : sources) {
    if (source != nullptr && anybody_connected(sources)) {
      source->dismiss(fmt::format("the recording has its {} frames", recorder.progress().frames));
    }
  }
  await_farewells(sources, 2s, [] { return false; });
}

int record(const RecordOptions& chosen) {
  Configuration configuration = configuration_from(chosen.config);
  log_doubts(configuration);
  if (!chosen.listen.empty()) {
    static_cast<void>(parse_host_port(chosen.listen, "--listen"));
    configuration.input.listen = chosen.listen;
  }
  StopSignals signals;
  FrameRecorderOptions options;
  options.output = chosen.output;
  options.material = {configuration.material.longitudinal_velocity.value_or(MetresPerSecond{}),
                      configuration.material.shear_velocity.value_or(MetresPerSecond{})};
  if (scans(configuration)) {
    check_scan_path(configuration);
    options.pose = [configuration](const Acquisition& acquisition) { return scan_poses(configuration, acquisition); };
  }
  if (chosen.frames > 0) options.frames = chosen.frames;
  options.ended = [&signals] { signals.request_stop(); };
  FrameRecorder recorder(std::move(options));
  const SystemClock clock;
  const auto setup_of = [&configuration, make = recorder.setup_factory()](const Acquisition& acquisition) {
    log_doubts_about_data(configuration, acquisition, {});
    return make(acquisition);
  };
  Pipeline pipeline(recording_pipeline_options(configuration), setup_of, {}, clock, recorder.engine_factory());
  Sources sources;
  for (const SourceDoor& door : source_doors()) sources.push_back(door.make(configuration, clock).source);
  for (const auto& source : sources) {
    if (source != nullptr) source->start(pipeline);
  }
  // The text is printed at once: a program that starts the recorder reads the port from standard output.
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] != nullptr) print("{:<11} {}\n", source_doors()[k].label, sources[k]->describe());
  }
  print("{:<11} {}\n", "recording", chosen.output);

  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const auto length = std::chrono::duration<double>(chosen.seconds);
  LiveLine live;
  std::uint64_t before = 0;
  for (;;) {
    auto wait = std::chrono::milliseconds(1000);
    if (chosen.seconds > 0.0) {
      const auto left = length - (Steady::now() - begin);
      if (left.count() <= 0.0) break;
      wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    if (signals.wait_for(wait)) break;
    const RecordingProgress now = recorder.progress();
    if (now.frames == before) continue;
    const CounterSnapshot counters = pipeline.counters();
    live.show(fmt::format("{} frames, {:.1f} MB, {} frames/s, {}, sequence gaps {}", now.frames,
                          1e-6 * static_cast<double>(now.bytes), now.frames - before, drops_text(counters),
                          counters.sequence_gaps));
    before = now.frames;
  }
  live.finish();
  if (recorder.complete()) part_from_senders(sources, recorder);
  for (const auto& source : sources) {
    if (source != nullptr) source->stop();
  }
  pipeline.stop();
  recorder.close();

  const RecordingProgress last = recorder.progress();
  const CounterSnapshot counters = pipeline.counters();
  print("wrote {} frames, {} bytes of samples; {}, sequence gaps {}{}\n{}\n", last.frames, last.bytes, drops_text(counters),
        counters.sequence_gaps,
        last.left_out > 0 ? fmt::format("; {} came after the last and were left out", last.left_out) : std::string(),
        closure_text(counters));
  if (!last.fault.empty()) throw RuntimeFault(last.fault);
  if (last.frames == 0) throw RuntimeFault(fmt::format("{}: no frame came, nothing was written", chosen.output));
  return 0;
}

}  // namespace

Action define_record(CLI::App& options) {
  auto chosen = std::make_shared<RecordOptions>();
  options
      .add_option("--output", chosen->output,
                  fmt::format("The recording: a new file that ends in {}", fmt::join(frame_file_extensions(), ", ")))
      ->required()
      ->option_text("FILE");
  options.add_option("--listen", chosen->listen, "Where senders connect to (default: [input] listen, 127.0.0.1:17171)")
      ->option_text("HOST:PORT");
  options.add_option("--frames", chosen->frames, "Ends after so many frames; 0: none")
      ->check(whole_number())
      ->option_text("N (0)");
  options.add_option("--seconds", chosen->seconds, "Ends after so long; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->option_text("S (0)");
  options
      .add_option("--config", chosen->config,
                  "TOML file: [input] limits, token and drop policy, [material] for the file, [scan] for where the probe is")
      ->option_text("FILE");
  return [chosen] { return record(*chosen); };
}

}  // namespace echoform
