// echoform soak: runs a server under a sender, viewers and random faults, and checks its counters all the time.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/soak/attack.hpp"
#include "apps/soak/course.hpp"
#include "apps/soak/faults.hpp"
#include "apps/soak/report.hpp"
#include "apps/soak/telemetry_watch.hpp"
#include "apps/soak/viewers.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "base/host_port.hpp"
#include "base/sanitizers.hpp"
#include "base/temporary_path.hpp"
#include "formats/atomic_file.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {
namespace {

using namespace soak;

struct SoakOptions {
  double minutes = 10.0;
  double rate = 25.0;
  std::uint64_t seed = 1;
  std::vector<std::string> faults;
  std::string backend;
  std::string config;
  std::string json;
  std::string server_log;
  std::uint64_t descriptors = 0;
  double slack = 1.0;
};

/// A folder that exists for the duration of a run.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "echoform-soak-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw RuntimeFault(fmt::format("cannot make a folder such as {}", name));
    path_ = name;
    temporary_.emplace(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<TemporaryPath> temporary_;
};

/// The part and grid of the demo on free ports. Time-outs are short enough to occur often; the time-out of a frame suits a busy
/// machine.
constexpr std::string_view own_configuration = R"([material]
longitudinal_velocity = 6320
[grid]
x = [-0.018, 0.018]
z = [0.003, 0.039]
[input]
listen = "127.0.0.1:0"
hello_timeout = 2
stall_timeout = 2
incomplete_timeout = 20
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
control = "127.0.0.1:0"
web = "127.0.0.1:0"
subscriber_bytes = 33554432
)";

void require_usable(const Configuration& configuration) {
  const auto require = [&](bool right, std::string_view key, const std::string& found, std::string_view expected) {
    if (!right) throw InputError(fmt::format("{}: {}", configuration.name(), key), found, expected);
  };
  const InputSection& input = configuration.input;
  require(input.max_connections >= 16, "[input] max_connections", fmt::format("{}", input.max_connections),
          "at least 16, which faults take");
  require(configuration.server.max_viewers >= 16, "[server] max_viewers", fmt::format("{}", configuration.server.max_viewers),
          "at least 16, which faults take");
  require(input.idle_timeout.value == 0.0, "[input] idle_timeout", fmt::format("{:g} s", input.idle_timeout.value),
          "0, since faults hold the sender up");
  require(configuration.server.tls_certificate.empty(), "[server] tls_certificate", "one",
          "none: the soak's viewers speak plain HTTP");
  require(configuration.curve.secret_key_file.empty(), "[curve] secret_key_file", "one", "none: the soak's viewers have no keys");
  const SimulatorConfiguration& source = section<SimulatorSection>(configuration).source;
  require(source.elements >= source.dead_elements.size() + 3, "[simulator] elements",
          fmt::format("{}, of which {} are dead", source.elements, source.dead_elements.size()), "at least 3 that are alive");
}

Places places_of(const ServerProcess& server, const Configuration& configuration) {
  const auto address = [&](std::string_view label) {
    const auto place = server.address(label);
    if (!place) throw RuntimeFault(fmt::format("the server did not say where \"{}\" is", label));
    return *place;
  };
  const auto endpoint = [&](std::string_view label) {
    const HostPort place = address(label);
    return "tcp://" + host_port_text(place.host, place.port);
  };
  Places places;
  places.frames = address("frames in");
  places.web = address("viewer");
  places.images = endpoint("images out");
  places.telemetry = endpoint("telemetry");
  if (server.address("control")) places.control = endpoint("control");
  places.web_token = configuration.server.token;
  places.stream = configuration.server.name;
  const std::vector<std::string> images = method_of(configuration).images(configuration);
  if (images.size() > 1) places.stream += "/" + images.front();
  return places;
}

/// Memory, bytes, that a server may keep of what it had allocated for peers that have gone.
constexpr double kept_memory = 20.0 * 1048576.0;

/// Checks that, once the last peer has gone, the server's memory returns to its size before the first one.
void await_returned_memory(const ServerProcess& server, Report& report, Verdict& verdict) {
  report.memory_at_end = read_process(server.id()).memory;
  // The heap of a sanitizer keeps freed memory, to find its use.
  if (ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) return;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  do {
    report.memory_at_end = read_process(server.id()).memory;
    if (report.memory_at_end <= report.memory_at_start + kept_memory) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // between checks
  } while (std::chrono::steady_clock::now() < deadline);
  verdict.fail(fmt::format(
      "memory: {:.1f} MiB {} s after the last peer has gone; expected at most {:.1f} MiB, {:.0f} more than at the start",
      report.memory_at_end / 1048576.0, patience.count(), (report.memory_at_start + kept_memory) / 1048576.0,
      kept_memory / 1048576.0));
}

