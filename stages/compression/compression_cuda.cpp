#include <cstddef>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/compression/compression.hpp"
#include "stages/compression/compression_launch.hpp"
#include "stages/compression/running_reference.hpp"

namespace echoform {
namespace {

/// The reference and its rule live in device memory, where each frame finds them. So frames queue up behind each other without
/// the host, and a new rule can replace the old one between frames although the frames' launches are captured.
class CompressionCuda final : public Stage {
 public:
  CompressionCuda(const Compression& options, Backend& backend) : options_(options) {
    state_ = backend.allocate(sizeof(DeviceReference), MemoryUse::working);
    readback_ = backend.allocate(sizeof(ShownReference), MemoryUse::readback);
    stream_ = gpu::make_stream();                            // for the device that allocate() has made current
    launch_change(options_.rule(), state(), stream_.get());  // loads the kernel, which must not happen while frames run
    set_state(options_.follows_peaks() ? 0.0 : options_.rule().unset);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("compression");
    output_ = compression_output(input);
    input_stride_ = stride_of(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    const ValueImage image{input.as<std::uint32_t>(), output_.rows, output_.columns, input_stride_};
    launch_follow(image, options_.follows_magnitudes(), state(), static_cast<ShownReference*>(readback_.data()), stream);
    launch_compress(image, options_.rule().kind, output.as<std::uint8_t>(), state(), stream);
  }

  [[nodiscard]] StageFacts facts() const noexcept override {
    const volatile ShownReference& read = *static_cast<const ShownReference*>(readback_.data());
    return {.quality = {}, .reference = ShownReference{read.shown, read.known}};
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return state_.size(); }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return {.quality = {}, .reference = &state()->shown}; }

  void resume(const StageFacts& facts) noexcept override {
    if (facts.reference && options_.can_resume(facts.reference->known)) set_state(facts.reference->known);
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return options_.accepts(options); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.change(options.as<Compression>());
    launch_change(options_.rule(), state(), gpu::stream_of(queue));
  }

 private:
  [[nodiscard]] DeviceReference* state() const { return static_cast<DeviceReference*>(state_.data()); }

  /// Sets the state between frames, and waits for the copy.
  void set_state(double reference) noexcept {
    DeviceReference fresh;
    fresh.reference = reference;
    fresh.rule = options_.rule();
    fresh.shown = reference_state(reference, options_.rule());
    ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(state_.data(), &fresh, sizeof fresh, cudaMemcpyHostToDevice, stream_.get()));
    ECHOFORM_CUDA_QUEUED(cudaStreamSynchronize(stream_.get()));
    *static_cast<ShownReference*>(readback_.data()) = fresh.shown;
  }

  RunningReference options_;  // checked; the reference itself is in device memory
  gpu::Stream stream_;        // for set_state()
  Buffer state_;
  Buffer readback_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_compression_cuda(const Compression& options, Backend& backend) {
  return std::make_unique<CompressionCuda>(options, backend);
}

}  // namespace echoform
