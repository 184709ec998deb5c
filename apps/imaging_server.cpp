#include "apps/imaging_server.hpp"

#include <fmt/format.h>

#include <atomic>
#include <numeric>

#include "acquisition/words.hpp"
#include "apps/doors.hpp"
#include "apps/keys.hpp"
#include "apps/log.hpp"
#include "base/errors.hpp"
#include "engines/device_need.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/standing_check.hpp"
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
  options.limits = {configuration.input.max_elements, configuration.input.max_samples, configuration.input.max_frame_bytes};
  options.memory_limit = static_cast<std::size_t>(configuration.imaging.memory_limit.value_or(default_memory_limit()));
  options.backend = backend_choice(configuration.imaging);
  options.planning_limit = in_milliseconds(configuration.input.planning_timeout);
  options.release_after = in_milliseconds(configuration.input.release_after);
  options.memory_estimate = [slots = options.slots, by = imaged_by(configuration.imaging)](const ImagingSetup& setup) {
    return memory_needed(plan_of(setup), slots, by);
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

std::string acquisition_text(const Acquisition& a) {
  return fmt::format("{} elements, {}, {} samples at {:g} MHz, {}", a.elements(), pairs_text(a), a.samples,
                     1e-6 * a.sample_rate.value, words::sample_encoding.of(a.encoding));
}

}  // namespace

