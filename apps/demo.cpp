// echoform demo: simulated source, TCP, pipeline, publishers and viewer in one go.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/imaging_server.hpp"
#include "apps/last_image.hpp"
#include "apps/play.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "formats/image_writer.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "simulators/frame_cycle.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {
namespace {

struct DemoOptions {
  double seconds = 0.0;
  std::string backend;
  std::string snapshot;
  std::string rate = "max";
  std::string config;
  std::size_t connections = 1;
  std::optional<std::uint64_t> seed;
};

/// The defaults of the demo: a free port for the frames, and a grid that shows the whole simulated part.
Configuration demo_configuration(const DemoOptions& options) {
  Configuration configuration = configuration_from(options.config);
  if (options.config.empty()) {
    configuration.input.listen = "127.0.0.1:0";
    configuration.grid.x = {Metres(-18e-3), Metres(18e-3)};
    configuration.grid.z = {Metres(3e-3), Metres(39e-3)};
  }
  apply_backend_option(options.backend, configuration);
  if (options.seed) section<SimulatorSection>(configuration).source.seed = *options.seed;
  return configuration;
}

/// A demo must not fail because another one runs: without a configuration file, it takes free ports when its own are in use.
std::unique_ptr<ImagingServer> make_server(Configuration configuration, bool may_move, const Material& material,
                                           const std::shared_ptr<LastImage>& last) {
  try {
    return std::make_unique<ImagingServer>(configuration, material, std::vector<std::shared_ptr<ImageSink>>{last});
  } catch (const RuntimeFault& fault) {
    if (!may_move) throw;
    spdlog::warn("{}; taking free ports", fault.what());
  }
  configuration.server.images = "127.0.0.1:0";
  configuration.server.telemetry = "127.0.0.1:0";
  if (!configuration.server.control.empty()) configuration.server.control = "127.0.0.1:0";
  configuration.server.web = "127.0.0.1:0";
  return std::make_unique<ImagingServer>(configuration, material, std::vector<std::shared_ptr<ImageSink>>{last});
}

/// Runs the source in a thread of its own and keeps the exception that it throws.
class Player {
 public:
  Player(FrameSource& source, PlayOptions options)
      : thread_([this, &source, options = std::move(options)](const std::stop_token& stop) {
          try {
            progress_ = play(source, options, stop);
          } catch (...) {
            fault_ = std::current_exception();
          }
          ended_.store(true);
        }) {}

  [[nodiscard]] bool ended() const { return ended_.load(); }
  /// Asks the source to stop, waits, and rethrows its exception.
  PlaybackProgress finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
    return progress_;
  }

 private:
  std::atomic<bool> ended_{false};
  PlaybackProgress progress_;
  std::exception_ptr fault_;
  std::jthread thread_;
};

void print_live(LiveLine& live, Pipeline& pipeline, ImagedSoFar& before, std::chrono::steady_clock::time_point& since) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - since).count();
  const MetricsSnapshot metrics = pipeline.metrics();
  const auto& latency = metrics.distributions.front();
  const ImagedSoFar imaged = imaged_so_far(pipeline);
  live.show(fmt::format("{}, latency p50 {:.1f} ms p99 {:.1f} ms, {}", rate_text(before, imaged, seconds, 1),
                        milliseconds(latency.p50), milliseconds(latency.p99), drops_text(metrics.counters)));
  before = imaged;
  since = now;
}

void print_places(const FrameCycle& cycle, std::uint64_t sequence) {
  print("true places of the reflectors in the snapshot (sequence {}):\n", sequence);
  const auto places = cycle.true_positions(sequence);
  const bool in_space = std::any_of(places.begin(), places.end(), [](const TruePosition& at) { return at.place.y.value != 0.0; });
  for (const TruePosition& reflector : places) {
    const Point& at = reflector.place;
    print("  {:<12} x {:8.3f} mm  {}z {:7.3f} mm{}\n", reflector.name, 1e3 * at.x.value,
          in_space ? fmt::format("y {:8.3f} mm  ", 1e3 * at.y.value) : "", 1e3 * at.z.value,
          reflector.moving ? "  (moving)" : "");
  }
}

