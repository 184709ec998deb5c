#include "engines/cuda_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/errors.hpp"
#include "engines/device_need.hpp"
#include "engines/early_uploads.hpp"
#include "engines/frame_facts.hpp"
#include "engines/runner.hpp"
#include "engines/stage_timing.hpp"
#include "gpu/completion.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/stream.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/raw_samples.hpp"

namespace echoform {
namespace {

// Shorter copies do not reach the bus' full rate: on an H200 4 MB reach 53.8 of 55.3 GB/s, 1 MB 49.0.
constexpr std::size_t least_copy = std::size_t{4} << 20;
// Maximum number of outstanding events; a frame takes three.
constexpr std::size_t events_under_way = 256;

using gpu::Event;

/// What the engine keeps for one slot.
struct Frame {
  FrameSlot* slot = nullptr;  // null unless the frame is being imaged
  Engine::Done done;
  void* engine = nullptr;

  Buffer raw;                   // on the device, as are all buffers here
  std::vector<Buffer> results;  // [block], for the recipe's outputs
  std::vector<void*> places;    // [block]
  Buffer facts;
  const SampleQuality* quality = nullptr;  // source of the frame's facts
  Buffer facts_sources;                    // an array of places, also for the facts
  Buffer facts_here;
  gpu::GraphExec graph;

  Event upload_begun = gpu::make_event(true);
  Event uploaded = gpu::make_event(true);
  /// Marks before the first and after each timed part of the computation. A part is the whole or, in eager mode, one step.
  std::vector<Event> marks;
  Event download_begun = gpu::make_event(true);
  Event downloaded = gpu::make_event(true);
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, const EngineOptions& options)
      : setup_(std::move(setup)),
        options_(options),
        device_(choice.device),
        gpu_timeout_(choice.gpu_timeout),
        received_(raw_block(setup_->acquisition)),
        rows_(device_rows(received_, setup_->gate)),
        first_byte_(gated(received_, setup_->gate).first_byte),
        backend_(make_cuda_backend(device_)) {
    use_device();
    const DeviceNeed stated = device_need(*setup_, options_);
    require_room(stated, 0);
    queue_ = backend_->make_queue();
    upload_ = gpu::make_stream();
    download_ = gpu::make_stream();
    runner_ = std::make_unique<Runner>(setup_->recipe, rows_.spec, *backend_);
    require_room(stated.with_stages(runner_->bytes()), runner_->bytes());
    runner_->allocate_blocks();
    completion_ = gpu::make_completion_thread(device_, choice.gpu_timeout, events_under_way);
    uploads_.emplace(rows_.spec.rows, (least_copy + rows_.row_bytes - 1) / rows_.row_bytes,
                     [this](FrameSlot& slot, const RowRun& run) {
                       use_device();
                       copy_rows(*frames_[slot.index], slot, run);
                     });
  }

  ~CudaEngine() override {
    use_device();
    uploads_.reset();  // none is queued after this
    // Uploads of frames that were given up may still read their slots. The completion watches their end like that of other work.
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(last_upload_.get(), upload_.get()));
    completion_->watch(last_upload_.get(), "upload");
    completion_->finish();
    completion_.reset();
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }

  /// One frame on each stream.
  [[nodiscard]] std::size_t frames_at_once() const noexcept override { return 3; }

  [[nodiscard]] std::string describe() const override {
    const GpuProbe probe = probe_devices();
    const auto index = static_cast<std::size_t>(device_);
    bool half = false;
    for (std::size_t block = 1; block <= runner_->steps(); ++block) {
      half = half || runner_->spec(block).type == ElementType::complex_half_slope;
    }
    return fmt::format("cuda, {}, {}", index < probe.devices.size() ? probe.devices[index].name : "unknown device",
                       half ? "half precision" : "single precision");
  }

