#include <array>
#include <bit>

#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixed_image/unmixed_image_launch.hpp"

namespace echoform {
namespace {

/// The threshold lives in device memory, so that it can change although launches are captured.
class UnmixedImageCuda final : public Stage {
 public:
  UnmixedImageCuda(const UnmixedImageOptions& options, Backend& backend) : options_(options), backend_(backend) {
    check_unmixed_image(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("unmixed-image");
    output_ = unmixed_image_output(options_, input);
    stride_ = stride_of(input);
    lead_ = input.lead;
    numbers_ = {};
    if (options_.kind != UnmixedKind::share) return output_;
    numbers_ = backend_.allocate(unmixed_image_device_bytes, MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    put_threshold(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto image = [&](std::size_t component) { return input.as<float>() + lead_ + component * output_.rows * stride_; };
    UnmixedRows work;
    work.component = image(options_.component);
    work.in_stride = stride_;
    work.rows = output_.rows;
    work.columns = output_.columns;
    work.out = output.as<float>();
    if (options_.kind == UnmixedKind::share) {
      work.other = image(options_.other);
      work.threshold = static_cast<const double*>(numbers_.data());
      work.greatest = reinterpret_cast<std::uint32_t*>(numbers_.bytes_begin() + sizeof(double));
    }
    launch_unmixed_image(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return numbers_.size(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_unmixed_image(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<UnmixedImageOptions>();
    if (options_.kind == UnmixedKind::share) put_threshold(gpu::stream_of(queue));
  }

 private:
  /// The bytes of the threshold travel as two floats.
  void put_threshold(cudaStream_t stream) const noexcept {
    const auto halves = std::bit_cast<std::array<float, 2>>(options_.threshold);
    gpu::queue_values(halves, static_cast<float*>(numbers_.data()), stream);
  }

  UnmixedImageOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t stride_ = 0;
  std::size_t lead_ = 0;
  Buffer numbers_;  // threshold, greatest sum
};

}  // namespace

std::unique_ptr<Stage> make_unmixed_image_cuda(const UnmixedImageOptions& options, Backend& backend) {
  return std::make_unique<UnmixedImageCuda>(options, backend);
}

}  // namespace echoform
