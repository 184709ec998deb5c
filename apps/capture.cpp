// echoform capture: writes the bytes of acquisition connections to a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/doors.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "methods/registry.hpp"
#include "recording/capture_server.hpp"

namespace echoform {
namespace {

struct CaptureOptions {
  std::string output;
  std::string listen;
  std::string connect;
  std::string config;
  double seconds = 0.0;
  std::uint64_t bytes = 0;
};

CaptureServerOptions server_options(const CaptureOptions& chosen) {
  const Configuration configuration = configuration_from(chosen.config);
  log_doubts(configuration);
  if (std::filesystem::path(chosen.output).extension() != capture_extension)
    throw InputError("--output", fmt::format("\"{}\"", chosen.output), fmt::format("a file that ends in {}", capture_extension));
  const HostPort place = chosen.listen.empty() ? listening_place(configuration, configuration.input.listen, "[input] listen")
                                               : parse_host_port(chosen.listen, "--listen");
  CaptureServerOptions options;
  options.output = chosen.output;
  options.address = place.host;
  options.port = place.port;
  if (!chosen.connect.empty()) {
    const HostPort behind = parse_host_port(chosen.connect, "--connect");
    options.connect_host = behind.host;
    options.connect_port = behind.port;
  }
  options.connections = configuration.input.max_connections;
  options.bytes = chosen.bytes;
  options.token = configuration.input.token;
  options.limits = limits_of(configuration.input);
  options.hello_timeout = in_milliseconds(configuration.input.hello_timeout);
  return options;
}

int capture(const CaptureOptions& chosen) {
  CaptureServerOptions options = server_options(chosen);
  StopSignals signals;
  options.ended = [&signals] { signals.request_stop(); };
  CaptureServer server(options);
  // The text is printed at once: a program that starts the capture reads the port from standard output.
  print("{:<11} tcp {}:{}\n{:<11} {}\n", "frames in", options.address, server.port(), "capturing", chosen.output);

  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  LiveLine live;
  std::uint64_t before = 0;
  for (;;) {
    auto wait = std::chrono::milliseconds(1000);
    if (chosen.seconds > 0.0) {
      const auto left = std::chrono::duration<double>(chosen.seconds) - (Steady::now() - begin);
      if (left.count() <= 0.0) break;
      wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    if (signals.wait_for(wait)) break;
    const CaptureProgress now = server.progress();
    if (now.bytes == before) continue;
    live.show(fmt::format("{:.1f} MB, {:.1f} MB/s, {} connections open", 1e-6 * static_cast<double>(now.bytes),
                          1e-6 * static_cast<double>(now.bytes - before), now.connections_open));
    before = now.bytes;
  }
  live.finish();
  server.stop();
  const CaptureProgress last = server.progress();
  print("captured {} bytes of {} connections{}, {} bytes of file\n", last.bytes, last.connections,
        last.connections_refused > 0 ? fmt::format(" ({} more were refused)", last.connections_refused) : std::string(),
        last.file_bytes);
  if (!last.fault.empty()) throw RuntimeFault(last.fault);
  return 0;
}

}  // namespace

Action define_capture(CLI::App& options) {
  auto chosen = std::make_shared<CaptureOptions>();
  options.add_option("--output", chosen->output, "The capture: a new file that ends in .efcap")->required()->option_text("FILE");
  options.add_option("--listen", chosen->listen, "Where senders connect to (default: [input] listen, 127.0.0.1:17171)")
      ->option_text("HOST:PORT");
  options.add_option("--connect", chosen->connect, "The server to hand everything on to; none: senders are answered here")
      ->option_text("HOST:PORT");
  options.add_option("--seconds", chosen->seconds, "Ends after so long; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->option_text("S (0)");
  options.add_option("--bytes", chosen->bytes, "Ends when the file has so many; 0: never")
      ->check(whole_number())
      ->option_text("N (0)");
  options.add_option("--config", chosen->config, "TOML file: [input] limits and token")->option_text("FILE");
  return [chosen] { return capture(*chosen); };
}

}  // namespace echoform