/// The longest time in which a server under attack must end.
constexpr std::chrono::seconds stop_patience{2};

/// Starts clients at every ZeroMQ endpoint, 20 in all.
std::vector<std::unique_ptr<Attack>> attack_all(const Places& places, std::uint64_t seed) {
  std::vector<std::unique_ptr<Attack>> attacks;
  attacks.push_back(std::make_unique<Attack>(AttackKind::subscriptions, places.images, 8, seed));
  attacks.push_back(std::make_unique<Attack>(AttackKind::subscriptions, places.telemetry, 8, seed + 8));
  if (!places.control.empty()) attacks.push_back(std::make_unique<Attack>(AttackKind::requests, places.control, 4, seed + 16));
  return attacks;
}

int soak_server(const SoakOptions& options) {
  if (!options.json.empty()) check_output_place(options.json);
  const std::vector<Fault> faults = chosen_faults(options.faults);
  StopSignals signals;  // before there is a folder that a signal would leave behind
  const ScratchFolder scratch;
  std::string config = options.config;
  if (config.empty()) {
    config = (scratch.path() / "soak.toml").string();
    const std::string recordings = (scratch.path() / "recordings").string();
    std::filesystem::create_directory(recordings);
    std::ofstream(config) << own_configuration
                          << fmt::format("[recorder]\nfolder = '{}'\nat_start = false\nmin_free_bytes = 67108864\n", recordings);
  }
  Configuration configuration = load_configuration(config);
  if (options.config.empty()) configuration.file.clear();
  require_usable(configuration);
  spdlog::info("synthesising the frames");
  auto parts = make_parts(configuration);

  // Warnings are enabled without --server-log too, so that the fault "log nobody reads" has lines.
  const std::string level = options.server_log.empty() ? "warning" : "info";
  std::vector<std::string> arguments{"--log-level", level, "serve", "--config", config};
  if (!options.backend.empty()) arguments.insert(arguments.end(), {"--backend", options.backend});
  const std::filesystem::path log =
      options.server_log.empty() ? scratch.path() / "server.log" : std::filesystem::path(options.server_log);
  auto server = std::make_unique<ServerProcess>(arguments, log, options.descriptors);
  const Places places = places_of(*server, configuration);
  spdlog::info("server {}: frames {}:{}, images {}, web {}:{}", server->id(), places.frames.host, places.frames.port,
               places.images, places.web.host, places.web.port);

  Report report;
  report.seed = options.seed;
  report.memory_at_start = read_process(server->id()).memory;
  Verdict verdict;
  Expectations expectations(configuration.input.drop_policy == DropPolicy::block_sender);
  Judge judge(places, expectations, verdict);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Course course(60.0 * options.minutes);
  HistogramCounts latency_before;
  Counters last;
  std::unique_ptr<GoodViewer> good;
  std::vector<std::unique_ptr<Viewer>> others;
  std::unique_ptr<TelemetryWatch> telemetry;
  std::unique_ptr<Traffic> traffic;
  std::unique_ptr<FaultRunner> runner;
  const auto viewers = [&] {
    std::vector<ViewerFigures> figures;
    if (good) figures.push_back(good->figures());
    for (const auto& viewer : others) figures.push_back(viewer->figures());
    return figures;
  };
  try {
    // The good viewer and the telemetry start before the frames; the other viewers and the faults start once images come.
    good = make_good_subscriber(places, verdict);
    telemetry = std::make_unique<TelemetryWatch>(places, verdict);
    SenderOptions sender;
    sender.host = places.frames.host;
    sender.port = places.frames.port;
    sender.token = configuration.input.token;
    sender.name = "echoform soak";
    traffic = std::make_unique<Traffic>(Stream(std::move(parts), sender, expectations), options.rate, verdict);
    judge.await("start", "an image at the good viewer", [&](const Counters&) { return good->published() != 0; });
    others = make_other_viewers(places, verdict, options.seed);
    runner = std::make_unique<FaultRunner>(faults, options.seed, *traffic, judge, *server, *good, places, configuration,
                                           options.slack);

    double line_at = 10.0;
    const double length = 60.0 * options.minutes;
    while (!verdict.token().stop_requested() && !(elapsed() >= length && runner->all_done())) {
      if (signals.wait_for(std::chrono::milliseconds(elapsed() < length ? 1000 : 100))) break;
      if (const auto end = server->ended()) verdict.fail(fmt::format("the server ended: {}", *end));
      last = judge.read();
      const ProcessFigures figures = read_process(server->id());
      course.add(elapsed(), figures);
      if (!course.begun() && runner->all_done() && elapsed() >= 0.2 * length) course.begin(elapsed());
      if (elapsed() < line_at) continue;
      line_at += 10.0;
      const LatencyFigures latency = latency_figures(good->latency(), latency_before);
      course.add_latency(elapsed(), latency);
      print("{}\n", course_line(elapsed(), last, good->figures(), latency, figures, runner->injected()));
    }
    if (const auto failure = verdict.failure()) throw RuntimeFault(*failure);
    // A viewer that receives nothing finds no fault. So, while frames still run, each must receive something new.
    const auto web_images = [&] {
      std::uint64_t images = 0;
      for (const auto& viewer : others) {
        if (viewer->figures().name == good_web_viewer) images = viewer->figures().images;
      }
      return images;
    };
    judge.await("end of the run", "another telemetry message",
                [&, before = telemetry->messages()](const Counters&) { return telemetry->messages() > before; });
    judge.await("end of the run", "another image at the good web viewer",
                [&, before = web_images()](const Counters&) { return web_images() > before; });
    runner->finish();
    if (const auto failure = verdict.failure()) throw RuntimeFault(*failure);
    traffic->finish();
    if (judge.await("end of the run", true)) {
      judge.await("end of the run", "every image at the good viewer",
                  [&](const Counters& found) { return good->published() == value_of(found, counter::published); });
    }
    last = judge.read();
  } catch (const std::exception& fault) {
    verdict.fail(fault.what());
  }
  // The effects of the server's end on others may have been noticed before the end itself.
  if (verdict.failure() && server->ended_within(std::chrono::seconds(2))) {
    verdict.fail_because(fmt::format("the server ended: {}", *server->ended()));
  }
  report.seconds = elapsed();
  report.viewers = viewers();
  // After a failure, the server ends first, so that nothing waits for it any longer.
  if (verdict.failure()) server.reset();
  if (runner) report.faults = runner->counts();
  runner.reset();
  traffic.reset();
  HistogramCounts none;
  if (good) report.latency = latency_figures(good->latency(), none);
  report.telemetry_messages = telemetry ? telemetry->messages() : 0;
  others.clear();
  good.reset();
  telemetry.reset();
  if (server) {
    await_returned_memory(*server, report, verdict);
    // The server must end on request even when nobody reads its log and clients attack its endpoints.
    std::optional<UnreadLog> unread;
    std::vector<std::unique_ptr<Attack>> attacks;
    if (!verdict.failure()) {
      unread.emplace(server->log());
      attacks = attack_all(places, options.seed);
      std::this_thread::sleep_for(std::chrono::seconds(1));  // until the attacks are running
    }
    const auto longest = std::chrono::duration_cast<std::chrono::seconds>(options.slack * stop_patience);
    if (const auto end = server->stop(attacks.empty() ? patience : longest)) {
      verdict.fail(fmt::format("the server did not end in order: {}", *end));
    }
  }
  report.counters = last;
  report.expected = expectations.expected();
  report.readings = judge.readings();
  report.latency_drift = course.latency_drift();
  report.trends = course.trends();
  for (const Trend& trend : report.trends) {
    if (trend.growth.grows) verdict.fail(growth_text(trend));
  }
  report.failure = verdict.failure();
  print("{}", report_text(report));
  if (!options.json.empty()) {
    const std::string text = json_of(report).dump(2) + '\n';
    write_file(options.json, std::as_bytes(std::span(text)));
  }
  if (report.failure) throw RuntimeFault(fmt::format("soak: {}", *report.failure));
  return 0;
}

}  // namespace