  void equip(FrameSlot& slot) override {
    // Write-combined memory is uploaded as fast, or faster where the bus is slow, but reading it here takes a hundred times
    // longer.
    const MemoryUse use = options_.samples_read ? MemoryUse::readback : MemoryUse::staging;
    slot.samples = backend_->allocate(setup_->acquisition.frame_bytes(), use);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    use_device();
    auto frame = std::make_unique<Frame>();
    frame->engine = this;
    frame->places = runner_->places();
    frame->raw = backend_->allocate(rows_.spec.rows * rows_.pitch, MemoryUse::working);
    frame->places[0] = frame->raw.data();
    frame->results.resize(frame->places.size());
    slot.outputs.clear();
    for (const RecipeOutput& output : outputs()) {
      const std::size_t bytes = runner_->spec(output.block).bytes();
      slot.outputs.push_back({backend_->allocate(bytes, MemoryUse::readback)});
      Buffer& result = frame->results[output.block];
      if (!result) result = backend_->allocate(bytes, MemoryUse::working);
      frame->places[output.block] = result.data();
    }
    equip_facts(*frame);
    const std::size_t parts = options_.eager ? runner_->steps() : 1;
    for (std::size_t k = 0; k <= parts; ++k) frame->marks.push_back(gpu::make_event(true));
    slot.timings.reserve(runner_->steps() + 3);

    if (!warm_) {
      // The first run takes zeros, and the stages forget it afterwards. A kernel's first launch loads the kernel, which a capture
      // does not allow.
      queue_steps(*frame, false);
      queue_->finish();
      require_quick(*frame);
      runner_->restart(*queue_);
      warm_ = true;
    }
    if (!options_.eager) capture(*frame);
    if (frames_.size() <= slot.index) frames_.resize(slot.index + 1);
    frames_[slot.index] = std::move(frame);
    uploads_->add_slot(slot.index);
  }

  void frame_opened(FrameSlot& slot) noexcept override { uploads_->open(slot); }

