#include "apps/doors.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <csignal>

#include "apps/keys.hpp"
#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "recording/recorder.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/acquisition/zeromq_source.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {
namespace {

TcpSourceOptions source_options(const Configuration& configuration) {
  const InputSection& input = configuration.input;
  const HostPort place = listening_place(configuration, input.listen, "[input] listen");
  TcpSourceOptions options;
  options.address = place.host;
  options.port = place.port;
  options.token = input.token;
  options.limits = {input.max_elements, input.max_samples, input.max_frame_bytes};
  options.hello_timeout = in_milliseconds(input.hello_timeout);
  options.stall_timeout = in_milliseconds(input.stall_timeout);
  options.message_timeout = in_milliseconds(input.message_timeout);
  options.idle_timeout = in_milliseconds(input.idle_timeout);
  options.io_threads = input.io_threads;
  options.maximum_connections = input.max_connections;
  return options;
}

std::unique_ptr<AcquisitionSource> make_zeromq_door(const Configuration& configuration, const Clock& clock) {
  const InputSection& input = configuration.input;
  if (input.zeromq.empty()) return nullptr;
  const HostPort place = listening_place(configuration, input.zeromq, "[input] zeromq");
  ZeromqSourceOptions options;
  options.address = place.host;
  options.port = place.port;
  options.token = input.token;
  options.limits = {input.max_elements, input.max_samples, input.max_frame_bytes};
  options.idle_timeout = in_milliseconds(input.zeromq_idle_timeout);
  options.keys = server_keys(configuration);
  options.maximum_connections = input.max_connections;
  return make_zeromq_source(options, clock);
}

ZeromqSinkOptions image_options(const Configuration& configuration) {
  const ServerSection& server = configuration.server;
  const HostPort place = listening_place(configuration, server.images, "[server] images");
  ZeromqSinkOptions options;
  options.name = server.name;
  options.address = place.host;
  options.port = place.port;
  options.bytes_per_subscriber = server.subscriber_bytes;
  options.subscribers = server.max_subscribers;
  options.keys = server_keys(configuration);
  const auto pixels = configuration.grid.pixels;
  const auto display = configuration.display.pixels.value_or(pixels);
  options.image_bytes = std::max(pixels[0] * pixels[1] * sizeof(float), display[0] * display[1]);
  options.images_per_frame = 2 * configuration.imaging.views.size();  // envelope and display
  return options;
}

WebSinkOptions web_options(const Configuration& configuration) {
  const ServerSection& server = configuration.server;
  const HostPort place = listening_place(configuration, server.web, "[server] web");
  WebSinkOptions options;
  options.name = server.name;
  options.address = place.host;
  options.port = place.port;
  options.connections = server.max_web_connections;
  options.viewers = server.max_viewers;
  options.host_names = server.web_host_names;
  options.token = server.token;
  if (!server.tls_certificate.empty()) options.tls_certificate = named_file(configuration, server.tls_certificate);
  if (!server.tls_key.empty()) options.tls_key = named_file(configuration, server.tls_key);
  return options;
}

std::shared_ptr<ImageSink> make_recorder(const Configuration& configuration) {
  const RecorderSection& section = configuration.recorder;
  if (section.folder.empty()) return nullptr;
  // A limit on the size of files is an error of the file, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  RecorderOptions options;
  options.files = {section.folder, section.frames_per_file, section.bytes_per_file, section.keep_files, section.min_free_bytes};
  options.pattern = section.file;
  options.name = configuration.server.name;
  options.at_start = section.at_start;
  options.waiting_frames = section.waiting_frames;
  options.wait = section.when_behind == WhenBehind::wait;
  options.flush_interval = in_milliseconds(section.flush_interval);
  return std::make_shared<Recorder>(std::move(options), fmt::format("{}: [recorder]", configuration.name()));
}

}  // namespace

HostPort listening_place(const Configuration& configuration, const std::string& text, std::string_view key) {
  const std::string where = fmt::format("{}: {}", configuration.name(), key);
  HostPort place = parse_host_port(text, where);
  boost::system::error_code error;
  boost::asio::ip::make_address(place.host, error);
  const bool every_interface = place.host == "*" && (key == "[server] images" || key == "[server] telemetry" ||
                                                     key == "[server] control" || key == "[input] zeromq");
  if (error && !every_interface) {
    throw InputError(where, fmt::format("\"{}\"", text), "ADDRESS:PORT with an IPv4 or IPv6 address of this machine");
  }
  return place;
}

std::size_t descriptors_wanted(const Configuration& configuration) {
  const InputSection& input = configuration.input;
  const ServerSection& server = configuration.server;
  std::size_t wanted = descriptors_of_a_server + input.max_connections + server.max_web_connections;
  if (!input.zeromq.empty()) wanted += 2 * input.max_connections;
  constexpr std::size_t publishers = 2;
  return wanted + publishers * 2 * server.max_subscribers;
}

void check_descriptors(const Configuration& configuration) {
  require_descriptors(descriptors_of_a_server, "server");
  const std::size_t wanted = descriptors_wanted(configuration);
  if (wanted <= descriptor_limit()) return;
  spdlog::warn(
      "{}: {} file descriptors are wanted if all connections that it lets in come, and the limit is {} (ulimit -Hn): those "
      "beyond "
      "will be turned away; raise it, or lower [input] max_connections ({}), [server] max_subscribers ({}) or "
      "max_web_connections ({})",
      configuration.name(), wanted, descriptor_limit(), configuration.input.max_connections, configuration.server.max_subscribers,
      configuration.server.max_web_connections);
}

const std::vector<SourceDoor>& source_doors() {
  static const std::vector<SourceDoor> doors{
      {"frames in",
       [](const Configuration& c, const Clock& clock) -> std::unique_ptr<AcquisitionSource> {
         return make_tcp_source(source_options(c), clock);
       }},
      {"ZeroMQ in", make_zeromq_door},
  };
  return doors;
}

const std::vector<SinkDoor>& sink_doors() {
  static const std::vector<SinkDoor> doors{
      {"images out", [](const Configuration& c) -> std::shared_ptr<ImageSink> { return make_zeromq_sink(image_options(c)); }},
      {"viewer", [](const Configuration& c) -> std::shared_ptr<ImageSink> { return make_web_sink(web_options(c)); }},
      {"recorder", make_recorder},
  };
  return doors;
}

}  // namespace echoform
