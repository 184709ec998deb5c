#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "engines/cuda_group_imager.hpp"
#include "engines/device_need.hpp"
#include "engines/group_reader.hpp"
#include "engines/group_sums.hpp"
#include "engines/runner.hpp"
#include "gpu/completion.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/stream.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/raw_samples.hpp"

namespace echoform {
namespace {

// Number of groups whose A-scans are on the device: one is imaged while the next is uploaded.
constexpr std::size_t groups_on_device = 2;
// More groups are not read sooner, and pinned memory takes long to allocate.
constexpr std::size_t most_pinned_groups = 16;
// A group takes two events; further groups wait for the device.
constexpr std::size_t group_events_under_way = 256;

/// One use of a buffer: it is filled, uploaded and imaged.
struct Turn {
  gpu::Event uploaded = gpu::make_event();
  gpu::Event imaged = gpu::make_event();
  GroupReadingThread* reader = nullptr;  // null: no reader waits for the buffer
  std::size_t group = 0;

  /// Runs on the thread of completions.
  static void imaged_now(void* context) noexcept {
    const Turn& turn = *static_cast<const Turn*>(context);
    if (turn.reader != nullptr) turn.reader->release(turn.group);
  }
};

class CudaGroupImager final : public GroupImager {
 public:
  CudaGroupImager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, std::size_t read_ahead)
      : GroupImager(std::move(setup), choice), device_(choice.device), backend_(make_cuda_backend(device_)) {
    use_device();
    const auto group = groups_.setup(0);
    const BlockSpec received = raw_block(group->acquisition);
    row_in_buffer_ = stride_of(received);
    rows_ = device_rows(received, group->gate);
    first_byte_ = gated(received, group->gate).first_byte;
    const DeviceNeed stated = device_need(*group, {.slots = groups_on_device});
    require_room(stated, 0);
    queue_ = backend_->make_queue();
    upload_ = gpu::make_stream();
    make_runner(*group);
    require_room(stated.with_stages(runner_->bytes()), runner_->bytes());
    runner_->allocate_blocks();

    read_further_ahead(read_ahead);
    for (std::size_t k = 0; k < groups_on_device; ++k)
      raw_.push_back(backend_->allocate(rows_.spec.rows * rows_.pitch, MemoryUse::working));
    results_.resize(runner_->steps() + 1);
    for (const RecipeOutput& output : group->recipe.outputs) {
      outputs_.push_back(output.block);
      Buffer& result = results_[output.block];
      if (!result) result = backend_->allocate(runner_->spec(output.block).bytes(), MemoryUse::working);
      sums_.push_back(backend_->allocate(output.description.grid.pixels() * sizeof(double2), MemoryUse::working));
    }
    quality_ = backend_->allocate(sizeof(SampleQuality), MemoryUse::working);
    completion_ = gpu::make_completion_thread(device_, choice.gpu_timeout, group_events_under_way);
  }

  ~CudaGroupImager() override {
    use_device();
    completion_.reset();
  }

  void load() override {
    use_device();
    clear_sums();
    // The second group may use kernels of its own, since the first pairs elements with themselves.
    for (std::size_t group = 0; group < std::min<std::size_t>(2, groups_.count()); ++group) {
      if (!runner_->retune(groups_.setup(group)->recipe, *queue_)) break;
      Turn& turn = turns_[group];
      turn.reader = nullptr;
      turn.group = group;
      std::memset(read_[group].data(), 0, read_[group].size());
      queue_upload(turn);
      queue_group(turn);
    }
    completion_->finish();
    fetch();
  }

  void read_further_ahead(std::size_t read_ahead) final {
    use_device();
    take_buffers(std::min(read_ahead, most_pinned_groups),
                 [&](std::size_t bytes) { return backend_->allocate(bytes, MemoryUse::readback); });
    turns_ = std::vector<Turn>(read_.size());
  }

  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }

 private:
  void use_device() const noexcept { ECHOFORM_CUDA_QUEUED(cudaSetDevice(device_)); }
  [[nodiscard]] cudaStream_t compute() const { return gpu::stream_of(*queue_); }

  /// `taken` bytes of the need are allocated already.
  void require_room(const DeviceNeed& need, std::size_t taken) const {
    DeviceMemory memory = device_memory(device_);
    memory.free += taken;
    std::size_t bytes = need.bytes();
    for (const SummedImage& image : images_) bytes += image.analytic.size() * sizeof(double2);
    require_memory(memory, device_, bytes, "fewer pixels, views, elements or samples");
  }

  void make_runner(const ImagingSetup& group) { runner_ = std::make_unique<Runner>(group.recipe, rows_.spec, *backend_); }

  /// Makes or retunes the runner for a group. Within one position of the probe, the steps take the next group's options as they
  /// are.
  void runner_for(std::size_t group) {
    const auto wanted = groups_.setup(group);
    // There is no runner if making it was stopped.
    if (runner_ != nullptr && runner_->retune(wanted->recipe, *queue_)) return;
    queue_->finish();
    runner_.reset();  // frees its memory first
    make_runner(*wanted);
    try {
      runner_->allocate_blocks();
    } catch (...) {
      runner_.reset();
      throw;
    }
  }

