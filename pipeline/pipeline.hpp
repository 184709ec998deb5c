// The pipeline: shots in at one end, finished images out at the other, every frame accounted for.
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
  std::size_t slots = 4;                         ///< frames in flight at most; 1 .. 64
  DropPolicy policy = DropPolicy::block_sender;  ///< at first: what happens to a new frame when all slots are taken
  std::chrono::nanoseconds incomplete_timeout =
      std::chrono::milliseconds(500);  ///< > 0; a frame without a new shot for so long is dropped
  AcquisitionLimits limits;
  std::size_t memory_limit = std::size_t{4} << 30;  ///< bytes of the host's memory for slots and engine together
  /// An upper estimate of the same for a setup, made before its engine is: where the limit holds two engines, the next one is
  /// built while the one before is still there. Absent: it never does.
  std::function<double(const ImagingSetup&)> memory_estimate{};
  /// Where a device images: throws InputError unless it has room for the engine of a setup beside the one that is there. Asked
  /// before the engine of a live change is built.
  std::function<void(const ImagingSetup&)> require_device_room{};
  BackendChoice backend;
  EngineOptions engine;
  std::chrono::nanoseconds drain_limit =
      std::chrono::seconds(2);  ///< how long stop() and a change of sender wait for frames in work
  /// How long planning may take for a stream or a change of settings: it is refused after that. 0: as long as it takes.
  std::chrono::nanoseconds planning_limit{0};
  /// Slots and engine go when no sender has had a connection for so long; until then the next with the same acquisition takes
  /// them over. 0: they stay until another comes.
  std::chrono::nanoseconds release_after{0};
  std::optional<int> compute_processor;  ///< pins the worker that feeds the engine
  std::optional<int> publish_processor;  ///< pins the worker that publishes
};

/// Makes the setup for what a sender announced. It may refine the acquisition (dead elements, sampling) but not its layout:
/// elements, samples, matrix and encoding. Throws InputError with the reason to send back.
using SetupFactory = std::function<std::shared_ptr<const ImagingSetup>(const Acquisition&)>;
using EngineFactory =
    std::function<std::unique_ptr<Engine>(std::shared_ptr<const ImagingSetup>, const BackendChoice&, const EngineOptions&)>;

/// What may change while frames run.
struct SettingsChange {
  SetupFactory setup_factory;  ///< from now on; its setups carry the revision
  DropPolicy policy = DropPolicy::block_sender;
  /// Makes the setup of the change from the one in work, without planning. Where the engine in work takes it (Engine::retune()),
  /// the frames from the next one on are imaged by it, and no engine is built. Absent, null, or not taken: the factory is asked,
  /// and an engine built beside the one in work.
  std::function<std::shared_ptr<const ImagingSetup>(const ImagingSetup& before)> retuned;
  /// Called with a new setup before an engine is built for it beside the one in work; throws to refuse it. May be absent.
  std::function<void(const ImagingSetup&)> check;
};

/// Thread-safe. Totals count from construction, over all senders.
class Pipeline final : public StreamHost {
 public:
  /// Throws InputError if an option is out of range. `clock` outlives the pipeline and every intake that it gave out.
  Pipeline(const PipelineOptions& options, SetupFactory setup_factory, std::vector<std::shared_ptr<ImageSink>> sinks,
           const Clock& clock, EngineFactory engine_factory = make_engine);
  /// As stop().
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The first connection of a session prepares slots and engine, or takes over those of the sender before if its
  /// acquisition is equal; further connections of the session join. What the sender before had stays, or is made again, if
  /// that fails. Throws InputError if another session has a lane open,
  /// the session announced another acquisition before, the acquisition is not possible, or it needs more memory than the
  /// limit; PlanningEnded if it takes longer than it may or end_planning() was called; RuntimeFault if memory or a backend is not
  /// to be had.
  [[nodiscard]] std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override;
  [[nodiscard]] bool is_busy_for(std::uint64_t session) const override;

  /// Asks the setup factory again for the acquisition in work and images the frames from the next one on by that setup,
  /// without losing any. False if no stream was opened yet. Throws what the factories throw: then nothing has changed.
  bool reconfigure();

  /// Frames from the next one on are received and imaged as the change says, without losing any, and streams that open later
  /// too. Whether there is a stream to which it applies at once. Throws what the factories throw, InputError once the
  /// pipeline has stopped, RuntimeFault if frames in work do not finish within the drain limit: then nothing has changed.
  bool change(const SettingsChange& change);

  /// Ends planning that is under way, and refuses all that would begin: before stop(), so that nobody waits for it. From any
  /// thread, at once. Frames go on.
  void end_planning() noexcept { planning_.request_stop(); }

  /// Discards what still comes, finishes queued frames within the drain limit and drops the rest as stopped. Senders that
  /// wait are woken. Streams cannot be opened afterwards. May be called again.
  void stop();

  [[nodiscard]] CounterSnapshot counters() const { return ledger_->snapshot(); }
  /// For anyone, at any time: totals of now, windowed figures of the last closed window.
  [[nodiscard]] MetricsSnapshot metrics() const { return metrics_.snapshot(counters()); }
  /// For the one who sends telemetry, once a second: ends the window and reads.
  [[nodiscard]] MetricsSnapshot close_window() { return metrics_.close_window(clock_.steady(), counters()); }
  /// Memory of slots and engine; 0 where there are none. Fixed while frames run.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(); }
  /// Of that, what is not a device's own.
  [[nodiscard]] std::size_t host_bytes() const noexcept { return host_bytes_.load(); }
  /// What is being imaged; nothing before the first stream, and once its slots and engine are gone.
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

  // On the publish worker of the run:
  void keep_house();
  // On keeper_:
  void keep(const std::stop_token& stop);
  [[nodiscard]] bool release();  ///< whether it ended the run

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

  mutable std::mutex current_mutex_;  // guards these four alone
  std::shared_ptr<FrameAssembler> assembler_;
  std::uint64_t assembled_session_ = 0;  // whose frames it assembles
  std::shared_ptr<const ImagingSetup> setup_;
  std::string backend_;

  std::mutex control_mutex_;  // one opens, reconfigures or stops at a time
  bool stopped_ = false;
  SetupFactory setup_factory_;
  DropPolicy policy_;
  std::uint64_t session_ = 0;
  Acquisition announced_;  // by the sender, before the setup refined it
  std::unique_ptr<ImagingRun> run_;

  // Since when no sender has a connection; 0 while one has.
  std::atomic<SteadyTime::rep> alone_since_{0};
  std::mutex keeper_mutex_;  // guards release_due_
  std::condition_variable_any keeper_wakes_;
  bool release_due_ = false;
  std::jthread keeper_;  // ends a run: its own threads cannot
};

}  // namespace echoform
