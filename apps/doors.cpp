#include "apps/doors.hpp"

#include "transport/acquisition/tcp_source.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {
namespace {

TcpSourceOptions source_options(const Configuration& configuration) {
  const InputSection& input = configuration.input;
  const HostPort place = parse_host_port(input.listen, "[input] listen");
  TcpSourceOptions options;
  options.address = place.host;
  options.port = place.port;
  options.token = input.token;
  options.limits = {input.max_elements, input.max_samples, input.max_frame_bytes};
  options.hello_timeout = in_milliseconds(input.hello_timeout);
  options.stall_timeout = in_milliseconds(input.stall_timeout);
  options.idle_timeout = in_milliseconds(input.idle_timeout);
  options.io_threads = input.io_threads;
  options.maximum_connections = input.max_connections;
  return options;
}

ZeromqSinkOptions image_options(const ServerSection& server) {
  const HostPort place = parse_host_port(server.images, "[server] images");
  ZeromqSinkOptions options;
  options.name = server.name;
  options.address = place.host;
  options.port = place.port;
  options.bytes_per_subscriber = server.subscriber_bytes;
  return options;
}

WebSinkOptions web_options(const ServerSection& server) {
  const HostPort place = parse_host_port(server.web, "[server] web");
  WebSinkOptions options;
  options.name = server.name;
  options.address = place.host;
  options.port = place.port;
  options.connections = server.max_web_connections;
  options.viewers = server.max_viewers;
  options.host_names = server.web_host_names;
  return options;
}

}  // namespace

const std::vector<SourceDoor>& source_doors() {
  static const std::vector<SourceDoor> doors{
      {"frames in", [](const Configuration& c) -> std::unique_ptr<Source> { return make_tcp_source(source_options(c)); }},
  };
  return doors;
}

const std::vector<SinkDoor>& sink_doors() {
  static const std::vector<SinkDoor> doors{
      {"images out", [](const Configuration& c) -> std::shared_ptr<ImageSink> { return make_zeromq_sink(image_options(c.server)); }},
      {"viewer", [](const Configuration& c) -> std::shared_ptr<ImageSink> { return make_web_sink(web_options(c.server)); }},
  };
  return doors;
}

}  // namespace echoform