/// When a frame was last published.
class PublicationTime final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override {}
  void publish(const FinishedFrame& frame) noexcept override {
    last_.store(frame.publish_time.count(), std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_envelope() noexcept override { return false; }
  [[nodiscard]] std::string describe() const override { return "time of publication"; }
  [[nodiscard]] WallTime last() const { return WallTime(last_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<WallTime::rep> last_{0};
};

ImagingServer::ImagingServer(Configuration configuration, const Material& stated, std::vector<std::shared_ptr<ImageSink>> sinks,
                             ServerFoundations foundations)
    : configuration_(std::move(configuration)),
      stated_(stated),
      clock_(foundations.clock != nullptr ? *foundations.clock : system_clock_),
      publication_time_(std::make_shared<PublicationTime>()) {
  check_descriptors(configuration_);
  check_velocities(configuration_, stated_);
  static_cast<void>(make_scene(configuration_));
  for (const SourceDoor& door : source_doors()) sources_.push_back(door.make(configuration_, clock_));
  sinks.push_back(publication_time_);
  for (const SinkDoor& door : sink_doors()) {
    sinks_.push_back(door.make(configuration_));
    if (sinks_.back() != nullptr) sinks.push_back(sinks_.back());
  }
  pipeline_ = std::make_unique<Pipeline>(pipeline_options(configuration_), Control::first_setup_factory(configuration_, stated_),
                                         std::move(sinks), clock_, std::move(foundations.engines));
  control_ = std::make_unique<Control>(configuration_, stated_, *pipeline_);
  for (const auto& sink : sinks_) {
    if (images_ == nullptr) images_ = dynamic_cast<const ZeromqSink*>(sink.get());
    if (web_ == nullptr) web_ = dynamic_cast<WebSink*>(sink.get());
    if (recorder_ == nullptr) recorder_ = dynamic_cast<Recorder*>(sink.get());
  }
  if (recorder_ != nullptr) {
    control_->add({"start_recording", false, [this](const auto& request, auto&) { recorder_->start(request.file()); }});
    control_->add({"stop_recording", false, [this](const auto&, auto&) {
                     recorder_->stop();
                     if (const auto status = recorder_->status(); !status.fault.empty()) throw RuntimeFault(status.fault);
                   }});
  }
  if (!configuration_.server.control.empty()) {
    control_door_ = std::make_unique<ZeromqControl>(control_options(configuration_),
                                                    [this](const auto& request) { return control_->handle(request); });
    control_peers_ = control_door_->peers();
  }
  web_->set_metrics([this, door = metrics_door_]() -> std::string {
    const std::lock_guard lock(door->mutex);
    return door->open ? metrics_text(report(pipeline_->metrics())) : std::string();
  });
  control_worker_ = std::make_unique<ControlWorker>(*control_);
  web_->set_control([this, door = metrics_door_](const std::string& body, const WebSink::ControlAnswer& answer) {
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
  });
  telemetry_ = std::make_unique<TelemetryPublisher>(telemetry_options(configuration_),
                                                    [this] { return report(pipeline_->close_window()); });
  telemetry_peers_ = &telemetry_->peers();
}

TelemetryReport ImagingServer::report(MetricsSnapshot metrics) const {
  TelemetryReport report;
  report.metrics = std::move(metrics);
  report.backend = pipeline_->backend();
  // Before the first stream there is no engine to ask.
  if (report.backend.empty()) report.backend = words::backend_kind.of(pipeline_->options().backend.kind);
  if (const auto setup = pipeline_->setup()) report.acquisition = acquisition_text(setup->acquisition);
  report.version = ECHOFORM_VERSION;
  report.settings_revision = control_->revision();
  report.viewers = {{"images", images_->peers().open}, {"web", web_->viewers()}};
  report.viewer_dropped = web_->viewer_dropped();
  report.last_frame = publication_time_->last();
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
  report.add_refusals("images", images_->peers());
  if (const PeerCounters* const peers = telemetry_peers_) report.add_refusals("telemetry", *peers);
  if (control_peers_ != nullptr) report.add_refusals("control", *control_peers_);
  report.add_refusals("web", web_->peers());
  const RecorderStatus recorder = recorder_ != nullptr ? recorder_->status() : RecorderStatus{};
  report.recording = recorder.recording;
  report.frames_recorded = recorder.frames_recorded;
  report.log_lines_dropped = log_lines_dropped();
  for (const auto& [reason, word] : words::not_recorded.entries) {
    report.frames_not_recorded.emplace_back(word, recorder.frames_not_recorded[static_cast<std::size_t>(reason)]);
  }
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
  // Doors wait for what they have begun.
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
  if (recorder_ != nullptr) recorder_->finish();
  // What reads the pipeline ends before it.
  {
    const std::lock_guard lock(metrics_door_->mutex);
    metrics_door_->open = false;
  }
  telemetry_.reset();
}

std::vector<std::string> ImagingServer::addresses() const {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (sources_[k] != nullptr) lines.push_back(fmt::format("{:<11} {}", source_doors()[k].label, sources_[k]->describe()));
  }
  for (std::size_t k = 0; k < sinks_.size(); ++k) {
    if (sinks_[k] != nullptr) lines.push_back(fmt::format("{:<11} {}", sink_doors()[k].label, sinks_[k]->describe()));
  }
  lines.push_back(fmt::format("{:<11} {}", "telemetry", telemetry_ ? telemetry_->endpoint() : "stopped"));
  if (control_door_) lines.push_back(fmt::format("{:<11} {}", "control", control_door_->endpoint()));
  return lines;
}

std::string closure_text(const CounterSnapshot& counters) {
  return fmt::format("frames received {} = published {} + dropped {} + in flight {}", counters.frames_received,
                     counters.frames_published, counters.dropped(), counters.frames_in_flight);
}

namespace {

/// " (ring_full 2, incomplete 1)"; empty where there are none.
template <class Words, class Counts>
std::string reasons_text(const Words& words, const Counts& counts) {
  std::string reasons;
  for (const auto& [reason, word] : words.entries) {
    const std::uint64_t frames = counts[static_cast<std::size_t>(reason)];
    if (frames > 0) reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", word, frames);
  }
  return reasons.empty() ? reasons : reasons + ')';
}

}  // namespace

std::string recorder_text(const RecorderStatus& status) {
  const auto& left_out = status.frames_not_recorded;
  return fmt::format("recorded {} frames, not recorded {}{}", status.frames_recorded,
                     std::accumulate(left_out.begin(), left_out.end(), std::uint64_t{0}),
                     reasons_text(words::not_recorded, left_out));
}

std::string drops_text(const CounterSnapshot& counters) {
  if (counters.dropped() == 0) return "drops none";
  return fmt::format("drops {}{}", counters.dropped(), reasons_text(words::drop_reason, counters.frames_dropped));
}

}  // namespace echoform
