#include <algorithm>
#include <vector>

#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/mean_image/mean_image.hpp"
#include "stages/mean_image/mean_image_launch.hpp"

namespace echoform {
namespace {

static_assert(static_cast<int>(ShownPart::magnitude) == 1 && static_cast<int>(ShownPart::non_negative) == 2);

/// The choice of what is shown lives in device memory, so that it can change although launches are captured.
class MeanImageCuda final : public Stage {
 public:
  MeanImageCuda(const MeanImageOptions& options, Backend& backend) : options_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    output_ = mean_image_output(inputs);
    inputs_.clear();
    rows_ = output_.rows;
    columns_ = output_.columns;
    bool gaps = false;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      inputs_.push_back({inputs[k].lead, stride_of(inputs[k])});
      gaps = gaps || inputs_.back().stride != columns_;
    }
    if (!gaps) {  // one long row then, in which all threads are at work
      columns_ *= rows_;
      rows_ = 1;
    }
    shown_ = backend_.allocate(sizeof(float), MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    put_shown(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    return output_;
  }

  void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept override {
    for (std::size_t first = 0; first < inputs_.size(); first += mean_image_inputs) {
      MeanImageRows work;
      work.count = std::min(mean_image_inputs, inputs_.size() - first);
      for (std::size_t k = 0; k < work.count; ++k) {
        work.in[k] = inputs[first + k].as<float>() + inputs_[first + k].lead;
        work.in_stride[k] = inputs_[first + k].stride;
      }
      work.out = output.as<float>();
      work.columns = columns_;
      work.continued = first > 0;
      work.last = first + work.count == inputs_.size();
      work.part = 1.0F / static_cast<float>(inputs_.size());
      work.shown = static_cast<const float*>(shown_.data());
      launch_mean_image(work, rows_, gpu::stream_of(queue));
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return shown_.size(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    static_cast<void>(options.as<MeanImageOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<MeanImageOptions>();
    put_shown(gpu::stream_of(queue));
  }

 private:
  struct Input {
    std::size_t lead;
    std::size_t stride;
  };

  void put_shown(cudaStream_t stream) const noexcept {
    const auto value = static_cast<float>(options_.shown);
    gpu::queue_values({&value, 1}, static_cast<float*>(shown_.data()), stream);
  }

  MeanImageOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::vector<Input> inputs_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  Buffer shown_;
};

}  // namespace

std::unique_ptr<Stage> make_mean_image_cuda(const MeanImageOptions& options, Backend& backend) {
  return std::make_unique<MeanImageCuda>(options, backend);
}

}  // namespace echoform
