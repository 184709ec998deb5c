// The imaging server that serve and demo run: sources of frames, the pipeline, ZeroMQ publishers and the web viewer.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/doors.hpp"
#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "control/control.hpp"
#include "control/control_worker.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/scan.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/control/zeromq_control.hpp"
#include "transport/publish/telemetry_publisher.hpp"

namespace echoform {

class LastPublication;

/// Replaceable parts of the server, for tests. Each is the real one unless it is replaced.
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

  /// Opens the sources. Throws RuntimeFault if a port is in use.
  void start();
  /// Closes the sources, finishes the frames in flight, then stops publishing. May be called again.
  void stop();

  [[nodiscard]] Pipeline& pipeline() { return *pipeline_; }
  /// The TCP source.
  [[nodiscard]] AcquisitionSource& source() { return *sources_.front(); }
  /// The open sink of this class. Throws std::logic_error if there is none.
  template <class Sink>
  [[nodiscard]] const Sink& sink() const {
    for (const OpenSink& open : sinks_) {
      if (const auto* const found = dynamic_cast<const Sink*>(open.sink.get())) return *found;
    }
    throw std::logic_error("sink(): found none of this class; expected one that the configuration asks for");
  }
  /// Number of clients connected for images, at all sinks.
  [[nodiscard]] std::size_t viewers() const;
  [[nodiscard]] Control& control() { return *control_; }
  /// Instructions to the user on how to see images, a line each.
  [[nodiscard]] std::vector<std::string> invitations() const;
  /// One line for each address, for people.
  [[nodiscard]] std::vector<std::string> addresses() const;
  /// Summaries of the sinks for people, a line each.
  [[nodiscard]] std::vector<std::string> summaries() const;
  /// The encoder's count of the frame that was published last; none where that frame states none.
  [[nodiscard]] std::optional<EncoderCount> position() const;

 private:
  // Closes the metrics to the sinks' threads, which ask for them, before the pipeline ends.
  struct MetricsDoor {
    std::mutex mutex;
    bool open = true;
    bool control_open = true;
  };
  [[nodiscard]] TelemetryReport report(MetricsSnapshot metrics) const;
  [[nodiscard]] ServerAnswers answers();
  /// Figures of the sinks that have any, by the sinks' labels.
  [[nodiscard]] std::vector<TelemetryReport::Sink> sinks_tell() const;

  const Configuration configuration_;  ///< as the server starts; control() has the settings in force
  const Material stated_;
  const std::shared_ptr<MetricsDoor> metrics_door_ = std::make_shared<MetricsDoor>();
  const SystemClock system_clock_;
  const Clock& clock_;
  std::shared_ptr<LastPublication> last_publication_;
  const std::shared_ptr<ScanRecords> scans_ = std::make_shared<ScanRecords>();
  // As the tables of doors.hpp list them; null where one is not asked for.
  std::vector<std::unique_ptr<AcquisitionSource>> sources_;
  std::vector<OpenSink> sinks_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<ControlWorker> control_worker_;  // for threads of sinks, which may not wait
  std::unique_ptr<ZeromqControl> control_door_;    // none where it is closed
  std::unique_ptr<TelemetryPublisher> telemetry_;
  std::atomic<const PeerCounters*> telemetry_peers_{nullptr};
  std::shared_ptr<const PeerCounters> control_peers_;  // outlives control_door_, which closes first
  bool stopped_ = false;
};

/// "frames received 320 = published 316 + dropped 0 + in flight 4": holds exactly in every snapshot.
[[nodiscard]] std::string closure_text(const CounterSnapshot& counters);
/// Numbers of published frames, and of positions of a scan.
struct ImagedSoFar {
  std::uint64_t frames = 0;
  std::optional<std::uint64_t> positions;  ///< none where each frame is an image of its own
};
[[nodiscard]] ImagedSoFar imaged_so_far(const Pipeline& pipeline);
/// Rates from one to the other: "25 images/s", or of a scan "3 new positions/s of 25 frames/s", since a frame from where one has
/// contributed already images nothing.
[[nodiscard]] std::string rate_text(const ImagedSoFar& before, const ImagedSoFar& now, double seconds, int decimals);

/// "drops none" or "drops 3 (ring_full 2, incomplete 1)".
[[nodiscard]] std::string drops_text(const CounterSnapshot& counters);

}  // namespace echoform
