#include "apps/doors.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/keys.hpp"
#include "apps/scan_door.hpp"
#include "apps/sharpness_door.hpp"
#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "instruments/instrument.hpp"
#include "methods/display_settings.hpp"
#include "methods/registry.hpp"
#include "recording/recorder.hpp"
#include "recording/recorder_section.hpp"
#include "settings/key_table.hpp"
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
  options.limits = limits_of(input);
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
  options.limits = limits_of(input);
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
  const auto& shown = section<DisplaySection>(configuration).pixels;
  const std::size_t display = shown ? (*shown)[0] * (*shown)[1] : 0;
  options.image_bytes = std::max(configuration.grid.pixels.all() * sizeof(float), display);
  options.images_per_frame = 2 * method_of(configuration).images(configuration).size();  // envelope and display
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

OpenSink open_publisher(const Configuration& configuration) {
  const std::shared_ptr<ZeromqSink> images = make_zeromq_sink(image_options(configuration));
  OpenSink open(images);
  open.tell = [images](TelemetryReport& report) {
    report.viewers.emplace_back("images", images->peers().open);
    report.viewer_dropped += images->dropped();
    report.add_refusals("images", images->peers());
  };
  open.invitation = fmt::format("Run: echoform view --connect {}", images->endpoint());
  return open;
}

OpenSink open_viewer(const Configuration& configuration) {
  const std::shared_ptr<WebSink> web = make_web_sink(web_options(configuration));
  OpenSink open(web);
  open.tell = [web](TelemetryReport& report) {
    report.viewers.emplace_back("web", web->viewers());
    report.viewer_dropped += web->viewer_dropped();
    report.add_refusals("web", web->peers());
  };
  open.take_answers = [web](ServerAnswers answers) {
    web->set_metrics(std::move(answers.metrics));
    web->set_control(std::move(answers.control));
  };
  open.invitation = fmt::format("Open {} in a browser.", web->url());
  return open;
}

std::shared_ptr<Recorder> make_recorder(const Configuration& configuration) {
  const auto& section = echoform::section<RecorderSection>(configuration);
  if (section.folder.empty()) return nullptr;
  // A limit on the size of files becomes an error of the file and does not end the program.
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

/// Peers must not learn the names of folders.
std::string name_in_folder(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

OpenSink open_recorder(const Configuration& configuration) {
  const std::shared_ptr<Recorder> recorder = make_recorder(configuration);
  OpenSink open(recorder);
  open.tell = [recorder](TelemetryReport& report) {
    const RecorderStatus status = recorder != nullptr ? recorder->status() : RecorderStatus{};
    report.recording = status.recording;
    report.frames_recorded = status.frames_recorded;
    for (const auto& [reason, word] : words::not_recorded.entries) {
      report.frames_not_recorded.emplace_back(word, status.frames_not_recorded[static_cast<std::size_t>(reason)]);
    }
  };
  if (recorder == nullptr) {
    for (const char* const action : {"start_recording", "stop_recording"}) {
      open.actions.push_back(unavailable_action(action, "a server without a recorder", "[recorder] folder in its configuration"));
    }
    return open;
  }
  const auto before = std::make_shared<std::atomic<std::uint64_t>>(0);  // frames of the previous recordings
  open.actions = {{"start_recording", false,
                   [recorder, before](const auto& request, auto& reply) {
                     const std::uint64_t recorded = recorder->status().frames_recorded;
                     reply.set_file(recorder->start(request.file()));
                     before->store(recorded);
                     reply.add_results(fmt::format("recording to {}", reply.file()));
                   }},
                  {"stop_recording", false, [recorder, before](const auto&, auto& reply) {
                     const bool was = recorder->status().recording;
                     recorder->stop();
                     const RecorderStatus status = recorder->status();
                     if (!status.fault.empty()) throw RuntimeFault(status.fault);
                     const std::uint64_t frames = status.frames_recorded - before->exchange(status.frames_recorded);
                     reply.add_results(
                         !was          ? "nothing was being recorded"
                         : frames == 0 ? "no frame came: there is no file"
                                       : fmt::format("{} frames recorded, the last in {}", frames, name_in_folder(status.file)));
                   }}};
  return open;
}

}  // namespace

std::size_t descriptors_wanted(const Configuration& configuration) {
  const InputSection& input = configuration.input;
  const ServerSection& server = configuration.server;
  std::size_t wanted = descriptors_of_a_server + input.max_connections + server.max_web_connections;
  if (!input.zeromq.empty()) wanted += 2 * input.max_connections;
  for (const SinkDoor& door : sink_doors()) {
    if (door.connections) wanted += door.connections(configuration);
  }
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

namespace {

std::vector<SourceDoor>& sources() {
  static std::vector<SourceDoor> doors = [] {
    std::vector<SourceDoor> list{
        {"frames in",
         [](const Configuration& c, const Clock& clock) -> std::unique_ptr<AcquisitionSource> {
           return make_tcp_source(source_options(c), clock);
         }},
        {"ZeroMQ in", make_zeromq_door},
    };
    for (const Instrument& instrument : instruments()) list.push_back({std::string(instrument.title), instrument.open});
    return list;
  }();
  return doors;
}

std::vector<SinkDoor>& sinks() {
  static std::vector<SinkDoor> doors = [] {
    std::vector<SinkDoor> list{{"images out", open_publisher, {}, true}, {"viewer", open_viewer, {}, true}};
    for (SinkDoor& door : output_doors()) list.push_back(std::move(door));
    list.push_back({"recorder", open_recorder});
    list.push_back({"scan", open_scan});
    list.push_back({"image", open_sharpness});
    return list;
  }();
  return doors;
}

template <class Door>
void add_door(std::vector<Door>& doors, Door door, std::string_view function) {
  const auto same = [&](const Door& other) { return other.label == door.label; };
  if (door.label.empty() || std::any_of(doors.begin(), doors.end(), same)) {
    throw InputError(function, fmt::format("the label \"{}\"", door.label), "a label that no other door has");
  }
  add_keys(std::exchange(door.keys, {}));
  doors.push_back(std::move(door));
}

}  // namespace

const std::vector<SourceDoor>& source_doors() {
  return sources();
}
const std::vector<SinkDoor>& sink_doors() {
  return sinks();
}
void add_source_door(SourceDoor door) {
  add_door(sources(), std::move(door), "add_source_door");
}
void add_sink_door(SinkDoor door) {
  add_door(sinks(), std::move(door), "add_sink_door");
}

}  // namespace echoform
