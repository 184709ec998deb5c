#include "apps/imaging_server.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "acquisition/words.hpp"
#include "apps/black_images.hpp"
#include "apps/keys.hpp"
#include "apps/log.hpp"
#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "engines/device_need.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/unread_keys.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/setup_memory.hpp"
#include "pipeline/words.hpp"
#include "transport/control/control_json.hpp"
#include "transport/metrics_text.hpp"

namespace echoform {
namespace {

PipelineOptions pipeline_options(const Configuration& configuration) {
  PipelineOptions options;
  options.slots = configuration.input.slots;
  options.policy = configuration.input.drop_policy;
  options.incomplete_timeout = in_milliseconds(configuration.input.incomplete_timeout);
  options.limits = limits_of(configuration.input);
  options.memory_limit = static_cast<std::size_t>(memory_limit(configuration));
  options.backend = backend_choice(configuration.imaging);
  options.planning_limit = in_milliseconds(configuration.input.planning_timeout);
  options.release_after = in_milliseconds(configuration.input.release_after);
  options.memory_estimate = [slots = options.slots, site = imaging_site(configuration)](const ImagingSetup& setup) {
    return static_cast<double>(host_memory(setup, slots, site));
  };
  if (options.backend.kind == BackendKind::cuda) {
    options.require_device_room = [slots = options.slots, device = options.backend.device](const ImagingSetup& setup) {
      require_device_room(setup, {.slots = slots}, device, device_memory(device));
    };
  }
  return options;
}

TelemetryPublisherOptions telemetry_options(const Configuration& configuration) {
  const ServerSection& server = configuration.server;
  const HostPort place = listening_place(configuration, server.telemetry, "[server] telemetry");
  TelemetryPublisherOptions options;
  options.name = server.name;
  options.address = place.host;
  options.port = place.port;
  options.interval = in_milliseconds(server.telemetry_interval);
  options.subscribers = server.max_subscribers;
  options.keys = server_keys(configuration);
  return options;
}

ZeromqControlOptions control_options(const Configuration& configuration) {
  const HostPort place = listening_place(configuration, configuration.server.control, "[server] control");
  ZeromqControlOptions options;
  options.address = place.host;
  options.port = place.port;
  options.keys = server_keys(configuration);
  return options;
}

}  // namespace

/// Time of the last publication, and the position of the probe at that time.
class LastPublication final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override {}
  void publish(const FinishedFrame& frame) noexcept override {
    time_.store(frame.publish_time.count(), std::memory_order_relaxed);
    position_.store(frame.slot.position.value_or(no_position), std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_envelope() noexcept override { return false; }
  [[nodiscard]] std::string describe() const override { return "last publication"; }
  [[nodiscard]] WallTime time() const { return WallTime(time_.load(std::memory_order_relaxed)); }
  [[nodiscard]] std::optional<EncoderCount> position() const {
    const EncoderCount count = position_.load(std::memory_order_relaxed);
    return count == no_position ? std::nullopt : std::optional(count);
  }

 private:
  std::atomic<WallTime::rep> time_{0};
  std::atomic<EncoderCount> position_{no_position};
};

ImagingServer::ImagingServer(Configuration configuration, const Material& stated, std::vector<std::shared_ptr<ImageSink>> sinks,
                             ServerFoundations foundations)
    : configuration_(std::move(configuration)),
      stated_(stated),
      clock_(foundations.clock != nullptr ? *foundations.clock : system_clock_),
      last_publication_(std::make_shared<LastPublication>()) {
  check_descriptors(configuration_);
  const Method& method = method_of(configuration_);
  method.check(configuration_, stated_);
  for (const std::string& line : find_unread_keys(configuration_, method).warnings) spdlog::warn("{}", line);
  check_scan(configuration_);
  log_doubts(configuration_);
  std::vector<SettingsFollower> followers;
  for (const SourceDoor& door : source_doors()) {
    OpenSource open = door.make(configuration_, clock_);
    sources_.push_back(std::move(open.source));
    if (open.follower) followers.push_back(std::move(*open.follower));
  }
  sinks.push_back(last_publication_);
  sinks.push_back(std::make_shared<BlackImages>(std::string(configuration_.name())));
  for (const SinkDoor& door : sink_doors()) {
    sinks_.push_back(door.make(configuration_));
    if (sinks_.back().sink != nullptr) sinks.push_back(sinks_.back().sink);
    if (sinks_.back().begin_scan) scans_->set_begin(sinks_.back().begin_scan);
  }
  pipeline_ =
      std::make_unique<Pipeline>(pipeline_options(configuration_), Control::first_setup_factory(configuration_, stated_, scans_),
                                 std::move(sinks), clock_, std::move(foundations.engines));
  control_ = std::make_unique<Control>(configuration_, stated_, *pipeline_, scans_);
  for (SettingsFollower& follower : followers) control_->add(std::move(follower));
  if (!sinks_tell().empty()) {
    control_->add({"status", true, [this](const auto&, auto& reply) {
                     for (const TelemetryReport::Sink& sink : sinks_tell()) reply.add_sinks(sink_text(sink));
                   }});
  } else {
    control_->add(unavailable_action("status", "no sink that tells of itself", "one, such as [recorder] folder or [scan] path"));
  }
  for (const OpenSink& open : sinks_) {
    for (const ControlAction& action : open.actions) control_->add(action);
  }
  if (!configuration_.server.control.empty()) {
    control_door_ = std::make_unique<ZeromqControl>(control_options(configuration_),
                                                    [this](const auto& request) { return control_->handle(request); });
    control_peers_ = control_door_->peers();
  }
  control_worker_ = std::make_unique<ControlWorker>(*control_);
  for (const OpenSink& open : sinks_) {
    if (open.take_answers) open.take_answers(answers());
  }
  telemetry_ = std::make_unique<TelemetryPublisher>(telemetry_options(configuration_),
                                                    [this] { return report(pipeline_->close_window()); });
  telemetry_peers_ = &telemetry_->peers();
}

ServerAnswers ImagingServer::answers() {
  ServerAnswers answers;
  answers.metrics = [this, door = metrics_door_]() -> std::string {
    const std::lock_guard lock(door->mutex);
    return door->open ? metrics_text(report(pipeline_->metrics())) : std::string();
  };
  answers.control = [this, door = metrics_door_](const std::string& body, const auto& answer) {
    const auto reply_with = [answer](const wire::ControlReply& reply) {
      answer(http_status(reply.outcome()), control_json(reply));
    };
    wire::ControlRequest request;
    wire::ControlReply refused;
    if (const auto fault = parse_control_json(body, request)) {
      refused.set_outcome(wire::REFUSED);
      refused.set_reason(*fault);
      return reply_with(refused);
    }
    const std::lock_guard lock(door->mutex);
    if (door->control_open) return control_worker_->post(std::move(request), reply_with);
    refused.set_outcome(wire::FAILED);
    refused.set_reason("the server is stopping");
    reply_with(refused);
  };
  return answers;
}

std::size_t ImagingServer::viewers() const {
  TelemetryReport told;
  for (const OpenSink& open : sinks_) {
    if (open.tell) open.tell(told);
  }
  std::size_t all = 0;
  for (const auto& [door, viewers] : told.viewers) all += viewers;
  return all;
}

std::vector<TelemetryReport::Sink> ImagingServer::sinks_tell() const {
  std::vector<TelemetryReport::Sink> told;
  for (std::size_t k = 0; k < sinks_.size(); ++k) {
    const ImageSink* const sink = sinks_[k].sink.get();
    if (sink == nullptr) continue;
    if (auto figures = sink->figures(); !figures.empty()) told.push_back({sink_doors()[k].label, std::move(figures)});
  }
  return told;
}

TelemetryReport ImagingServer::report(MetricsSnapshot metrics) const {
  TelemetryReport report;
  report.metrics = std::move(metrics);
  report.backend = pipeline_->backend();
  // Before the first stream there is no engine to query.
  if (report.backend.empty()) report.backend = words::backend_kind.of(pipeline_->options().backend.kind);
  if (const auto setup = pipeline_->setup()) report.acquisition = acquisition_text(setup->acquisition);
  report.warnings = control_->warnings(control_->configuration());
  report.version = ECHOFORM_VERSION;
  report.settings_revision = control_->revision();
  report.last_frame = last_publication_->time();
  report.position = last_publication_->position();
  SourceCounters all;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    report.doors.push_back({std::string(source->name()), source->counters(), source->last_rejection()});
    all += report.doors.back().counters;
  }
  for (const auto& [reason, word] : words::decode_reason.entries) {
    report.decode_errors.emplace_back(word, all.decode_errors[static_cast<std::size_t>(reason)]);
  }
  report.connections = {{"accepted", all.connections_accepted},
                        {"rejected", all.connections_rejected},
                        {"timed_out", all.connections_timed_out},
                        {"lost", all.connections_lost}};
  report.connections_open = all.connections_open;
  for (const auto& source : sources_) {
    if (source != nullptr && source->peers() != nullptr) report.add_refusals(source->name(), *source->peers());
  }
  if (const PeerCounters* const peers = telemetry_peers_) report.add_refusals("telemetry", *peers);
  if (control_peers_ != nullptr) report.add_refusals("control", *control_peers_);
  for (const OpenSink& open : sinks_) {
    if (open.tell) open.tell(report);
  }
  report.sinks = sinks_tell();
  report.log_lines_dropped = log_lines_dropped();
  return report;
}

ImagingServer::~ImagingServer() {
  stop();
}

void ImagingServer::start() {
  for (const auto& source : sources_) {
    if (source != nullptr) source->start(*pipeline_);
  }
}

void ImagingServer::stop() {
  if (stopped_) return;
  stopped_ = true;
  // Planning ends first, because sources wait for the streams that they are opening.
  pipeline_->end_planning();
  for (const auto& source : sources_) {
    if (source != nullptr) source->stop();
  }
  control_door_.reset();
  {
    const std::lock_guard lock(metrics_door_->mutex);
    metrics_door_->control_open = false;
  }
  control_worker_.reset();
  pipeline_->stop();
  for (const OpenSink& open : sinks_) {
    if (open.sink != nullptr) open.sink->finish();
  }
  // Readers of the pipeline end before the pipeline does.
  {
    const std::lock_guard lock(metrics_door_->mutex);
    metrics_door_->open = false;
  }
  telemetry_.reset();
}

std::optional<EncoderCount> ImagingServer::position() const {
  return last_publication_->position();
}

std::vector<std::string> ImagingServer::addresses() const {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (sources_[k] != nullptr) lines.push_back(fmt::format("{:<11} {}", source_doors()[k].label, sources_[k]->describe()));
  }
  for (std::size_t k = 0; k < sinks_.size(); ++k) {
    const ImageSink* const sink = sinks_[k].sink.get();
    if (sink != nullptr) lines.push_back(fmt::format("{:<11} {}", sink_doors()[k].label, sink->describe()));
  }
  lines.push_back(fmt::format("{:<11} {}", "telemetry", telemetry_ ? telemetry_->endpoint() : "stopped"));
  if (control_door_) lines.push_back(fmt::format("{:<11} {}", "control", control_door_->endpoint()));
  return lines;
}

