#include "engines/cuda_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "delay_laws/leg_bounds.hpp"
#include "engines/arrival_map.hpp"
#include "engines/device_need.hpp"
#include "engines/frame_facts.hpp"
#include "gpu/completion.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/compression/compression.hpp"
#include "stages/sample_quality.hpp"
#include "stages/stage.hpp"
#include "stages/unpack/frame_facts.hpp"
#include "stages/unpack/raw_samples.hpp"

namespace echoform {
namespace {

// Shorter copies do not reach the bus' full rate: on an H200 4 MB reach 53.8 of 55.3 GB/s, 1 MB 49.0.
constexpr std::size_t least_copy = std::size_t{4} << 20;
// Events that may be outstanding: three a frame.
constexpr std::size_t events_under_way = 256;

static_assert(offsetof(FrameFacts, invalid) == offsetof(FrameFacts, clipped) + offsetof(SampleQuality, invalid),
              "counts are copied as SampleQuality");

/// A stage with the memory of its output, where nobody else owns it.
struct Step {
  std::string_view name;
  std::unique_ptr<Stage> stage;
  BlockSpec output;
  Buffer block;
};

/// What one view adds to the shared front of the chain.
struct ViewChain {
  Step beamform;
  Step envelope;
  Step compression;
  Step scan_conversion;            // no stage where the display grid is the acoustic grid
  const float* running = nullptr;  // where the reference of the frame last queued stands on the device; null if it is fixed
  float fixed = 0.0F;
  std::size_t same_as = 0;  // the view whose images these are; its own number, or that of a mirrored view before it
  float reference = 0.0F;   // of the last finished frame
};

/// Results of one view of one frame on the device.
struct Results {
  Buffer analytic;
  Buffer envelope;
  Buffer display;
};

using gpu::Event;

/// What the engine keeps for one slot.
struct Frame {
  FrameSlot* slot = nullptr;  // while under way
  Engine::Done done;
  void* engine = nullptr;

  Buffer raw;
  std::vector<Results> results;  // by view; empty for views whose images are another's
  Buffer facts;
  Buffer facts_here;
  ArrivalMap arrivals;
  gpu::GraphExec graph;

  Event upload_begun = gpu::make_event(true);
  Event uploaded = gpu::make_event(true);
  Event download_begun = gpu::make_event(true);
  Event downloaded = gpu::make_event(true);
  // Before the first and after each part of the computation: the whole of it or, eagerly, every stage.
  std::vector<Event> marks;
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice, const EngineOptions& options)
      : plan_(checked(std::move(plan))),
        options_(options),
        device_(choice.device),
        gpu_timeout_(choice.gpu_timeout),
        need_(estimate_device_need(*plan_, options)),
        backend_(make_cuda_backend(device_)) {
    use_device();
    require_room(need_, 0);
    queue_ = backend_->make_queue();
    upload_ = gpu::make_stream();
    download_ = gpu::make_stream();
    describe_samples();
    make_steps();
    allocate_blocks();
    completion_ = gpu::make_completion_thread(device_, choice.gpu_timeout, events_under_way);
  }

  ~CudaEngine() override {
    use_device();
    // Uploads of frames that were given up may still read their slots. Their end is watched like every other work's.
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(last_upload_.get(), upload_.get()));
    completion_->watch(last_upload_.get(), "upload");
    completion_->finish();
    completion_.reset();
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }
  [[nodiscard]] const ImagingPlan& plan() const noexcept override { return *plan_; }

  [[nodiscard]] std::string describe() const override {
    const GpuProbe probe = probe_devices();
    const auto index = static_cast<std::size_t>(device_);
    return fmt::format("cuda, {}, {}", index < probe.devices.size() ? probe.devices[index].name : "unknown device",
                       analytic_signal_.output.type == ElementType::complex_half_slope ? "half path" : "float path");
  }