  // Copies go on one stream, in order. When a frame is given up and its slot is leased again, one of its copies may still wait or
  // read. That copy brings a mixture of both frames to the device. But each row of the new frame is copied again after it
  // arrived, hence later on the stream, and the computation waits for all copies.
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept override {
    uploads_->arrived(slot, first_row, rows);
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    use_device();
    Frame& frame = *frames_[slot.index];
    frame.slot = &slot;
    frame.done = done;

    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.upload_begun.get(), upload_.get()));
    uploads_->complete(slot);
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.uploaded.get(), upload_.get()));

    const cudaStream_t compute = gpu::stream_of(*queue_);
    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(compute, frame.uploaded.get(), 0));
    if (options_.eager) {
      queue_steps(frame, true);
    } else {
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks.front().get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaGraphLaunch(frame.graph.get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks.back().get(), compute));
    }

    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(download_.get(), frame.marks.back().get(), 0));
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.download_begun.get(), download_.get()));
    queue_downloads(frame, slot);
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.downloaded.get(), download_.get()));

    // Each event is watched by itself, so that the watchdog can report where the device stopped.
    completion_->watch(frame.uploaded.get(), "upload");
    completion_->watch(frame.marks.back().get(), "compute");
    completion_->watch(frame.downloaded.get(), "download", &CudaEngine::finished, &frame);
  }

  [[nodiscard]] float reference(std::size_t output) const noexcept override { return runner_->reference(output); }
  void resume(std::size_t output, float known) noexcept override {
    use_device();
    runner_->resume(output, known);
  }

  /// The change takes effect after the frames submitted so far.
  [[nodiscard]] bool retune(const ImagingSetup& wanted) override {
    use_device();
    return same_frames(*setup_, wanted) && runner_->retune(wanted.recipe, *queue_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = device_bytes();
    for (const auto& frame : frames_) sum += frame ? frame->facts_here.size() : 0;
    return sum;
  }

  [[nodiscard]] std::size_t device_bytes() const noexcept override {
    std::size_t sum = runner_->bytes();
    for (const auto& frame : frames_) {
      if (!frame) continue;
      sum += frame->raw.size() + frame->facts.size() + frame->facts_sources.size();
      for (const Buffer& result : frame->results) sum += result.size();
    }
    return sum;
  }

 private:
  [[nodiscard]] const std::vector<RecipeOutput>& outputs() const noexcept { return setup_->recipe.outputs; }

  /// Sets the device of the calling thread; costs nothing where it is the current one already.
  void use_device() const noexcept { ECHOFORM_CUDA_QUEUED(cudaSetDevice(device_)); }

  /// `taken` bytes of the need are allocated already.
  void require_room(const DeviceNeed& need, std::size_t taken) const {
    DeviceMemory memory = device_memory(device_);
    memory.free += taken;
    if (options_.device_memory_limit != 0) memory.free = std::min(memory.free, options_.device_memory_limit);
    if (need.bytes() <= memory.free) return;
    require_memory(memory, device_, need.bytes(), what_would_fit(need, memory.free));
  }

  /// Refuses a plan that is so large that the watchdog would take its work for a stall and end the process. Such a plan may come
  /// from a sender. Half of the timeout is left for GPUs that clock down or are shared.
  void require_quick(Frame& frame) {
    const auto begin = std::chrono::steady_clock::now();
    queue_steps(frame, false);
    queue_->finish();
    const auto taken = std::chrono::steady_clock::now() - begin;
    if (2 * taken <= gpu_timeout_) return;
    throw InputError(
        "imaging plan", fmt::format("{:.2f} s of work for GPU {} a frame", std::chrono::duration<double>(taken).count(), device_),
        fmt::format("at most half of [imaging] gpu_timeout, {:g} s: fewer pixels, elements or views, or a longer timeout",
                    std::chrono::duration<double>(gpu_timeout_).count()));
  }

  /// Facts are gathered from where the stages leave them: one place for the quality and one for each output.
  void equip_facts(Frame& frame) {
    const SampleQuality* quality = nullptr;
    if (const std::size_t step = runner_->quality_step(); step < runner_->steps()) {
      const auto* const block = static_cast<const std::byte*>(frame.places[step + 1]);
      if (const auto offset = runner_->stage(step).device_facts().quality) {
        quality = reinterpret_cast<const SampleQuality*>(block + *offset);
      }
    }
    std::vector<const ShownReference*> references;
    for (std::size_t k = 0; k < outputs().size(); ++k) {
      const Stage* const stage = runner_->reference_stage(k);
      references.push_back(stage != nullptr ? stage->device_facts().reference : nullptr);
    }
    frame.facts = backend_->allocate(gpu::frame_facts_bytes(references.size()), MemoryUse::working);
    frame.facts_here = backend_->allocate(gpu::frame_facts_bytes(references.size()), MemoryUse::readback);
    frame.facts_sources = backend_->allocate(references.size() * sizeof(const ShownReference*), MemoryUse::working);
    copy_now(frame.facts_sources.data(), references.data(), frame.facts_sources.size());
    frame.quality = quality;
  }

  /// Queues a frame from its raw samples to its results and facts. With `timed`, marks around every step.
  void queue_steps(const Frame& frame, bool timed) const noexcept {
    const cudaStream_t stream = gpu::stream_of(*queue_);
    std::size_t mark = 0;
    const auto note = [&] {
      if (timed) ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks[mark++].get(), stream));
    };
    note();
    runner_->run(frame.places, *queue_, [&](std::size_t step, const auto& work) {
      work();
      // The last mark is the end of all steps.
      if (step + 1 < runner_->steps()) note();
    });
    gpu::launch_gather_facts(frame.quality, static_cast<const ShownReference* const*>(frame.facts_sources.data()),
                             outputs().size(), frame.facts.data(), stream);
    note();
  }

  void capture(Frame& frame) {
    const cudaStream_t stream = gpu::stream_of(*queue_);
    // The capture does not restrict other threads, such as an engine that images meanwhile.
    ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    queue_steps(frame, false);
    cudaGraph_t captured = nullptr;
    ECHOFORM_CUDA(cudaStreamEndCapture(stream, &captured));
    const gpu::Graph graph(captured);
    cudaGraphExec_t executable = nullptr;
    ECHOFORM_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0));
    frame.graph = gpu::GraphExec(executable);
    ECHOFORM_CUDA(cudaGraphUpload(frame.graph.get(), stream));
    ECHOFORM_CUDA(cudaStreamSynchronize(stream));
  }

  void copy_rows(const Frame& frame, const FrameSlot& slot, const RowRun& run) noexcept {
    const std::size_t row_in_slot = stride_of(received_);
    const std::byte* const from = slot.samples.bytes_begin() + run.first * row_in_slot + first_byte_;
    std::byte* const to = frame.raw.bytes_begin() + run.first * rows_.pitch;
    if (row_in_slot == rows_.row_bytes && rows_.pitch == rows_.row_bytes) {
      ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to, from, run.rows * rows_.row_bytes, cudaMemcpyHostToDevice, upload_.get()));
    } else {
      ECHOFORM_CUDA_QUEUED(cudaMemcpy2DAsync(to, rows_.pitch, from, row_in_slot, rows_.row_bytes, run.rows,
                                             cudaMemcpyHostToDevice, upload_.get()));
    }
  }

  void queue_downloads(const Frame& frame, FrameSlot& slot) noexcept {
    for (std::size_t k = 0; k < outputs().size(); ++k) {
      const RecipeOutput& output = outputs()[k];
      if (output.description.kind == OutputKind::envelope && !slot.envelope_wanted) continue;
      Buffer& here = slot.outputs[k].data;
      ECHOFORM_CUDA_QUEUED(
          cudaMemcpyAsync(here.data(), frame.places[output.block], here.size(), cudaMemcpyDeviceToHost, download_.get()));
    }
    ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(frame.facts_here.data(), frame.facts.data(), frame.facts_here.size(),
                                         cudaMemcpyDeviceToHost, download_.get()));
  }

  /// Runs on the thread of completions.
  static void finished(void* context) noexcept {
    auto& frame = *static_cast<Frame*>(context);
    static_cast<CudaEngine*>(frame.engine)->finish(frame);
  }

  void finish(Frame& frame) noexcept {
    FrameSlot& slot = *std::exchange(frame.slot, nullptr);
    slot.timings.clear();
    add_time(slot, "upload", frame.upload_begun, frame.uploaded);
    if (options_.eager) {
      for (std::size_t step = 0; step < runner_->steps(); ++step) {
        add_time(slot, runner_->name(step), frame.marks[step], frame.marks[step + 1]);
      }
    } else {
      add_time(slot, "compute", frame.marks.front(), frame.marks.back());
    }
    add_time(slot, "download", frame.download_begun, frame.downloaded);

    const auto& quality = *static_cast<const SampleQuality*>(frame.facts_here.data());
    runner_->note_facts(slot, quality, {reinterpret_cast<const ShownReference*>(&quality + 1), outputs().size()});
    // The slot may be submitted again before done() returns.
    const Done done = std::move(frame.done);
    done(slot, true);
  }

  static void add_time(FrameSlot& slot, std::string_view name, const Event& begin, const Event& end) noexcept {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA_QUEUED(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    add_timing(slot, name, std::chrono::nanoseconds(static_cast<std::int64_t>(1e6F * milliseconds)));
  }

  const std::shared_ptr<const ImagingSetup> setup_;
  const EngineOptions options_;
  const int device_;
  const std::chrono::nanoseconds gpu_timeout_;
  const BlockSpec received_;      // layout of frames in slots
  const DeviceRows rows_;         // layout on the device
  const std::size_t first_byte_;  // bytes of a row in the slot that are skipped before the gate
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;  // compute
  gpu::Stream upload_;
  gpu::Stream download_;
  Event last_upload_ = gpu::make_event();

  std::unique_ptr<Runner> runner_;
  bool warm_ = false;
  std::vector<std::unique_ptr<Frame>> frames_;  // [slot]
  std::unique_ptr<gpu::CompletionThread> completion_;
  std::optional<EarlyUploads> uploads_;  // destroyed first
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                         const EngineOptions& options) {
  validate(*setup, "imaging setup");
  return std::make_unique<CudaEngine>(std::move(setup), choice, options);
}

}  // namespace echoform