Action define_soak(CLI::App& options) {
  auto chosen = std::make_shared<SoakOptions>();
  options.add_option("--minutes", chosen->minutes, "How long; each fault is injected at least once even so")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("N (10)");
  add_backend_option(options, chosen->backend);
  options.add_option("--rate", chosen->rate, "Frames per second besides the faults' own")
      ->check(CLI::Range(0.1, 1e5))
      ->option_text("FPS (25)");
  options.add_option("--seed", chosen->seed, "Of the list of faults and all that is drawn for them")
      ->check(whole_number())
      ->option_text("S (1)");
  options.add_option("--fault", chosen->faults, "Only this fault; may be repeated (default: all)")
      ->option_text("NAME")
      ->take_all();
  options
      .add_option("--config", chosen->config, "TOML file of the server and the simulator (default: the demo's, on free ports)")
      ->option_text("FILE");
  options.add_option("--json", chosen->json, "Write the summary as JSON")->option_text("FILE");
  options
      .add_option("--descriptors", chosen->descriptors, "Most descriptors that the server may have (default: the system's limit)")
      ->check(whole_number())
      ->option_text("N");
  options
      .add_option("--slack", chosen->slack,
                  "Factor of the time limits under attack (pauses, memory, stop): more than 1 on a busy machine")
      ->check(CLI::Range(1.0, 100.0))
      ->option_text("N (1)");
  options.add_option("--server-log", chosen->server_log, "Keep the server's log")->option_text("FILE");
  return [chosen] { return soak_server(*chosen); };
}

}  // namespace echoform
