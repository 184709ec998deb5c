#include <algorithm>
#include <memory>
#include <optional>

#include "gpu/cuda_backend.hpp"
#include "gpu/cufft_library.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/single_sideband/sideband_launch.hpp"
#include "stages/single_sideband/single_sideband.hpp"

namespace echoform {
namespace {

/// The forward transform goes into the output, which is made single-sideband and transformed back in place.
class SingleSidebandCuda final : public Stage {
 public:
  SingleSidebandCuda(const SingleSidebandOptions& options, Backend& backend) : options_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("single-sideband");
    output_ = single_sideband_output(options_, input);
    forward_.emplace();
    backward_.emplace();
    const std::size_t there = make_plan(*forward_, stride_of(input));
    const std::size_t back = make_plan(*backward_, output_.row_stride);
    work_ = backend_.allocate(std::max<std::size_t>({there, back, 1}), MemoryUse::working);
    ECHOFORM_CUFFT(cufft_.set_work_area(forward_->get(), work_.data()));
    ECHOFORM_CUFFT(cufft_.set_work_area(backward_->get(), work_.data()));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(forward_->get(), stream));
    ECHOFORM_CUFFT_QUEUED(cufft_.set_stream(backward_->get(), stream));
    auto* const lines = output.as<cufftComplex>();
    // cuFFT only reads the input of an out-of-place transform.
    ECHOFORM_CUFFT_QUEUED(
        cufft_.exec_c2c(forward_->get(), const_cast<cufftComplex*>(input.as<cufftComplex>()), lines, CUFFT_FORWARD));
    gpu::launch_one_sideband({lines, output_.rows, output_.columns, output_.row_stride}, options_.bins, stream);
    ECHOFORM_CUFFT_QUEUED(cufft_.exec_c2c(backward_->get(), lines, lines, CUFFT_INVERSE));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return work_.size(); }

 private:
  /// Makes a plan from rows `input_stride` complex numbers apart to the rows of the output. Returns the bytes of its work area.
  [[nodiscard]] std::size_t make_plan(const gpu::FftPlan& plan, std::size_t input_stride) const {
    int size = static_cast<int>(output_.columns);
    int from = static_cast<int>(input_stride);
    int to = static_cast<int>(output_.row_stride);
    std::size_t bytes = 0;
    ECHOFORM_CUFFT(cufft_.set_auto_allocation(plan.get(), 0));
    ECHOFORM_CUFFT(cufft_.make_plan_many(plan.get(), 1, &size, &from, 1, from, &to, 1, to, CUFFT_C2C,
                                         static_cast<int>(output_.rows), &bytes));
    return bytes;
  }

  const gpu::CufftLibrary& cufft_ = gpu::cufft_library();
  SingleSidebandOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::optional<gpu::FftPlan> forward_;
  std::optional<gpu::FftPlan> backward_;
  Buffer work_;
};

}  // namespace

std::unique_ptr<Stage> make_single_sideband_cuda(const SingleSidebandOptions& options, Backend& backend) {
  return std::make_unique<SingleSidebandCuda>(options, backend);
}

}  // namespace echoform
