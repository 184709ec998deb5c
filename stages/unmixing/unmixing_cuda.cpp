#include <utility>
#include <vector>

#include "gpu/on_device.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/unmixing/unmixing.hpp"
#include "stages/unmixing/unmixing_launch.hpp"

namespace echoform {
namespace {

/// The option whether concentrations may be below 0 is in device memory, so that it can change although launches are captured.
class UnmixingCuda final : public Stage {
 public:
  UnmixingCuda(UnmixingOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    check_unmixing(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec output = unmixing_output(options_, inputs);
    work_ = {};
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      work_.strides[n] = stride_of(inputs[n]);
      leads_[n] = inputs[n].lead;
    }
    weights_ = gpu::on_device(unmixing_weights(options_), backend_);
    absorption_ = gpu::on_device(std::vector<float>(options_.absorption.begin(), options_.absorption.end()), backend_);
    non_negative_ = backend_.allocate(sizeof(float), MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    put_non_negative(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    work_.tables = {static_cast<const float*>(absorption_.data()), static_cast<const float*>(weights_.data()), inputs.size(),
                    options_.components};
    work_.non_negative = static_cast<const float*>(non_negative_.data());
    work_.rows = inputs[0].rows;
    work_.columns = output.columns;
    return output;
  }

  void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept override {
    UnmixingWork work = work_;
    for (std::size_t n = 0; n < work.tables.wavelengths; ++n) work.images[n] = inputs[n].as<float>() + leads_[n];
    work.out = output.as<float>();
    launch_unmixing(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return weights_.size() + absorption_.size() + non_negative_.size();
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_unmixing(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.non_negative = options.get<UnmixingOptions>()->non_negative;
    put_non_negative(gpu::stream_of(queue));
  }

 private:
  void put_non_negative(cudaStream_t stream) const noexcept {
    const float value = options_.non_negative ? 1.0F : 0.0F;
    gpu::queue_values({&value, 1}, static_cast<float*>(non_negative_.data()), stream);
  }

  UnmixingOptions options_;
  Backend& backend_;
  std::size_t leads_[most_unmixed_wavelengths] = {};
  Buffer weights_;
  Buffer absorption_;
  Buffer non_negative_;
  UnmixingWork work_;
};

}  // namespace

std::unique_ptr<Stage> make_unmixing_cuda(UnmixingOptions options, Backend& backend) {
  return std::make_unique<UnmixingCuda>(std::move(options), backend);
}

}  // namespace echoform
