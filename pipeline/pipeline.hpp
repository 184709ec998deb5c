// The pipeline: shots enter, finished images leave, and every frame is accounted for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/frame_assembler.hpp"
#include "pipeline/frame_intake.hpp"
#include "pipeline/frame_ledger.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/imaging_run.hpp"
#include "pipeline/metrics.hpp"

namespace echoform {

struct PipelineOptions {
  std::size_t slots = 4;                         ///< maximum number of frames in flight; 1 .. 64
  DropPolicy policy = DropPolicy::block_sender;  ///< what happens to a new frame when all slots are taken, until it is changed
  std::chrono::nanoseconds incomplete_timeout =
      std::chrono::milliseconds(500);  ///< > 0; a frame without a new shot for so long is dropped
  AcquisitionLimits limits;
  std::size_t memory_limit = std::size_t{4} << 30;  ///< bytes of the host's memory for slots and engine together
  /// An upper estimate of the same for a setup, before its engine is made. If the limit holds two engines, the next engine
  /// is built while the previous one still exists. Absent: it never is.
  std::function<double(const ImagingSetup&)> memory_estimate{};
  /// Where a device images: throws InputError unless the device has memory for the engine of a setup beside the existing
  /// engine. Called before the engine of a live change is built.
  std::function<void(const ImagingSetup&)> require_device_room{};
  BackendChoice backend;
  EngineOptions engine;
  std::chrono::nanoseconds drain_limit =
      std::chrono::seconds(2);  ///< how long stop() and a change of sender wait for frames in work
  /// The maximum time of planning for a stream or a change of settings, which is refused after that. 0: no limit.
  std::chrono::nanoseconds planning_limit{0};
  /// Slots and engine are released when no sender has had a connection for this time. Until then the next sender with the
  /// same acquisition takes them over. 0: they stay until another sender comes.
  std::chrono::nanoseconds release_after{0};
  std::optional<int> compute_processor;  ///< pins the worker that feeds the engine
  std::optional<int> publish_processor;  ///< pins the worker that publishes
};

/// Makes the setup for the acquisition that a sender announced. It may refine the acquisition (dead elements, sampling) but
/// not its layout: elements, samples, matrix and encoding. Throws InputError with the reason to send back.
using SetupFactory = std::function<std::shared_ptr<const ImagingSetup>(const Acquisition&)>;
using EngineFactory =
    std::function<std::unique_ptr<Engine>(std::shared_ptr<const ImagingSetup>, const BackendChoice&, const EngineOptions&)>;

/// What may change while frames run.
struct SettingsChange {
  SetupFactory setup_factory;  ///< used from now on; its setups carry the revision
  DropPolicy policy = DropPolicy::block_sender;
  /// Makes the setup of the change from the one in use, without planning. If the engine in use accepts that setup
  /// (Engine::retune()), it images the frames from the next one on by it, and no engine is built. If the function is
  /// absent, returns null or its setup is not accepted, the factory is called, and an engine is built beside the one in
  /// use.
  std::function<std::shared_ptr<const ImagingSetup>(const ImagingSetup& before)> retuned;
  /// Called with a new setup before an engine is built for it beside the one in use; throws to refuse the setup. May be
  /// absent.
  std::function<void(const ImagingSetup&)> check;
};

/// Thread-safe. Totals count from construction, over all senders.
class Pipeline final : public StreamHost {
 public:
  /// Throws InputError if an option is out of range. `clock` outlives the pipeline and every intake that the pipeline returned.
  Pipeline(const PipelineOptions& options, SetupFactory setup_factory, std::vector<std::shared_ptr<ImageSink>> sinks,
           const Clock& clock, EngineFactory engine_factory = make_engine);
  /// Calls stop().
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The first connection of a session prepares slots and engine, or takes over those of the sender before if its
  /// acquisition is equal. Further connections of the session join. If that fails, slots and engine of the sender before
  /// stay, or are made again. Throws:
  /// - InputError if another session has a lane open, the session announced another acquisition before, the acquisition is
  ///   not possible, or it needs more memory than the limit,
  /// - PlanningEnded if planning takes longer than it may or end_planning() was called,
  /// - RuntimeFault if memory or a backend is not available.
  [[nodiscard]] std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override;
  [[nodiscard]] bool is_busy_for(std::uint64_t session) const override;

  /// Calls the setup factory again for the acquisition in use, and images the frames from the next one on by that setup,
  /// without losing any frame. Returns false if no stream was opened yet. Throws what the factories throw: then nothing has
  /// changed.
  bool reconfigure();