int demo(const DemoOptions& options) {
  Configuration configuration = demo_configuration(options);
  const SimulatorConfiguration simulated = simulated_source(configuration);
  std::unique_ptr<ImageWriter> writer;
  if (!options.snapshot.empty()) writer = make_image_writer(options.snapshot);
  PlayOptions play_options;
  play_options.rate = parse_rate(options.rate, "--rate");
  play_options.sender.connections = options.connections;
  play_options.sender.token = configuration.input.token;
  play_options.sender.name = "echoform demo";

  settle_backend(configuration);
  spdlog::info("synthesising the frames");
  FrameCycle cycle = synthesised(simulated);
  spdlog::info("{}", cycle.describe());
  // Signals are handled from here on. Synthesising the frames may take a while, and an interruption must end it at once.
  StopSignals signals;
  const auto last = std::make_shared<LastImage>();
  const auto server = make_server(configuration, options.config.empty(), simulated.material, last);
  server->start();
  play_options.sender.host = parse_host_port(configuration.input.listen, "[input] listen").host;
  play_options.sender.port = server->source().port();
  for (const std::string& line : server->addresses()) print("{}\n", line);
  for (const std::string& line : server->invitations()) print("{}\n", line);
  if (options.seconds == 0.0) print("Ctrl-C ends the demo.\n");

  Player player(cycle, play_options);
  LiveLine live;
  ImagedSoFar before;
  const auto start = std::chrono::steady_clock::now();
  auto since = start;
  while (!player.ended() && !signals.token().stop_requested()) {
    std::chrono::milliseconds wait(1000);
    if (options.seconds > 0.0) {
      const std::chrono::duration<double> left =
          std::chrono::duration<double>(options.seconds) - (std::chrono::steady_clock::now() - start);
      if (left.count() <= 0.0) break;
      wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    if (signals.wait_for(wait)) break;
    print_live(live, server->pipeline(), before, since);
  }
  live.finish();
  const PlaybackProgress sent = player.finish();
  server->stop();

  const MetricsSnapshot metrics = server->pipeline().metrics();
  if (writer && !last->empty()) {
    writer->write(last->file(0, writer->draws()));
    print_places(cycle, last->sequence());
    print("wrote {}\n", options.snapshot);
  }
  const auto& latency = metrics.distributions.front();
  print("sent {} frames; sequence gaps {}\n", sent.frames_sent, metrics.counters.sequence_gaps);
  for (const std::string& said : server->summaries()) print("{}\n", said);
  print("latency, last byte to published: p50 {:.2f} ms, p99 {:.2f} ms\n", milliseconds(latency.total_p50),
        milliseconds(latency.total_p99));
  print("{}\n{}\n", drops_text(metrics.counters), closure_text(metrics.counters));
  if (!metrics.counters.closes()) throw RuntimeFault("the counters do not close");
  if (last->empty()) {
    if (signals.token().stop_requested()) return 0;  // interrupted before the first image: not a fault
    throw RuntimeFault("no image was published");
  }
  print("sustained {:.1f} {}/s\n", last->images_per_second(), scans(configuration) ? "new positions" : "images");
  return 0;
}

}  // namespace

Action define_demo(CLI::App& options) {
  auto chosen = std::make_shared<DemoOptions>();
  options.add_option("--seconds", chosen->seconds, "Ends after this time; 0: runs until Ctrl-C")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("S (0)");
  add_backend_option(options, chosen->backend);
  options
      .add_option("--snapshot", chosen->snapshot,
                  fmt::format("Write the last image: {}", fmt::join(image_writer_extensions(), ", ")))
      ->option_text("FILE");
  options.add_option("--rate", chosen->rate, "Frames per second, or max for what is sustained")->option_text("FPS|max (max)");
  options.add_option("--connections", chosen->connections, "TCP connections that carry each frame's shots, 1 to 8")
      ->check(CLI::Range(1, 8))
      ->option_text("K (1)");
  options.add_option("--seed", chosen->seed, "Another seed moves a reflector and changes the noise")
      ->check(whole_number())
      ->option_text("N");
  options.add_option("--config", chosen->config, "TOML file instead of the demo's own settings")->option_text("FILE");
  return [chosen] { return demo(*chosen); };
}

}  // namespace echoform
