// echoform serve: the imaging server.
#include <fmt/format.h>

#include <utility>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/imaging_server.hpp"
#include "apps/text_output.hpp"
#include "settings/reader.hpp"

namespace echoform {
namespace {

int serve(const std::string& path, const std::string& backend) {
  Configuration configuration = load_configuration(path);
  apply_backend_option(backend, configuration);
  settle_backend(configuration);
  StopSignals signals;
  ImagingServer server(std::move(configuration), {});
  server.start();
  // The addresses are printed at once: a program that starts the server reads the ports from standard output.
  std::string addresses;
  for (const std::string& line : server.addresses()) addresses += line + '\n';
  print("{}", addresses);

  LiveLine live;
  CounterSnapshot before;
  ImagedSoFar imaged_before;
  bool moving = false;
  while (!signals.wait_for(std::chrono::seconds(1))) {
    const CounterSnapshot now = server.pipeline().counters();
    const bool still = now.frames_received == before.frames_received && now.frames_published == before.frames_published;
    // A stream that has stopped is shown once, with 0 images/s.
    if (still && !std::exchange(moving, false)) continue;
    moving = !still;
    const MetricsSnapshot metrics = server.pipeline().metrics();
    const auto& latency = metrics.distributions.front();
    const ImagedSoFar imaged = imaged_so_far(server.pipeline());
    std::string line = fmt::format("{}, latency p50 {:.1f} ms p99 {:.1f} ms, {}, sequence gaps {}, viewers {}",
                                   rate_text(imaged_before, imaged, 1.0, 0), milliseconds(latency.p50), milliseconds(latency.p99),
                                   drops_text(now), now.sequence_gaps, server.viewers());
    if (const auto position = server.position()) line += fmt::format(", position {}", *position);
    for (const std::string& said : server.summaries()) line += ", " + said;
    live.show(line);
    before = now;
    imaged_before = imaged;
  }
  live.finish();
  server.stop();
  const CounterSnapshot last = server.pipeline().counters();
  for (const std::string& said : server.summaries()) print("{}\n", said);
  print("{}\n{}\n", drops_text(last), closure_text(last));
  return 0;
}

}  // namespace

Action define_serve(CLI::App& options) {
  struct Chosen {
    std::string config;
    std::string backend;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("--config", chosen->config, "TOML file: material, grid, ports, limits (docs/configuration.md)")
      ->required()
      ->option_text("FILE");
  add_backend_option(options, chosen->backend);
  return [chosen] { return serve(chosen->config, chosen->backend); };
}

}  // namespace echoform
