#include "engines/cuda_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/errors.hpp"
#include "engines/cuda_chain.hpp"
#include "engines/device_need.hpp"
#include "engines/early_uploads.hpp"
#include "engines/frame_facts.hpp"
#include "gpu/completion.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/raw_samples.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

// Shorter copies do not reach the bus' full rate: on an H200 4 MB reach 53.8 of 55.3 GB/s, 1 MB 49.0.
constexpr std::size_t least_copy = std::size_t{4} << 20;
// Events that may be outstanding: three a frame.
constexpr std::size_t events_under_way = 256;

using gpu::Event;

/// What the engine keeps for one slot.
struct Frame {
  FrameSlot* slot = nullptr;  // while under way
  Engine::Done done;
  void* engine = nullptr;

  DeviceFrame device;
  Buffer facts_here;
  gpu::GraphExec graph;

  Event upload_begun = gpu::make_event(true);
  Event uploaded = gpu::make_event(true);
  Event download_begun = gpu::make_event(true);
  Event downloaded = gpu::make_event(true);
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, const EngineOptions& options)
      : setup_(std::move(setup)),
        plan_(checked_plan(*setup_)),
        outputs_(outputs_by_view(*setup_)),
        options_(options),
        device_(choice.device),
        gpu_timeout_(choice.gpu_timeout),
        need_(estimate_device_need(*setup_, options)),
        backend_(make_cuda_backend(device_)) {
    use_device();
    require_room(need_, 0);
    queue_ = backend_->make_queue();
    upload_ = gpu::make_stream();
    download_ = gpu::make_stream();
    describe_samples();
    chain_ = std::make_unique<CudaChain>(*setup_, raw_, *backend_);
    require_room(chain_->need(need_), chain_->bytes());
    chain_->allocate_blocks();
    references_.assign(chain_->views().size(), 0.0F);
    completion_ = gpu::make_completion_thread(device_, choice.gpu_timeout, events_under_way);
    const std::size_t row = raw_bytes(raw_.type, raw_.columns);
    uploads_.emplace(raw_.rows, (least_copy + row - 1) / row, [this](FrameSlot& slot, const RowRun& run) {
      use_device();
      copy_rows(*frames_[slot.index], slot, run);
    });
  }

  ~CudaEngine() override {
    use_device();
    uploads_.reset();  // none is queued from here on
    // Uploads of frames that were given up may still read their slots. Their end is watched like every other work's.
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(last_upload_.get(), upload_.get()));
    completion_->watch(last_upload_.get(), "upload");
    completion_->finish();
    completion_.reset();
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }

  /// One on each stream.
  [[nodiscard]] std::size_t frames_at_once() const noexcept override { return 3; }

  [[nodiscard]] std::string describe() const override {
    const GpuProbe probe = probe_devices();
    const auto index = static_cast<std::size_t>(device_);
    return fmt::format("cuda, {}, {}", index < probe.devices.size() ? probe.devices[index].name : "unknown device",
                       chain_->analytic_signal().type == ElementType::complex_half_slope ? "half precision" : "single precision");
  }

  void equip(FrameSlot& slot) override {
    // Write-combined memory goes up as fast, or faster where the bus is slow, but reading it here takes a hundred times longer.
    const MemoryUse use = options_.samples_read ? MemoryUse::readback : MemoryUse::staging;
    slot.samples = backend_->allocate(plan_->acquisition.frame_bytes(), use);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    use_device();
    auto frame = std::make_unique<Frame>();
    frame->engine = this;
    frame->device.raw = backend_->allocate(raw_.rows * raw_pitch_, MemoryUse::working);
    const auto& views = chain_->views();
    frame->device.facts = backend_->allocate(gpu::frame_facts_bytes(views.size()), MemoryUse::working);
    frame->facts_here = backend_->allocate(gpu::frame_facts_bytes(views.size()), MemoryUse::readback);
    slot.timings.reserve(most_timings);
    slot.outputs.clear();
    slot.outputs.resize(setup_->recipe.outputs.size());
    for (std::size_t view = 0; view < views.size(); ++view) {
      const CudaView& chain = views[views[view].same_as];
      const bool own = views[view].same_as == view;
      const auto result = [&](const PreparedStep& step, std::optional<std::size_t> output) {
        if (output) slot.outputs[*output].data = backend_->allocate(step.output.bytes(), MemoryUse::readback);
        return own ? backend_->allocate(step.output.bytes(), MemoryUse::working) : Buffer();
      };
      DeviceResults results;
      if (outputs_[view].complex_image) results.analytic = result(chain.beamform, outputs_[view].complex_image);
      results.envelope = result(chain.envelope, outputs_[view].envelope);
      if (outputs_[view].display) results.display = result(chain.display(), outputs_[view].display);
      frame->device.results.push_back(std::move(results));
    }
    std::size_t parts = 0;
    chain_->for_each_step([&](const PreparedStep&) { ++parts; });
    if (!options_.eager) parts = 1;
    for (std::size_t k = 0; k <= parts; ++k) frame->device.marks.push_back(gpu::make_event(true));

    if (!warm_) {
      // Once with zeros, which leaves no trace: a kernel's first launch loads it, and that is not for a capture.
      chain_->queue(frame->device, *queue_, false);
      queue_->finish();
      require_quick(*frame);
      warm_ = true;
    }
    if (!options_.eager) capture(*frame);
    if (frames_.size() <= slot.index) frames_.resize(slot.index + 1);
    frames_[slot.index] = std::move(frame);
    uploads_->add_slot(slot.index);
  }

  void frame_opened(FrameSlot& slot) noexcept override { uploads_->open(slot); }

  // Copies go on one stream, in order. Where a frame is given up and its slot leased again while one of its copies still
  // waits or reads, that copy brings a mixture of both frames to the device; but each row of the new frame is copied again
  // after it arrived, hence later on the stream, and the computation waits for all of them.
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
      chain_->queue(frame.device, *queue_, true);
    } else {
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.device.marks.front().get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaGraphLaunch(frame.graph.get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.device.marks.back().get(), compute));
    }

    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(download_.get(), frame.device.marks.back().get(), 0));
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.download_begun.get(), download_.get()));
    queue_downloads(frame, slot);
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.downloaded.get(), download_.get()));

    // Each by itself, so that the watchdog can tell where the device stands still.
    completion_->watch(frame.uploaded.get(), "upload");
    completion_->watch(frame.device.marks.back().get(), "compute");
    completion_->watch(frame.downloaded.get(), "download", &CudaEngine::finished, &frame);
  }

  [[nodiscard]] float reference(std::size_t output) const noexcept override {
    for (std::size_t view = 0; view < references_.size(); ++view) {
      if (outputs_[view].display == output) return references_[view];
    }
    return 0.0F;
  }

  void resume(std::size_t output, float known) noexcept override {
    if (!(known > 0.0F)) return;
    use_device();
    for (std::size_t view = 0; view < outputs_.size(); ++view) {
      if (outputs_[view].display != output) continue;
      if (const auto& stage = chain_->views()[view].compression.stage) {
        stage->resume({.quality = {}, .reference = ShownReference{known, known}});
      }
    }
  }

  [[nodiscard]] bool retune(const ImagingSetup& wanted) override {
    if (!wanted.plan || !alike_but_compression(*plan_, *wanted.plan)) return false;
    use_device();
    const StageOptions options = wanted.plan->compression;
    for (const CudaView& view : chain_->views()) {
      if (view.compression.stage && !view.compression.stage->accepts(options)) return false;
    }
    // Behind the frames that were submitted.
    for (const CudaView& view : chain_->views()) {
      if (view.compression.stage) view.compression.stage->retune(options, *queue_);
    }
    return true;
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = device_bytes();
    for (const auto& frame : frames_) sum += frame ? frame->facts_here.size() : 0;
    return sum;
  }

  [[nodiscard]] std::size_t device_bytes() const noexcept override {
    std::size_t sum = chain_->bytes();
    for (const auto& frame : frames_) {
      if (!frame) continue;
      sum += frame->device.raw.size() + frame->device.facts.size();
      for (const DeviceResults& results : frame->device.results) {
        sum += results.analytic.size() + results.envelope.size() + results.display.size();
      }
    }
    return sum;
  }

 private:
  /// For the calling thread; it costs nothing where it is the current one already.
  void use_device() const noexcept { ECHOFORM_CUDA_QUEUED(cudaSetDevice(device_)); }

  /// `taken` of what is needed is allocated already.
  void require_room(const DeviceNeed& need, std::size_t taken) const {
    DeviceMemory memory = device_memory(device_);
    memory.free += taken;
    if (options_.device_memory_limit != 0) memory.free = std::min(memory.free, options_.device_memory_limit);
    if (need.bytes() <= memory.free) return;
    require_memory(memory, device_, need.bytes(), what_would_fit(need, memory.free));
  }

  /// A plan may be so large that the watchdog would take its work for a stall and end the process: then the plan is refused. It
  /// may come from a sender. Half of the timeout is left for GPUs that clock down or are shared.
  void require_quick(Frame& frame) {
    const auto begin = std::chrono::steady_clock::now();
    chain_->queue(frame.device, *queue_, false);
    queue_->finish();
    const auto taken = std::chrono::steady_clock::now() - begin;
    if (2 * taken <= gpu_timeout_) return;
    throw InputError(
        "imaging plan", fmt::format("{:.2f} s of work for GPU {} a frame", std::chrono::duration<double>(taken).count(), device_),
        fmt::format("at most half of [imaging] gpu_timeout, {:g} s: fewer pixels, elements or views, or a longer timeout",
                    std::chrono::duration<double>(gpu_timeout_).count()));
  }

  /// Received samples as they lie on the device: the gate's columns alone.
  void describe_samples() {
    raw_ = raw_block(plan_->acquisition);
    row_in_slot_ = raw_row_bytes(raw_);
    const SampleGate gate = plan_->imaged_samples();
    first_byte_ = raw_bytes(raw_.type, gate.first);
    raw_.columns = gate.count;
    row_bytes_ = raw_bytes(raw_.type, gate.count);
    raw_pitch_ = device_row_pitch(row_bytes_);
    raw_.row_stride = raw_.type == ElementType::packed12 ? raw_pitch_ : raw_pitch_ / raw_bytes(raw_.type, 1);
  }

  void capture(Frame& frame) {
    const cudaStream_t stream = gpu::stream_of(*queue_);
    // Other threads, an engine that images meanwhile among them, may do as they like.
    ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    chain_->queue(frame.device, *queue_, false);
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
    const std::byte* const from = slot.samples.bytes_begin() + run.first * row_in_slot_ + first_byte_;
    std::byte* const to = frame.device.raw.bytes_begin() + run.first * raw_pitch_;
    if (row_in_slot_ == row_bytes_ && raw_pitch_ == row_bytes_) {
      ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to, from, run.rows * row_bytes_, cudaMemcpyHostToDevice, upload_.get()));
    } else {
      ECHOFORM_CUDA_QUEUED(
          cudaMemcpy2DAsync(to, raw_pitch_, from, row_in_slot_, row_bytes_, run.rows, cudaMemcpyHostToDevice, upload_.get()));
    }
  }

  void queue_downloads(const Frame& frame, FrameSlot& slot) noexcept {
    const auto bring = [&](const Buffer& from, std::optional<std::size_t> output) {
      if (!from || !output) return;
      Buffer& to = slot.outputs[*output].data;
      ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost, download_.get()));
    };
    const auto& views = chain_->views();
    for (std::size_t view = 0; view < views.size(); ++view) {
      const DeviceResults& results = frame.device.results[views[view].same_as];
      bring(results.analytic, outputs_[view].complex_image);
      if (slot.envelope_wanted) bring(results.envelope, outputs_[view].envelope);
      bring(results.display, outputs_[view].display);
    }
    ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(frame.facts_here.data(), frame.device.facts.data(), frame.facts_here.size(),
                                         cudaMemcpyDeviceToHost, download_.get()));
  }

  /// On the thread of completions.
  static void finished(void* context) noexcept {
    auto& frame = *static_cast<Frame*>(context);
    static_cast<CudaEngine*>(frame.engine)->finish(frame);
  }

  void finish(Frame& frame) noexcept {
    FrameSlot& slot = *std::exchange(frame.slot, nullptr);
    slot.timings.clear();
    add_time(slot, "upload", frame.upload_begun, frame.uploaded);
    if (options_.eager) {
      std::size_t mark = 0;
      chain_->for_each_step([&](const PreparedStep& step) {
        add_time(slot, step.name, frame.device.marks[mark], frame.device.marks[mark + 1]);
        ++mark;
      });
    } else {
      add_time(slot, "compute", frame.device.marks.front(), frame.device.marks.back());
    }
    add_time(slot, "download", frame.download_begun, frame.downloaded);

    const auto& quality = *static_cast<const SampleQuality*>(frame.facts_here.data());
    slot.clipped_samples = quality.clipped;
    slot.invalid_samples = quality.invalid;
    const auto* const references = reinterpret_cast<const ShownReference*>(&quality + 1);
    const auto& views = chain_->views();
    for (std::size_t view = 0; view < views.size(); ++view) {
      if (!outputs_[view].display) continue;
      const ShownReference reference = references[views[view].same_as];
      set_reference(outputs_[view], slot, reference.shown);
      references_[view] = reference.known;
    }
    // The slot may be submitted again while done() still returns.
    const Done done = std::move(frame.done);
    done(slot, true);
  }

  static void add_time(FrameSlot& slot, std::string_view name, const Event& begin, const Event& end) noexcept {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA_QUEUED(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    add_timing(slot, name, std::chrono::nanoseconds(static_cast<std::int64_t>(1e6F * milliseconds)));
  }

  const std::shared_ptr<const ImagingSetup> setup_;
  const std::shared_ptr<const ImagingPlan> plan_;
  const std::vector<ViewOutputs> outputs_;
  const EngineOptions options_;
  const int device_;
  const std::chrono::nanoseconds gpu_timeout_;
  DeviceNeed need_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;  // compute
  gpu::Stream upload_;
  gpu::Stream download_;
  Event last_upload_ = gpu::make_event();

  BlockSpec raw_;                // on the device
  std::size_t raw_pitch_ = 0;    // bytes from row to row on the device
  std::size_t row_bytes_ = 0;    // of a row that are copied
  std::size_t row_in_slot_ = 0;  // bytes from row to row in the slot
  std::size_t first_byte_ = 0;   // of a row in the slot that are left out before the gate

  std::unique_ptr<CudaChain> chain_;
  std::vector<float> references_;  // by view, of the last finished frame
  bool warm_ = false;
  std::vector<std::unique_ptr<Frame>> frames_;  // by slot
  std::unique_ptr<gpu::CompletionThread> completion_;
  std::optional<EarlyUploads> uploads_;  // dies first
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                         const EngineOptions& options) {
  return std::make_unique<CudaEngine>(std::move(setup), choice, options);
}

}  // namespace echoform