std::vector<std::string> ImagingServer::invitations() const {
  std::vector<std::string> lines;
  for (const OpenSink& open : sinks_) {
    if (!open.invitation.empty()) lines.push_back(open.invitation);
  }
  return lines;
}

std::vector<std::string> ImagingServer::summaries() const {
  std::vector<std::string> lines;
  for (const OpenSink& open : sinks_) {
    if (open.sink == nullptr) continue;
    if (std::string line = open.sink->summary(); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

ImagedSoFar imaged_so_far(const Pipeline& pipeline) {
  ImagedSoFar imaged{pipeline.counters().frames_published, std::nullopt};
  if (const auto setup = pipeline.setup(); setup != nullptr && setup->scan != nullptr) {
    imaged.positions = setup->scan->record->counts().cells;
  }
  return imaged;
}

std::string rate_text(const ImagedSoFar& before, const ImagedSoFar& now, double seconds, int decimals) {
  const double frames = static_cast<double>(now.frames - before.frames) / seconds;
  if (!now.positions) return fmt::format("{:.{}f} images/s", frames, decimals);
  // The count of a scan that was cleared, or of a new scan, begins at 0.
  const std::uint64_t first = std::min(before.positions.value_or(0), *now.positions);
  return fmt::format("{:.{}f} new positions/s of {:.{}f} frames/s", static_cast<double>(*now.positions - first) / seconds,
                     decimals, frames, decimals);
}

std::string closure_text(const CounterSnapshot& counters) {
  return fmt::format("frames received {} = published {} + dropped {} + in flight {}", counters.frames_received,
                     counters.frames_published, counters.dropped(), counters.frames_in_flight);
}

std::string drops_text(const CounterSnapshot& counters) {
  if (counters.dropped() == 0) return "drops none";
  std::string reasons;
  for (const auto& [reason, word] : words::drop_reason.entries) {
    const std::uint64_t frames = counters.frames_dropped[static_cast<std::size_t>(reason)];
    if (frames > 0) reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", word, frames);
  }
  return fmt::format("drops {} ({})", counters.dropped(), reasons);
}

}  // namespace echoform