  /// Receives and images frames from the next one on as the change states, without losing any, and streams that open later
  /// too. Returns whether there is a stream to which the change applies at once. Throws what the factories throw,
  /// InputError once the pipeline has stopped, and RuntimeFault if frames in work do not finish within the drain limit:
  /// then nothing has changed.
  bool change(const SettingsChange& change);

  /// Ends planning that is under way, and refuses all planning that would begin. Call it before stop(), so that nobody
  /// waits for planning. Any thread may call it; it returns at once. Frames go on.
  void end_planning() noexcept { planning_.request_stop(); }

  /// Discards what still comes, finishes queued frames within the drain limit and drops the rest as stopped. Senders that
  /// wait are woken. Streams cannot be opened afterwards. May be called again.
  void stop();

  [[nodiscard]] CounterSnapshot counters() const { return ledger_->snapshot(); }
  /// The totals of now and the figures of the last closed window. Any thread may call it at any time.
  [[nodiscard]] MetricsSnapshot metrics() const { return metrics_.snapshot(counters()); }
  /// Ends the window and reads. Only for the sender of telemetry, once a second.
  [[nodiscard]] MetricsSnapshot close_window() { return metrics_.close_window(clock_.steady(), counters()); }
  /// Memory of slots and engine; 0 where there are none. Fixed while frames run.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(); }
  /// The part of bytes() that is not a device's own memory.
  [[nodiscard]] std::size_t host_bytes() const noexcept { return host_bytes_.load(); }
  /// The setup in use; null before the first stream, and once its slots and engine are released.
  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup() const;
  /// What images are formed on (Engine::describe()); empty before the first stream.
  [[nodiscard]] std::string backend() const;
  [[nodiscard]] const PipelineOptions& options() const noexcept { return options_; }

 private:
  // All with control_mutex_ held:
  [[nodiscard]] static std::shared_ptr<const ImagingSetup> make_setup(const SetupFactory& factory,
                                                                      const Acquisition& acquisition);
  [[nodiscard]] std::unique_ptr<Engine> build_engine(const std::shared_ptr<const ImagingSetup>& setup) const;
  void retire(FrameAssembler* current);
  [[nodiscard]] std::unique_ptr<Engine> engine_beside(const std::shared_ptr<const ImagingSetup>& setup) const;
  void rebuild(const Acquisition& acquisition, const std::shared_ptr<const ImagingSetup>& setup, std::unique_ptr<Engine> engine);
  void start(const Acquisition& acquisition, std::shared_ptr<const ImagingSetup> setup, std::unique_ptr<Engine> engine);
  void exchange(const SetupFactory& factory, const std::function<void(const ImagingSetup&)>& check);
  [[nodiscard]] bool retune(const SettingsChange& change);
  void check_memory(std::size_t bytes, std::size_t frame_bytes) const;
  void announce(const std::shared_ptr<const ImagingSetup>& setup);
  void note_bytes();
  void forget_setup();

  // Runs on the publish worker of the run:
  void keep_house();
  // Runs on keeper_:
  void keep(const std::stop_token& stop);
  [[nodiscard]] bool release();  ///< returns whether it ended the run

  [[nodiscard]] std::shared_ptr<FrameAssembler> assembler() const;
  void set_assembler(std::shared_ptr<FrameAssembler> assembler, std::uint64_t session = 0);

  const PipelineOptions options_;
  const EngineFactory engine_factory_;
  const std::vector<std::shared_ptr<ImageSink>> sinks_;
  const Clock& clock_;
  const std::shared_ptr<FrameLedger> ledger_;
  PipelineMetrics metrics_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> host_bytes_{0};
  std::stop_source planning_;

  mutable std::mutex current_mutex_;  // guards only the next four members
  std::shared_ptr<FrameAssembler> assembler_;
  std::uint64_t assembled_session_ = 0;  // the session whose frames assembler_ assembles
  std::shared_ptr<const ImagingSetup> setup_;
  std::string backend_;

  std::mutex control_mutex_;  // one opens, reconfigures or stops at a time
  bool stopped_ = false;
  SetupFactory setup_factory_;
  DropPolicy policy_;
  std::uint64_t session_ = 0;
  Acquisition announced_;  // as the sender announced it, before the setup refined it
  std::unique_ptr<ImagingRun> run_;

  // The time since which no sender has a connection; 0 while one has.
  std::atomic<SteadyTime::rep> alone_since_{0};
  std::mutex keeper_mutex_;  // guards release_due_
  std::condition_variable_any keeper_wakes_;
  bool release_due_ = false;
  std::jthread keeper_;  // ends a run, since the run's own threads cannot
};

}  // namespace echoform