  void clear_sums() {
    for (const Buffer& sum : sums_) ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(sum.data(), 0, sum.size(), compute()));
    ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(quality_.data(), 0, quality_.size(), compute()));
  }

  void sum(const Read& read, const Progress& progress, const Expect& expect) override {
    use_device();
    clear_sums();
    GroupReadingThread reader({groups_, read_, setup_->acquisition.bytes_per_a_scan(), read, expect});
    {
      // However the loop ends, afterwards nothing reads the buffers or notifies the reader of them.
      struct Drain {
        const CudaGroupImager& imager;
        ~Drain() {
          imager.completion_->finish();
          ECHOFORM_CUDA_QUEUED(cudaStreamSynchronize(imager.upload_.get()));
        }
      } const drain{*this};
      for (std::size_t group = 0; group < groups_.count(); ++group) {
        reader.await(group);
        Turn& turn = turns_[group % turns_.size()];
        turn.reader = &reader;
        turn.group = group;
        queue_upload(turn);
        runner_for(group);
        queue_group(turn);
        progress(group + 1);
      }
    }
    fetch();
  }

  void queue_upload(Turn& turn) {
    const std::size_t group = turn.group;
    // The imaging of the group before the last may still read this place on the device.
    if (group >= groups_on_device) {
      const Turn& before = turns_[(group - groups_on_device) % turns_.size()];
      ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(upload_.get(), before.imaged.get(), 0));
    }
    std::size_t rows = 0;
    for (const RowRange& range : groups_.rows(group)) rows += range.count;
    ECHOFORM_CUDA_QUEUED(cudaMemcpy2DAsync(raw_[group % groups_on_device].data(), rows_.pitch,
                                           read_[group % read_.size()].bytes_begin() + first_byte_, row_in_buffer_,
                                           rows_.row_bytes, rows, cudaMemcpyHostToDevice, upload_.get()));
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(turn.uploaded.get(), upload_.get()));
    completion_->watch(turn.uploaded.get(), "upload");
  }

  void queue_group(Turn& turn) {
    ECHOFORM_CUDA_QUEUED(cudaStreamWaitEvent(compute(), turn.uploaded.get(), 0));
    places_ = runner_->places();
    places_[0] = raw_[turn.group % groups_on_device].data();
    for (const std::size_t block : outputs_) places_[block] = results_[block].data();
    runner_->run(places_, *queue_, [](std::size_t, const auto& work) { work(); });
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      gpu::launch_add_to_sums(static_cast<double2*>(sums_[k].data()), static_cast<const float2*>(places_[outputs_[k]]),
                              images_[k].analytic.size(), compute());
    }
    if (const std::size_t step = runner_->quality_step(); step < runner_->steps()) {
      if (const auto offset = runner_->stage(step).device_facts().quality) {
        const auto* const block = static_cast<const std::byte*>(places_[step + 1]);
        gpu::launch_add_quality(static_cast<SampleQuality*>(quality_.data()),
                                reinterpret_cast<const SampleQuality*>(block + *offset), compute());
      }
    }
    ECHOFORM_CUDA_QUEUED(cudaEventRecord(turn.imaged.get(), compute()));
    completion_->watch(turn.imaged.get(), "compute", &Turn::imaged_now, &turn);
  }

  /// Fetches the images, which are left where a group's image was.
  void fetch() {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      auto& analytic = images_[k].analytic;
      const Buffer& result = results_[outputs_[k]];
      gpu::launch_round_sums(static_cast<float2*>(result.data()), static_cast<const double2*>(sums_[k].data()), analytic.size(),
                             compute());
      ECHOFORM_CUDA(
          cudaMemcpyAsync(analytic.data(), result.data(), analytic.size() * sizeof(float2), cudaMemcpyDeviceToHost, compute()));
    }
    SampleQuality quality;
    ECHOFORM_CUDA(cudaMemcpyAsync(&quality, quality_.data(), sizeof quality, cudaMemcpyDeviceToHost, compute()));
    queue_->finish();
    invalid_samples_ = quality.invalid;
  }

  const int device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;  // compute
  gpu::Stream upload_;
  std::size_t row_in_buffer_ = 0;  // bytes from row to row
  DeviceRows rows_;                // layout on the device
  std::size_t first_byte_ = 0;     // bytes of a row in a buffer that are skipped before the gate
  std::unique_ptr<Runner> runner_;
  std::vector<Buffer> raw_;           // of groups, used in rotation
  std::vector<std::size_t> outputs_;  // blocks
  std::vector<Buffer> results_;       // [block], for the outputs
  std::vector<Buffer> sums_;          // [output]
  Buffer quality_;
  std::vector<void*> places_;  // [block]
  std::vector<Turn> turns_;    // [buffer]
  std::unique_ptr<gpu::CompletionThread> completion_;
};

}  // namespace

std::unique_ptr<GroupImager> make_cuda_group_imager(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                    std::size_t read_ahead) {
  return std::make_unique<CudaGroupImager>(std::move(setup), choice, read_ahead);
}

}  // namespace echoform
