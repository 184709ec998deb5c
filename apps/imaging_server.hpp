// The imaging server as serve and demo run it: doors for frames, the pipeline, ZeroMQ publishers and the web viewer.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "control/control.hpp"
#include "control/control_worker.hpp"
#include "pipeline/pipeline.hpp"
#include "recording/recorder.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/control/zeromq_control.hpp"
#include "transport/publish/telemetry_publisher.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {

class PublicationTime;

/// What the server stands on, for those who drive it (tests): each is the real one unless it is replaced.
struct ServerFoundations {
  const Clock* clock = nullptr;  ///< outlives the server; none: the system's
  EngineFactory engines = make_engine;
};

class ImagingServer {
 public:
  /// Binds the publishers. `stated` are velocities of the part where the configuration sets none; `sinks` get images
  /// besides the publishers. The backend is one that settle_backend() has settled. Throws InputError for a configuration that
  /// cannot be served, RuntimeFault for a port in use or too few file descriptors.
  ImagingServer(Configuration configuration, const Material& stated, std::vector<std::shared_ptr<ImageSink>> sinks = {},
                ServerFoundations foundations = {});
  ~ImagingServer();
  ImagingServer(const ImagingServer&) = delete;
  ImagingServer& operator=(const ImagingServer&) = delete;

  /// Opens the doors. RuntimeFault if a port is in use.
  void start();
  /// Closes the doors, finishes the frames in work, then stops publishing. May be called again.
  void stop();

  [[nodiscard]] Pipeline& pipeline() { return *pipeline_; }
  /// The TCP door.
  [[nodiscard]] AcquisitionSource& source() { return *sources_.front(); }
  [[nodiscard]] const WebSink& web() const { return *web_; }
  [[nodiscard]] const ZeromqSink& images() const { return *images_; }
  /// Connected for images: subscribers over ZeroMQ and viewers of the web server.
  [[nodiscard]] std::size_t viewers() const { return images_->peers().open + web_->viewers(); }
  [[nodiscard]] Control& control() { return *control_; }
  /// Null where the configuration asks for none.
  [[nodiscard]] Recorder* recorder() { return recorder_; }
  /// One line for each address, for people.
  [[nodiscard]] std::vector<std::string> addresses() const;

 private:
  // Between the web server's thread, which asks for metrics, and the end of the pipeline.
  struct MetricsDoor {
    std::mutex mutex;
    bool open = true;
    bool control_open = true;
  };
  [[nodiscard]] TelemetryReport report(MetricsSnapshot metrics) const;

  const Configuration configuration_;  ///< as the server starts; control() has the settings in force
  const Material stated_;
  const std::shared_ptr<MetricsDoor> metrics_door_ = std::make_shared<MetricsDoor>();
  const SystemClock system_clock_;
  const Clock& clock_;
  std::shared_ptr<PublicationTime> publication_time_;
  // As the tables of doors.hpp list them; null where one is not asked for.
  std::vector<std::unique_ptr<AcquisitionSource>> sources_;
  std::vector<std::shared_ptr<ImageSink>> sinks_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<ControlWorker> control_worker_;  // for the web server's thread, which may not wait
  std::unique_ptr<ZeromqControl> control_door_;    // none where it is closed
  std::unique_ptr<TelemetryPublisher> telemetry_;
  // Among them, those that are asked for addresses and figures of their own.
  std::atomic<const PeerCounters*> telemetry_peers_{nullptr};
  std::shared_ptr<const PeerCounters> control_peers_;  // outlives its door, which closes first
  const ZeromqSink* images_ = nullptr;
  WebSink* web_ = nullptr;
  Recorder* recorder_ = nullptr;
  bool stopped_ = false;
};

/// "frames received 320 = published 316 + dropped 0 + in flight 4": holds exactly in every snapshot.
[[nodiscard]] std::string closure_text(const CounterSnapshot& counters);
/// "recorded 100 frames, not recorded 3 (disk_behind 3)"
[[nodiscard]] std::string recorder_text(const RecorderStatus& status);
/// "drops none" or "drops 3 (ring_full 2, incomplete 1)".
[[nodiscard]] std::string drops_text(const CounterSnapshot& counters);

}  // namespace echoform