  void equip(FrameSlot& slot) override {
    slot.samples = backend_->allocate(plan_->acquisition.frame_bytes(), MemoryUse::staging);
    equip_outputs(slot);
  }

  void equip_outputs(FrameSlot& slot) override {
    use_device();
    auto frame = std::make_unique<Frame>();
    frame->engine = this;
    frame->raw = backend_->allocate(raw_.rows * raw_pitch_, MemoryUse::working);
    const std::size_t row = raw_bytes(raw_.type, raw_.columns);
    frame->arrivals = ArrivalMap(raw_.rows, (least_copy + row - 1) / row);
    frame->facts = backend_->allocate(gpu::frame_facts_bytes(views_.size()), MemoryUse::working);
    frame->facts_here = backend_->allocate(gpu::frame_facts_bytes(views_.size()), MemoryUse::readback);
    slot.images.clear();
    for (std::size_t view = 0; view < views_.size(); ++view) {
      const ViewChain& chain = views_[views_[view].same_as];
      const bool own = views_[view].same_as == view;
      const auto result = [&](const Step& step, Buffer& here) {
        here = backend_->allocate(step.output.bytes(), MemoryUse::readback);
        return own ? backend_->allocate(step.output.bytes(), MemoryUse::working) : Buffer();
      };
      ImageOutput output;
      Results results;
      if (options_.keep_analytic) results.analytic = result(chain.beamform, output.analytic);
      results.envelope = result(chain.envelope, output.envelope);
      if (options_.display) results.display = result(display_step(chain), output.display);
      slot.images.push_back(std::move(output));
      frame->results.push_back(std::move(results));
    }
    for (std::size_t k = 0; k <= parts(); ++k) frame->marks.push_back(gpu::make_event(true));

    if (!warm_) {
      // Once with zeros, which leaves no trace: a kernel's first launch loads it, and that is not for a capture.
      queue_stages(*frame, false);
      queue_->finish();
      require_quick(*frame);
      warm_ = true;
    }
    if (!options_.eager) capture(*frame);
    if (frames_.size() <= slot.index) frames_.resize(slot.index + 1);
    frames_[slot.index] = std::move(frame);
  }

  void frame_opened(FrameSlot& slot) noexcept override { frames_[slot.index]->arrivals.clear(); }

  // Copies go on one stream, in order. Where a frame is given up and its slot leased again while one of its copies still
  // waits or reads, that copy brings a mixture of both frames to the device; but each row of the new frame is copied again
  // after it arrived, hence later on the stream, and the computation waits for all of them.
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept override {
    Frame& frame = *frames_[slot.index];
    if (const RowRun run = frame.arrivals.arrive(first_row, rows); run.rows != 0) {
      use_device();
      copy_rows(frame, slot, run);
    }
  }

