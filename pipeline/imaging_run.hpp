// The working half of the pipeline for one acquisition: slots, engine, edges and the two workers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/worker.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/frame_assembler.hpp"
#include "pipeline/frame_ledger.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/metrics.hpp"

namespace echoform {

struct ImagingRunOptions {
  std::size_t slots = 4;
  std::optional<int> compute_processor;  ///< pins the worker that feeds the engine
  std::optional<int> publish_processor;
};

/// Frames come on acquired(), go through the engine in order (which may have several under way), and go to every sink.
/// While one frame is imaged, the next is received and the previous one is published.
class ImagingRun final : public FrameArrivals {
 public:
  /// Equips the slots and starts the workers. `setup` is that of the engine. The publish worker calls `housekeeping` at
  /// least every 20 ms. `sinks`, `metrics` and `clock` outlive the run. Throws RuntimeFault if memory or a thread is not
  /// available.
  ImagingRun(const ImagingRunOptions& options, std::shared_ptr<const ImagingSetup> setup, std::unique_ptr<Engine> engine,
             std::shared_ptr<FrameLedger> ledger, PipelineMetrics& metrics, const std::vector<std::shared_ptr<ImageSink>>& sinks,
             const Clock& clock, std::function<void()> housekeeping);
  /// Calls stop(0).
  ~ImagingRun() override;
  ImagingRun(const ImagingRun&) = delete;
  ImagingRun& operator=(const ImagingRun&) = delete;

  [[nodiscard]] AcquiredEdge& acquired() { return acquired_; }
  /// Shared, so that lanes in mid-payload keep what they write into.
  [[nodiscard]] std::shared_ptr<std::vector<FrameSlot>> slots() const { return slots_; }
  /// Memory of the slots and of the engine.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(); }
  /// Memory of the slots and of the engine on the host, without what lies on a device.
  [[nodiscard]] std::size_t host_bytes() const noexcept { return host_bytes_.load(); }

  // Called by the assembler, and handed on to the engine.
  void frame_opened(FrameSlot& slot) noexcept override;
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept override;

  /// Images the frames from the next one on by `engine` of `setup`, whose acquisition has the same layout. Waits for frames
  /// that are being imaged or published; `between` is called when there are none. Throws RuntimeFault, and changes nothing,
  /// if memory is not available or the wait takes longer than `limit`.
  void exchange_engine(std::shared_ptr<const ImagingSetup> setup, std::unique_ptr<Engine> engine, std::chrono::nanoseconds limit,
                       const std::function<void()>& between);

  /// Images the frames from the next one on as `setup` states, if the engine accepts it (Engine::retune()). Waits for no
  /// frame except the one that is being handed over. Returns false or throws InputError, and changes nothing, if the engine
  /// does not accept it.
  [[nodiscard]] bool retune(std::shared_ptr<const ImagingSetup> setup);

  /// Finishes what is queued within `limit`, drops the rest as stopped, and ends the workers. Afterwards nothing may be
  /// offered. May be called again.
  void stop(std::chrono::nanoseconds limit);

 private:
  // As many places as slots.
  using FinishedEdge = Edge<FrameSlot*, DropPolicy::block_sender>;

  void compute(const std::stop_token& stop);
  [[nodiscard]] bool wait_for_room(const std::stop_token& stop);
  void publish(const std::stop_token& stop);
  void publish_frame(FrameSlot& slot);
  void imaged(FrameSlot& slot, bool ok);
  [[nodiscard]] bool envelope_wanted() noexcept;
  void measure();

  // While one exists, the compute worker leaves engine_mutex_ to the owner, which would otherwise hardly get it under load.
  class Change {
   public:
    explicit Change(ImagingRun& run) : run_(run) { ++run_.changes_; }
    ~Change() {
      --run_.changes_;
      run_.changes_.notify_all();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    ImagingRun& run_;
  };

  const std::shared_ptr<FrameLedger> ledger_;
  PipelineMetrics& metrics_;
  const std::vector<std::shared_ptr<ImageSink>>& sinks_;
  const Clock& clock_;
  const std::function<void()> housekeeping_;

  std::shared_ptr<std::vector<FrameSlot>> slots_;
  AcquiredEdge acquired_;
  FinishedEdge finished_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> host_bytes_{0};
  std::atomic<bool> giving_up_{false};
  std::atomic<int> changes_{0};                // number of Changes that wait for engine_mutex_ or hold it
  std::mutex engine_mutex_;                    // held while a frame is handed to the engine; contended only while settings change
  std::shared_ptr<const ImagingSetup> setup_;  // of frames that are submitted from now on
  std::unique_ptr<Engine> engine_;
  // The engine that is notified of arrivals. It has a lock of its own that is held only briefly: engine_mutex_ is held
  // while an exchange waits for frames, and the receivers of shots must not wait for that.
  std::mutex arrivals_mutex_;
  Engine* receiving_ = nullptr;
  std::mutex room_mutex_;  // guards under_way_
  std::condition_variable_any room_;
  std::size_t under_way_ = 0;  // frames that the engine has
  Engine::Done done_;
  std::optional<Worker> compute_worker_;
  std::optional<Worker> publish_worker_;
};

}  // namespace echoform