  void submit(FrameSlot& slot, const Done& done) noexcept override {
    use_device();
    Frame& frame = *frames_[slot.index];
    frame.slot = &slot;
    frame.done = done;

    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.upload_begun.get(), upload_.get()));
    for (RowRun run = frame.arrivals.take_rest(); run.rows != 0; run = frame.arrivals.take_rest()) copy_rows(frame, slot, run);
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.uploaded.get(), upload_.get()));
    frame.arrivals.clear();

    const cudaStream_t compute = gpu::stream_of(*queue_);
    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(compute, frame.uploaded.get(), 0));
    if (options_.eager) {
      queue_stages(frame, true);
    } else {
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks.front().get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaGraphLaunch(frame.graph.get(), compute));
      ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks.back().get(), compute));
    }

    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(download_.get(), frame.marks.back().get(), 0));
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.download_begun.get(), download_.get()));
    queue_downloads(frame, slot);
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.downloaded.get(), download_.get()));

    // Each by itself, so that the watchdog can tell where the device stands still.
    completion_->watch(frame.uploaded.get(), "upload");
    completion_->watch(frame.marks.back().get(), "compute");
    completion_->watch(frame.downloaded.get(), "download", &CudaEngine::finished, &frame);
  }

  [[nodiscard]] float reference(std::size_t view) const noexcept override {
    return view < views_.size() ? views_[view].reference : 0.0F;
  }

  void resume(std::size_t view, float reference) noexcept override {
    if (view >= views_.size() || !(reference > 0.0F)) return;
    use_device();
    if (auto* stage = dynamic_cast<CompressionReference*>(views_[view].compression.stage.get())) stage->resume(reference);
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = bytes_;
    for (const auto& frame : frames_) {
      if (!frame) continue;
      sum += frame->raw.size() + frame->facts.size() + frame->facts_here.size();
      for (const Results& results : frame->results) {
        sum += results.analytic.size() + results.envelope.size() + results.display.size();
      }
    }
    return sum;
  }

 private:
  static std::shared_ptr<const ImagingPlan> checked(std::shared_ptr<const ImagingPlan> plan) {
    validate(*plan, "imaging plan");
    return plan;
  }

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
    queue_stages(frame, false);
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

  Step make_step(std::string_view name, std::size_t view, const BlockSpec& input) {
    Step step;
    step.name = name;
    step.stage = make_stage(name, *plan_, view, *backend_);
    step.output = step.stage->prepare(input);
    bytes_ += step.stage->bytes();
    return step;
  }

  void make_steps() {
    half_matrix_ = make_step("half-matrix", 0, raw_);
    analytic_signal_ = make_step("analytic-signal", 0, half_matrix_.output);
    for (std::size_t view = 0; view < plan_->laws.size(); ++view) {
      ViewChain chain;
      chain.same_as = same_view(view);
      if (chain.same_as == view) {
        chain.beamform = make_step("beamform", view, analytic_signal_.output);
        chain.envelope = make_step("envelope", view, chain.beamform.output);
        if (options_.display) {
          chain.compression = make_step("compression", view, chain.envelope.output);
          if (const auto* stage = dynamic_cast<const CompressionReference*>(chain.compression.stage.get())) {
            chain.running = stage->device_reference();
            chain.fixed = stage->reference();
          }
          if (plan_->display_grid) chain.scan_conversion = make_step("scan-conversion", view, chain.compression.output);
        }
      }
      views_.push_back(std::move(chain));
    }
  }

  /// The first view that, by reciprocity, has the same images: where only one of both directions was received.
  [[nodiscard]] std::size_t same_view(std::size_t view) const {
    if (plan_->acquisition.matrix == MatrixKind::full || !plan_->apodization.symmetric()) return view;
    for (std::size_t other = 0; other < view; ++other) {
      if (mirrored(plan_->laws[other], plan_->laws[view])) return other;
    }
    return view;
  }

  void allocate_blocks() {
    std::vector<Step*> owned{&half_matrix_, &analytic_signal_};
    DeviceNeed need = need_;
    need.images = 0;
    need.images_of_slot = 0;
    for (ViewChain& chain : views_) {
      if (!chain.beamform.stage) continue;
      need.images_of_slot += chain.envelope.output.bytes();
      if (options_.keep_analytic) {
        need.images_of_slot += chain.beamform.output.bytes();
      } else {
        owned.push_back(&chain.beamform);
      }
      if (!options_.display) continue;
      need.images_of_slot += display_step(chain).output.bytes();
      if (chain.scan_conversion.stage) owned.push_back(&chain.compression);
    }
    for (const Step* step : owned) need.images += step->output.bytes();
    need.images -= half_matrix_.output.bytes() + analytic_signal_.output.bytes();
    need.fixed = bytes_ + half_matrix_.output.bytes() + analytic_signal_.output.bytes();
    require_room(need, bytes_);

    for (Step* step : owned) {
      step->block = backend_->allocate(step->output.bytes(), MemoryUse::working);
      bytes_ += step->block.size();
    }
    std::vector<const float*> references;
    for (const ViewChain& chain : views_) references.push_back(chain.running);
    references_ = backend_->allocate(references.size() * sizeof(const float*), MemoryUse::working);
    copy_now(references_.data(), references.data(), references_.size());
    bytes_ += references_.size();
  }

  [[nodiscard]] static const Step& display_step(const ViewChain& chain) {
    return chain.scan_conversion.stage ? chain.scan_conversion : chain.compression;
  }

  /// Every stage that a frame goes through, in order.
  template <class Visit>
  void for_each_step(const Visit& visit) const {
    visit(half_matrix_);
    visit(analytic_signal_);
    for (const ViewChain& chain : views_) {
      for (const Step* step : {&chain.beamform, &chain.envelope, &chain.compression, &chain.scan_conversion}) {
        if (step->stage) visit(*step);
      }
    }
  }

  /// Pieces of the computation that are timed.
  [[nodiscard]] std::size_t parts() const {
    if (!options_.eager) return 1;
    std::size_t count = 0;
    for_each_step([&](const Step&) { ++count; });
    return count;
  }

  /// Unpack to display of one frame on the compute stream, and its facts. With `timed`, marks around every stage.
  void queue_stages(Frame& frame, bool timed) noexcept {
    const cudaStream_t stream = gpu::stream_of(*queue_);
    std::size_t mark = 0;
    const auto note = [&] {
      if (timed) ECHOFORM_CUDA_QUEUED(cudaEventRecord(frame.marks[mark++].get(), stream));
    };
    const auto run = [&](const Step& step, const void* input, void* output) {
      step.stage->process({input}, {output}, *queue_);
      // The last mark is the end of all.
      if (mark + 1 < frame.marks.size()) note();
    };
    note();
    run(half_matrix_, frame.raw.data(), half_matrix_.block.data());
    run(analytic_signal_, half_matrix_.block.data(), analytic_signal_.block.data());
    for (std::size_t view = 0; view < views_.size(); ++view) {
      const ViewChain& chain = views_[view];
      if (!chain.beamform.stage) continue;
      const Results& results = frame.results[view];
      void* const image = options_.keep_analytic ? results.analytic.data() : chain.beamform.block.data();
      run(chain.beamform, analytic_signal_.block.data(), image);
      run(chain.envelope, image, results.envelope.data());
      if (!options_.display) continue;
      void* const compressed = chain.scan_conversion.stage ? chain.compression.block.data() : results.display.data();
      run(chain.compression, results.envelope.data(), compressed);
      if (chain.scan_conversion.stage) run(chain.scan_conversion, compressed, results.display.data());
    }
    gpu::launch_gather_facts(quality_place(), static_cast<const float* const*>(references_.data()), views_.size(),
                             frame.facts.data(), stream);
    note();
  }

  /// What the first stage counts stands behind its rows.
  [[nodiscard]] const SampleQuality* quality_place() const noexcept {
    const BlockSpec& spec = half_matrix_.output;
    if (spec.trailer < sizeof(FrameFacts)) return nullptr;
    const auto* const facts =
        reinterpret_cast<const FrameFacts*>(half_matrix_.block.bytes_begin() + (spec.bytes() - spec.trailer));
    return reinterpret_cast<const SampleQuality*>(&facts->clipped);
  }

  void capture(Frame& frame) {
    const cudaStream_t stream = gpu::stream_of(*queue_);
    // Other threads, an engine that images meanwhile among them, may do as they like.
    ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    queue_stages(frame, false);
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
    std::byte* const to = frame.raw.bytes_begin() + run.first * raw_pitch_;
    if (row_in_slot_ == row_bytes_ && raw_pitch_ == row_bytes_) {
      ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to, from, run.rows * row_bytes_, cudaMemcpyHostToDevice, upload_.get()));
    } else {
      ECHOFORM_CUDA_QUEUED(
          cudaMemcpy2DAsync(to, raw_pitch_, from, row_in_slot_, row_bytes_, run.rows, cudaMemcpyHostToDevice, upload_.get()));
    }
  }

  void queue_downloads(const Frame& frame, FrameSlot& slot) noexcept {
    const auto bring = [&](const Buffer& from, Buffer& to) {
      if (from && to) {
        ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost, download_.get()));
      }
    };
    for (std::size_t view = 0; view < views_.size(); ++view) {
      const Results& results = frame.results[views_[view].same_as];
      ImageOutput& output = slot.images[view];
      bring(results.analytic, output.analytic);
      if (slot.envelope_wanted) bring(results.envelope, output.envelope);
      bring(results.display, output.display);
    }
    ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(frame.facts_here.data(), frame.facts.data(), frame.facts_here.size(),
                                         cudaMemcpyDeviceToHost, download_.get()));
  }

  /// On the thread of completions.
  static void finished(void* context) noexcept {
    auto& frame = *static_cast<Frame*>(context);
    static_cast<CudaEngine*>(frame.engine)->finish(frame);
  }

  void finish(Frame& frame) noexcept {
    FrameSlot& slot = *std::exchange(frame.slot, nullptr);
    slot.timing_count = 0;
    add_timing(slot, "upload", frame.upload_begun, frame.uploaded);
    if (options_.eager) {
      std::size_t mark = 0;
      for_each_step([&](const Step& step) {
        add_timing(slot, step.name, frame.marks[mark], frame.marks[mark + 1]);
        ++mark;
      });
    } else {
      add_timing(slot, "compute", frame.marks.front(), frame.marks.back());
    }
    add_timing(slot, "download", frame.download_begun, frame.downloaded);

    const auto& quality = *static_cast<const SampleQuality*>(frame.facts_here.data());
    slot.clipped_samples = quality.clipped;
    slot.invalid_samples = quality.invalid;
    const auto* const references = reinterpret_cast<const float*>(&quality + 1);
    for (std::size_t view = 0; view < views_.size() && options_.display; ++view) {
      const ViewChain& chain = views_[views_[view].same_as];
      const float reference = chain.running != nullptr ? references[views_[view].same_as] : chain.fixed;
      slot.images[view].reference = reference;
      views_[view].reference = known_reference(reference);
    }
    // The slot may be submitted again while done() still returns.
    const Done done = std::move(frame.done);
    done(slot, true);
  }

  /// Until a frame had a peak, stages state the configured value, which nothing can go on from.
  [[nodiscard]] float known_reference(float reference) const noexcept {
    return reference == static_cast<float>(plan_->compression.reference_value) ? 0.0F : reference;
  }

  static void add_timing(FrameSlot& slot, std::string_view name, const Event& begin, const Event& end) noexcept {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA_QUEUED(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    const std::chrono::nanoseconds duration(static_cast<std::int64_t>(1e6F * milliseconds));
    // Stages of several views add up under one name.
    for (std::size_t k = 0; k < slot.timing_count; ++k) {
      if (slot.timings[k].stage == name) {
        slot.timings[k].duration += duration;
        return;
      }
    }
    if (slot.timing_count < stage_timing_capacity) slot.timings[slot.timing_count++] = {name, duration};
  }

  const std::shared_ptr<const ImagingPlan> plan_;
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

  Step half_matrix_;
  Step analytic_signal_;
  std::vector<ViewChain> views_;
  Buffer references_;  // where the views' references stand, on the device
  std::size_t bytes_ = 0;
  bool warm_ = false;
  std::vector<std::unique_ptr<Frame>> frames_;         // by slot
  std::unique_ptr<gpu::CompletionThread> completion_;  // dies first
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice,
                                         const EngineOptions& options) {
  return std::make_unique<CudaEngine>(std::move(plan), choice, options);
}

}  // namespace echoform
